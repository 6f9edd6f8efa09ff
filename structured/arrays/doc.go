// Package arrays reads dense features and labels of chains, and of pairs of items, from NumPy's npz archives. It parses the npy format itself and reports what it
// found and expected.
package arrays
