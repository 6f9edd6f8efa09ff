package arcs

import "math/bits"

// Saved models contain the hashes of attributes, so the functions in this file must never change.

// textHash returns a hash of a text, never 0: 64-bit FNV-1a (Fowler, Noll and Vo) with the finaliser of MurmurHash3
// (Appleby).
func textHash(text string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 0x100000001b3
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return max(1, h^h>>33)
}

// mix hashes x: it multiplies and folds the two halves of the product.
func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x, 0x9e3779b97f4a7c15) // the golden ratio
	return hi ^ lo
}

// fold adds a value to a hash. The order of the values matters.
func fold(h, value uint64) uint64 { return mix(bits.RotateLeft64(h, 29) ^ value) }
