// Package segment does inference for segments (semi-Markov chains, Sarawagi and Cohen 2004): the best segments, the K
// best by lazy enumeration, and sums over all segmentations with their marginals.
//
// With prefix sums of the scores of the tags inside segments, a segment costs O(1): with Y labels and segments of at
// most L positions, a sequence of T positions takes O(T·L·Y + T·Y²), and memory that is linear in T. Scores of whole
// segments, which the potentials may have, are added to those of lengths, position by position. Everything is computed
// in float64, sums as logarithms: scores of long sequences keep their digits, and no temperature is too low. The inner
// loops (kernels) run over labels, in plain Go, for AVX2 and for AVX-512; command halve generates the AVX2 file.
package segment
