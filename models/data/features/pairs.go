package features

import "math/bits"

// pairs is a hash table from pairs of numbers to numbers: open addressing, linear probing, at most half full. The zero
// value is empty.
type pairs struct {
	entries []pair // the length is a power of two
	n       int
}

type pair struct {
	key   uint64 // both numbers, plus one; 0 marks a free slot
	value int32
}

// at returns the entry of (a, b), both ≥ 0, and creates it with the value unseen if it is new. The caller may change
// it. The next call invalidates the pointer.
func (p *pairs) at(a, b int32) *int32 {
	if 2*p.n >= len(p.entries) {
		p.grow()
	}
	key := (uint64(a)<<32 | uint64(b)) + 1
	e := p.find(key)
	if e.key == 0 {
		p.n++
		e.key, e.value = key, unseen
	}
	return &e.value
}

// get returns the value of (a, b), or none if there is no entry.
func (p *pairs) get(a, b int32) int32 {
	if len(p.entries) == 0 {
		return none
	}
	if e := p.find((uint64(a)<<32 | uint64(b)) + 1); e.key != 0 {
		return e.value
	}
	return none
}

func (p *pairs) find(key uint64) *pair {
	mask := len(p.entries) - 1
	i := int(key * 0x9e3779b97f4a7c15 >> (64 - bits.TrailingZeros(uint(len(p.entries))))) // the golden ratio (Knuth)
	for {
		if e := &p.entries[i]; e.key == key || e.key == 0 {
			return e
		}
		i = (i + 1) & mask
	}
}

func (p *pairs) grow() {
	old := p.entries
	p.entries = make([]pair, max(16, 2*len(old)))
	for _, e := range old {
		if e.key != 0 {
			*p.find(e.key) = e
		}
	}
}
