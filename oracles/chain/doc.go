// Package chain does inference for linear chains: best labelings by Viterbi, the K best by lazy enumeration of its table, and sums
// over all labelings with their marginals by forward-backward.
//
// The inner loops (kernels) exist in plain Go, for AVX2 and for AVX-512; command halve generates the AVX2 files from those for
// AVX-512. Forward-backward works on scaled probabilities in float32 or float64, or in the log domain if their range is too small.
package chain
