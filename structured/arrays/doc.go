// Package arrays reads dense features and labels of chains, and candidate boxes with their features, from NumPy's npz archives. It parses the npy format itself and reports what it
// found and expected.
package arrays
