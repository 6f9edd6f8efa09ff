// Package junction does exact inference in factor graphs of any order by junction trees: the best assignment,
// max-marginals, the logarithm of the partition function and marginals. Its cost is exponential in the width of the
// graph, which a Plan tells before any table is allocated.
package junction
