package structured

// HashAttribute maps the name of an attribute to a number below 1<<bits without a dictionary: 64-bit FNV-1a (Fowler, Noll
// and Vo), mixed by the finaliser of MurmurHash3 (Appleby), of which it keeps the highest bits. bits is 1 to 31. Saved
// models index their weights by these numbers, so they must never change.
func HashAttribute(name []byte, bits int) int32 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range name {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return int32(h >> (64 - bits))
}
