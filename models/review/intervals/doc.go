// Package intervals says how far a metric of a model, or the difference of two models, depends on which examples the
// data happen to have.
//
// All metrics are means of shares: of right tokens among all, of entities that agree among the gold and the predicted
// ones (F1), of pixels in both masks among those in either. An output has its part of every share, and outputs are
// independent of each other; what is inside of an output is not. So all that is known of a model are the counts of its
// outputs (Counts), and no method looks inside of an output.
//
//   - The interval of a share of outputs that are right or wrong as a whole is exact (Clopper and Pearson 1934). For
//     other metrics it is the same interval, at the number of independent trials that would vary as much as the metric
//     does over outputs (Korn and Graubard 1998). If all is right, or nothing, an output is a trial: n right outputs
//     leave 95 % intervals of about 3.7/n.
//   - What was not seen varies, too: of few outputs, one that fails as a whole, and where sizes have a heavy tail, one
//     as large as the largest. Both count as if they had been half seen. A spread that few outputs make has few degrees
//     of freedom.
//   - A mean of shares, such as that over classes, has the interval that follows from those of its shares, each at the
//     number of outputs that have it, and their correlation (Zou and Donner 2008).
//   - The interval of a difference follows from those of the two models and the correlation of their errors (Newcombe
//     1998, method 10; Zou and Donner 2008).
//   - Whether two models differ is a question to that interval, and to a paired test: if they do not, any of their
//     outputs may be swapped (Noreen 1989). But the swaps test more, whether the models err alike, and two that are as
//     good need not: so p is the larger one of both, and p and interval never disagree. Where several differences are
//     tested together, Holm's correction bounds the chance that any is claimed that is not there (Holm 1979), and the
//     intervals of those that are not claimed have 0 in them.
//
// The percentile bootstrap, and BCa too, are too narrow for few outputs. In a simulation with 10 sentences of 5 to 30
// tokens, of which 95 % are right and whose rate of errors has a beta distribution, 95 % intervals contained the truth
// in 85 % (percentiles), 87 % (BCa) and 95 % (here) of data sets.
package intervals
