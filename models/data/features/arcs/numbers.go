package arcs

import (
	"math/bits"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

const none = -1 // no attribute

// Numbers numbers the attributes of one score. It is immutable, so many goroutines may read it at the same time.
//
// The table uses open addressing with linear probing, and is at most half full. An entry is 0 if it is free; otherwise
// it holds the low half of a hash and the number plus one. The high bits of the hash give the first slot. Two
// attributes whose hashes agree in the low half and in the slot, about 50 bits, are confused.
type Numbers struct {
	hashes  []uint64 // of the attributes, by number
	bits    int      // > 0: no table; the number of an attribute is this many high bits of its hash
	entries []uint64 // the length is a power of two
	shift   int      // shifts the high bits of a hash down to an index into entries
	filter  []uint64 // one bit per value of some high bits of a hash, set if an attribute has it
	narrow  int      // shifts those bits down
}

// NewNumbers numbers attributes by their hashes: hashes[i] has number i. It keeps the slice. A filter in front of the
// table, small enough for a near cache, rejects most hashes without a number.
func NewNumbers(hashes []uint64) (*Numbers, error) {
	const most = 1 << 31
	if len(hashes) >= most {
		return nil, structured.BadInput("%d attributes of arcs, expected fewer than %d: raise the least count", len(hashes),
			most)
	}
	n := &Numbers{hashes: hashes}
	log := max(6, bits.Len(uint(len(hashes)))+1)
	n.entries = make([]uint64, 1<<log)
	n.shift = 64 - log
	const wider = 1 // bits of a hash that the filter uses beyond the table's, which gives 4 to 8 filter bits per attribute
	n.filter = make([]uint64, 1<<(log+wider)/64)
	n.narrow = n.shift - wider
	mask := uint64(len(n.entries) - 1)
	for i, h := range hashes {
		bit := h >> n.narrow
		n.filter[bit>>6] |= 1 << (bit & 63)
		at := h >> n.shift
		for n.entries[at] != 0 && uint32(n.entries[at]>>32) != uint32(h) {
			at = (at + 1) & mask
		}
		if n.entries[at] == 0 {
			n.entries[at] = h<<32 | uint64(i+1)
		}
	}
	return n, nil
}

// HashedNumbers numbers all attributes below 1<<bits, by their hashes.
func HashedNumbers(bits int) (*Numbers, error) {
	if bits < 1 || bits > templates.MostHashBits {
		return nil, structured.BadInput("attributes of arcs hashed to %d bits, expected 1 to %d",
			bits, templates.MostHashBits)
	}
	return &Numbers{bits: bits, shift: 64 - bits}, nil
}

// Len returns the number of attributes.
func (n *Numbers) Len() int {
	if n.bits > 0 {
		return 1 << n.bits
	}
	return len(n.hashes)
}

// Hashes returns the hashes of the attributes by number, as NewNumbers takes them, or nil for HashedNumbers. The caller
// must not change them.
func (n *Numbers) Hashes() []uint64 { return n.hashes }

// HashBits returns b if attributes are numbered below 1<<b by their hashes, else 0.
func (n *Numbers) HashBits() int { return n.bits }

// passes returns 1 for the hash of every attribute with a number and for at most a quarter of the others, else 0.
func (n *Numbers) passes(h uint64) int {
	bit := h >> (n.narrow & 63)
	return int(n.filter[bit>>6] >> (bit & 63) & 1)
}

// find returns the number of the attribute with that hash, or none.
func (n *Numbers) find(h uint64) int32 {
	if n.bits > 0 {
		return int32(h >> n.shift)
	}
	mask := uint64(len(n.entries) - 1)
	for at := h >> n.shift; ; at++ {
		e := n.entries[at&mask]
		if uint32(e>>32) == uint32(h) || e == 0 {
			return int32(uint32(e)) - 1
		}
	}
}
