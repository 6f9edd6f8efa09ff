// Package arrays reads NumPy's npz archives: dense features and labels of chains, features of pairs of items, and candidate boxes with their
// features. It parses the npy format itself and reports what it found and expected.
package arrays
