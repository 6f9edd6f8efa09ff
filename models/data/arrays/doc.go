// Package arrays reads NumPy's npz archives: dense features and labels of chains, features of pairs of items, candidate
// boxes with their features, and graphs with features of variables and edges. It parses the npy format itself and
// reports what it found and expected.
package arrays
