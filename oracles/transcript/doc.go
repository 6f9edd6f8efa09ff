// Package transcript holds the oracle of lines of frames (transcripts.Frames), and finds the strings that they read.
//
// Without a condition, frames are independent, and everything takes O(T·Y) for T frames and Y labels. Under the
// condition that a line reads a string of L symbols, it is a path through a lattice (Graves et al. 2006): state 2k+1 is
// symbol k, and the even ones are the blanks around the symbols. A path stays, moves on by one state, or skips a blank
// between two symbols that differ. Sums, best and K best paths, and samples take O(T·L). Sums are in float64 (paths),
// and where it is too narrow, in numbers of a wider range (wide).
//
// The probability of a string is the sum over such paths. Beam finds strings with large ones.
package transcript
