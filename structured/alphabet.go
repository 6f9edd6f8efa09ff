package structured

import "hash/maphash"

// Alphabet numbers names (labels, words, attributes) from 0 in the order in which they were first added. The zero value
// is empty. It may have millions of names: an open hash table finds them, with linear probing, at most half full.
type Alphabet struct {
	names []string
	table []int32 // 1 + the number of the name that lives there, 0 where nobody does; the length is a power of two
}

var alphabetSeed = maphash.MakeSeed()

// NewAlphabet returns an alphabet of the names, numbered as given; repeated names keep their first number.
func NewAlphabet(names ...string) *Alphabet {
	a := &Alphabet{names: make([]string, 0, len(names))}
	a.reserve(len(names))
	for _, n := range names {
		a.Add(n)
	}
	return a
}

// Add returns the number of name, giving it the next one if it is new.
func (a *Alphabet) Add(name string) int32 {
	a.reserve(1)
	at := a.find(name)
	if a.table[at] == 0 {
		return a.add(at, name)
	}
	return a.table[at] - 1
}

// AddBytes is Add of a name that is copied if it is new.
func (a *Alphabet) AddBytes(name []byte) int32 {
	a.reserve(1)
	at := a.findBytes(name)
	if a.table[at] == 0 {
		return a.add(at, string(name))
	}
	return a.table[at] - 1
}

// add gives a new name its number and the free place at.
func (a *Alphabet) add(at uint64, name string) int32 {
	a.names = append(a.names, name)
	a.table[at] = int32(len(a.names))
	a.reserve(len(a.names))
	return int32(len(a.names) - 1)
}

// Index returns the number of name, or -1 if the alphabet lacks it.
func (a *Alphabet) Index(name string) int32 {
	if len(a.table) == 0 {
		return -1
	}
	return a.table[a.find(name)] - 1
}

// IndexBytes is Index of a name in bytes.
func (a *Alphabet) IndexBytes(name []byte) int32 {
	if len(a.table) == 0 {
		return -1
	}
	return a.table[a.findBytes(name)] - 1
}

// find returns the place in the table of name, or the free place where it would be.
func (a *Alphabet) find(name string) uint64 {
	mask := uint64(len(a.table) - 1)
	for at := maphash.String(alphabetSeed, name) & mask; ; at = (at + 1) & mask {
		if k := a.table[at]; k == 0 || a.names[k-1] == name {
			return at
		}
	}
}

func (a *Alphabet) findBytes(name []byte) uint64 {
	mask := uint64(len(a.table) - 1)
	for at := maphash.Bytes(alphabetSeed, name) & mask; ; at = (at + 1) & mask {
		if k := a.table[at]; k == 0 || a.names[k-1] == string(name) {
			return at
		}
	}
}

// reserve makes room in the table for n names. Its length depends on n alone.
func (a *Alphabet) reserve(n int) {
	size := max(8, len(a.table))
	for size < 2*n {
		size *= 2
	}
	if size == len(a.table) {
		return
	}
	a.table = make([]int32, size)
	for k, name := range a.names {
		a.table[a.find(name)] = int32(k + 1)
	}
}

// Name returns the name with number id.
func (a *Alphabet) Name(id int32) string { return a.names[id] }

// Names returns all names in order; the caller must not change them.
func (a *Alphabet) Names() []string { return a.names }

// Len returns how many names there are.
func (a *Alphabet) Len() int { return len(a.names) }
