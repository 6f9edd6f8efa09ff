// Package monotone defines alignments of two sequences that never go back: paths through the table of their pairs of
// items, as in dynamic time warping (Sakoe and Chiba 1978).
package monotone
