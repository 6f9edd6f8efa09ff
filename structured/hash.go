package structured

// HashAttribute numbers the name of an attribute below 1<<bits without a dictionary: 64-bit FNV-1a (Fowler, Noll and Vo),
// mixed by the finaliser of MurmurHash3 (Appleby), of which the highest bits count. bits is 1 to 31. Models keep weights
// by these numbers, so they never change.
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
