// Package monotone answers for monotone alignments: the best path through a table of pairs, the K best ones, and sums
// over all paths, in O(n·m) for n source and m target items. The pairs (i, j) with the same i+j do not depend on each
// other, so vector kernels compute them side by side.
package monotone
