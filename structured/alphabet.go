package structured

import (
	"hash/maphash"
	"strconv"
	"strings"
)

// Alphabet numbers names (labels, words, attributes) from 0 in the order in which they were first added. The zero value
// is empty. It may have millions of all: an open hash table finds them, with linear probing, at most three quarters full.
type Alphabet struct {
	all   []string
	table []alphabetEntry // the length is a power of two
}

type alphabetEntry struct {
	hash   uint32 // of the name
	number int32  // 1 + the number of the name that lives here, 0 where nobody does
}

var alphabetSeed = maphash.MakeSeed()

// NewAlphabet returns an alphabet of the names, numbered as given; repeated names keep their first number.
func NewAlphabet(names ...string) *Alphabet {
	a := &Alphabet{all: make([]string, 0, len(names))}
	a.reserve(len(names))
	for _, n := range names {
		a.Add(n)
	}
	return a
}

// Add returns the number of name, giving it the next one if it is new.
func (a *Alphabet) Add(name string) int32 {
	a.reserve(1)
	hash := uint32(maphash.String(alphabetSeed, name))
	if e := a.find(hash, name); e.number > 0 {
		return e.number - 1
	}
	return a.add(hash, name)
}

// AddBytes is Add of a name that is copied if it is new.
func (a *Alphabet) AddBytes(name []byte) int32 {
	a.reserve(1)
	hash := uint32(maphash.Bytes(alphabetSeed, name))
	if e := a.findBytes(hash, name); e.number > 0 {
		return e.number - 1
	}
	return a.add(hash, string(name))
}

// Intern is Add of a name that is copied if it is new, so that nothing of the text around it is kept.
func (a *Alphabet) Intern(name string) int32 {
	a.reserve(1)
	hash := uint32(maphash.String(alphabetSeed, name))
	if e := a.find(hash, name); e.number > 0 {
		return e.number - 1
	}
	return a.add(hash, strings.Clone(name))
}

// add gives a new name its number and a place.
func (a *Alphabet) add(hash uint32, name string) int32 {
	a.reserve(len(a.all) + 1)
	a.all = append(a.all, name)
	a.settle(alphabetEntry{hash, int32(len(a.all))})
	return int32(len(a.all) - 1)
}

// Index returns the number of name, or -1 if the alphabet lacks it.
func (a *Alphabet) Index(name string) int32 {
	if len(a.table) == 0 {
		return -1
	}
	return a.find(uint32(maphash.String(alphabetSeed, name)), name).number - 1
}

// IndexBytes is Index of a name in bytes.
func (a *Alphabet) IndexBytes(name []byte) int32 {
	if len(a.table) == 0 {
		return -1
	}
	return a.findBytes(uint32(maphash.Bytes(alphabetSeed, name)), name).number - 1
}

// find returns the entry of name, or an empty one.
func (a *Alphabet) find(hash uint32, name string) alphabetEntry {
	for at := a.home(hash); ; at = a.after(at) {
		if e := a.table[at]; e.number == 0 || e.hash == hash && a.all[e.number-1] == name {
			return e
		}
	}
}

func (a *Alphabet) findBytes(hash uint32, name []byte) alphabetEntry {
	for at := a.home(hash); ; at = a.after(at) {
		if e := a.table[at]; e.number == 0 || e.hash == hash && a.all[e.number-1] == string(name) {
			return e
		}
	}
}

// settle puts e into the first free place.
func (a *Alphabet) settle(e alphabetEntry) {
	at := a.home(e.hash)
	for a.table[at].number > 0 {
		at = a.after(at)
	}
	a.table[at] = e
}

func (a *Alphabet) home(hash uint32) int { return int(hash) & (len(a.table) - 1) }

func (a *Alphabet) after(at int) int { return (at + 1) & (len(a.table) - 1) }

// Reset empties the alphabet, for names of the same kind.
func (a *Alphabet) Reset() {
	clear(a.table)
	clear(a.all)
	a.all = a.all[:0]
}

// reserve makes room in the table for n names. Its length depends on n alone, and the places of the entries on the names.
func (a *Alphabet) reserve(n int) {
	size := max(8, len(a.table))
	for 3*size < 4*n {
		size *= 2
	}
	if size == len(a.table) {
		return
	}
	hashes := make([]uint32, len(a.all)+1) // by the entry's number
	for _, e := range a.table {
		hashes[e.number] = e.hash
	}
	a.table = make([]alphabetEntry, size)
	for number, hash := range hashes {
		if number > 0 {
			a.settle(alphabetEntry{hash, int32(number)})
		}
	}
}

// Name returns the name with number id.
func (a *Alphabet) Name(id int32) string { return a.all[id] }

// Names returns all names in order; the caller must not change them.
func (a *Alphabet) Names() []string { return a.all }

// Len returns how many names there are.
func (a *Alphabet) Len() int { return len(a.all) }

// SomeOf lists names, not too many.
func SomeOf(names []string) string {
	const most = 40
	if len(names) > most {
		return strings.Join(names[:most], " ") + " … (" + strconv.Itoa(len(names)) + ")"
	}
	return strings.Join(names, " ")
}
