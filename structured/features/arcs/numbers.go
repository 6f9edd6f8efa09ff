package arcs

import (
	"math/bits"

	"github.com/dsp-go/dsp/structured"
)

const none = -1 // no attribute

// Numbers numbers the attributes of one score. It does not change, so many goroutines may read it at the same time.
//
// The table is open, with linear probing, at most half full. An entry is empty, which is 0, or consists of the low half of a
// hash and the number plus one; the high bits of the hash say where to look first. Attributes whose hashes agree in the low
// half and in the place, some 50 bits in all, are taken for the same.
type Numbers struct {
	hashes  []uint64 // of the attributes, in the order of their numbers
	bits    int      // > 0: no table, an attribute's number is that many high bits of its hash
	entries []uint64 // the length is a power of two
	shift   int      // what brings the high bits of a hash to an index of entries
	filter  []uint64 // one bit for each value of some high bits of a hash, set where an attribute has it
	narrow  int      // what brings those bits down
}

// NewNumbers numbers attributes by their hashes, which it keeps: hashes[i] has number i. A filter in front of the table, small
// enough for a near cache, keeps most attributes without a number away from it.
func NewNumbers(hashes []uint64) (*Numbers, error) {
	const most = 1 << 31
	if len(hashes) >= most {
		return nil, structured.BadInput("%d attributes of arcs, expected fewer than %d: raise --min-count", len(hashes), most)
	}
	n := &Numbers{hashes: hashes}
	log := max(6, bits.Len(uint(len(hashes)))+1)
	n.entries = make([]uint64, 1<<log)
	n.shift = 64 - log
	const wider = 1 // bits of a hash that the filter sees beyond the table's: 4 to 8 bits of it for each attribute
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

// HashedNumbers numbers any attributes below 1<<bits, by their hashes.
func HashedNumbers(bits int) (*Numbers, error) {
	if bits < 1 || bits > mostHashBits {
		return nil, structured.BadInput("attributes of arcs hashed to %d bits, expected 1 to %d", bits, mostHashBits)
	}
	return &Numbers{bits: bits, shift: 64 - bits}, nil
}

// Len returns how many numbers there are.
func (n *Numbers) Len() int {
	if n.bits > 0 {
		return 1 << n.bits
	}
	return len(n.hashes)
}

// Hashes returns the hashes of the attributes in the order of their numbers, which NewNumbers takes, or nil where numbers
// are hashed. The caller must not change them.
func (n *Numbers) Hashes() []uint64 { return n.hashes }

// HashBits returns b where attributes are numbered below 1<<b by their hashes, else 0.
func (n *Numbers) HashBits() int { return n.bits }

// passes returns 1 for the hash of an attribute that has a number, and for at most a quarter of the others, else 0.
func (n *Numbers) passes(h uint64) int {
	bit := h >> (n.narrow & 63)
	return int(n.filter[bit>>6] >> (bit & 63) & 1)
}

// find returns the number of the attribute of a hash, or none.
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
