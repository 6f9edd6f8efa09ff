package structured

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Alphabet numbers names (labels, words, attributes) from 0 in the order in which they were first added. The zero value
// is empty. It is built for millions of names: an open hash table with linear probing, at most three quarters full.
// Hash puts hashes in place of the names: such an alphabet finds the names that it had, and does not grow.
type Alphabet struct {
	names []string
	salt  string          // of the hashes that the names are; empty: they are names
	table []alphabetEntry // the length is a power of two
}

type alphabetEntry struct {
	hash   uint32 // of the name
	number int32  // 1 + the number of the name in this slot; 0 marks a free slot
}

var alphabetSeed = maphash.MakeSeed()

// NewAlphabet returns an alphabet of the names, numbered as given; repeated names keep their first number.
func NewAlphabet(names ...string) *Alphabet {
	a := &Alphabet{names: make([]string, 0, len(names))}
	a.reserve(len(names))
	vec.HugePages(a.table) // of a model, mostly: it is read in no order, and does not grow
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

// AddBytes is Add for a name in bytes. It copies a new name.
func (a *Alphabet) AddBytes(name []byte) int32 {
	a.reserve(1)
	hash := uint32(maphash.Bytes(alphabetSeed, name))
	if e := a.findBytes(hash, name); e.number > 0 {
		return e.number - 1
	}
	return a.add(hash, string(name))
}

// Intern is Add, but copies a new name, so that the text that contains it can be freed.
func (a *Alphabet) Intern(name string) int32 {
	a.reserve(1)
	hash := uint32(maphash.String(alphabetSeed, name))
	if e := a.find(hash, name); e.number > 0 {
		return e.number - 1
	}
	return a.add(hash, strings.Clone(name))
}

// add appends a new name and inserts its entry.
func (a *Alphabet) add(hash uint32, name string) int32 {
	if a.salt != "" {
		panic("structured: an alphabet of hashes does not grow")
	}
	a.reserve(len(a.names) + 1)
	a.names = append(a.names, name)
	a.insert(alphabetEntry{hash, int32(len(a.names))})
	return int32(len(a.names) - 1)
}

// Index returns the number of name, or -1 if the alphabet lacks it.
func (a *Alphabet) Index(name string) int32 {
	if len(a.table) == 0 {
		return -1
	}
	if a.salt != "" {
		name = hashName(a.salt, name)
	}
	return a.find(uint32(maphash.String(alphabetSeed, name)), name).number - 1
}

// IndexAll sets to_k to the Index of names_k. In an alphabet that is larger than the caches it waits less than calls
// one by one: it asks for what many names need, from the table first and then from the names there, before it reads any
// of it.
func (a *Alphabet) IndexAll(names []string, to []int32) {
	if a.salt != "" || len(a.table) == 0 {
		for k, name := range names {
			to[k] = a.Index(name)
		}
		return
	}
	const some = 64
	var hashes [some]uint32
	var entries [some]alphabetEntry
	for len(names) > 0 {
		now := names[:min(len(names), some)]
		for k, name := range now {
			hashes[k] = uint32(maphash.String(alphabetSeed, name))
			slot := a.firstSlot(hashes[k])
			vec.Prefetch(a.table[slot : slot+1])
		}
		for k := range now {
			if entries[k] = a.table[a.firstSlot(hashes[k])]; entries[k].number > 0 {
				number := entries[k].number
				vec.Prefetch(a.names[number-1 : number])
			}
		}
		for k := range now {
			if e := entries[k]; e.number > 0 && e.hash == hashes[k] {
				vec.PrefetchString(a.names[e.number-1])
			}
		}
		for k, name := range now {
			e := entries[k]
			if e.number > 0 && (e.hash != hashes[k] || a.names[e.number-1] != name) {
				e = a.find(hashes[k], name)
			}
			to[k] = e.number - 1
		}
		names, to = names[len(now):], to[len(now):]
	}
}

// IndexBytes is Index of a name in bytes.
func (a *Alphabet) IndexBytes(name []byte) int32 {
	if len(a.table) == 0 {
		return -1
	}
	if a.salt != "" {
		return a.Index(string(name))
	}
	return a.findBytes(uint32(maphash.Bytes(alphabetSeed, name)), name).number - 1
}

// find returns the entry of name, or a zero entry if the alphabet lacks it.
func (a *Alphabet) find(hash uint32, name string) alphabetEntry {
	for slot := a.firstSlot(hash); ; slot = a.next(slot) {
		if e := a.table[slot]; e.number == 0 || e.hash == hash && a.names[e.number-1] == name {
			return e
		}
	}
}

func (a *Alphabet) findBytes(hash uint32, name []byte) alphabetEntry {
	for slot := a.firstSlot(hash); ; slot = a.next(slot) {
		if e := a.table[slot]; e.number == 0 || e.hash == hash && a.names[e.number-1] == string(name) {
			return e
		}
	}
}

// insert puts e into the first free slot from that of its hash on.
func (a *Alphabet) insert(e alphabetEntry) {
	slot := a.firstSlot(e.hash)
	for a.table[slot].number > 0 {
		slot = a.next(slot)
	}
	a.table[slot] = e
}

// firstSlot is where a name of that hash is looked for first.
func (a *Alphabet) firstSlot(hash uint32) int { return int(hash) & (len(a.table) - 1) }

func (a *Alphabet) next(slot int) int { return (slot + 1) & (len(a.table) - 1) }

// Reset empties the alphabet and keeps its memory.
func (a *Alphabet) Reset() {
	clear(a.table)
	clear(a.names)
	a.names = a.names[:0]
}

// reserve grows the table so that it can hold n names. The table's size depends on n alone, the slots on the names
// alone.
func (a *Alphabet) reserve(n int) {
	size := max(8, len(a.table))
	for 3*size < 4*n {
		size *= 2
	}
	if size == len(a.table) {
		return
	}
	hashes := make([]uint32, len(a.names)+1) // by number
	for _, e := range a.table {
		hashes[e.number] = e.hash
	}
	a.table = make([]alphabetEntry, size)
	for number, hash := range hashes {
		if number > 0 {
			a.insert(alphabetEntry{hash, int32(number)})
		}
	}
}

// Hash puts hashes in place of the names, each 64 bits of SHA-256 of the salt and the name, as 16 hexadecimal digits.
// The salt is not empty. Two names with the same hash are an error. A name that the alphabet never had is taken for one
// of its n names with probability n/2⁶⁴.
func (a *Alphabet) Hash(salt string) error { return a.hash(salt, hashName) }

func (a *Alphabet) hash(salt string, of func(salt, name string) string) error {
	if a.Len() == 0 || a.salt != "" {
		return nil
	}
	hashed := NewAlphabet()
	for i, name := range a.names {
		if k := hashed.Add(of(salt, name)); int(k) < i {
			return fmt.Errorf("the names %q and %q have the same hash", a.names[k], name)
		}
	}
	*a = *hashed
	a.salt = salt
	return nil
}

// Hashed reports whether hashes are in place of the names.
func (a *Alphabet) Hashed() bool { return a.salt != "" }

// HashedBy says that the names are hashes that Hash made with a salt.
func (a *Alphabet) HashedBy(salt string) { a.salt = salt }

func hashName(salt, name string) string {
	var space [128]byte
	sum := sha256.Sum256(append(append(space[:0], salt...), name...))
	return hex.EncodeToString(sum[:8])
}

// Name returns the name with number id.
func (a *Alphabet) Name(id int32) string { return a.names[id] }

// Names returns all names in order; the caller must not change them.
func (a *Alphabet) Names() []string { return a.names }

// Len returns how many names there are: none in nil.
func (a *Alphabet) Len() int {
	if a == nil {
		return 0
	}
	return len(a.names)
}

// Clone returns an alphabet of the same names, which grows on its own; an empty one for nil.
func (a *Alphabet) Clone() *Alphabet {
	if a == nil {
		return NewAlphabet()
	}
	return &Alphabet{slices.Clone(a.names), a.salt, slices.Clone(a.table)}
}

// ListOf joins names for a message by commas. Quotes show where a name that has a blank or a comma begins and ends.
func ListOf(names []string) string {
	all := make([]string, len(names))
	for k, name := range names {
		all[k] = QuoteName(name)
	}
	return strings.Join(all, ", ")
}

// SomeOf is ListOf for the first 40 names, and says how many there are if there are more.
func SomeOf(names []string) string {
	const most = 40
	if len(names) > most {
		return ListOf(names[:most]) + " … (" + strconv.Itoa(len(names)) + ")"
	}
	return ListOf(names)
}

// QuoteName returns a name as lists in messages show it: in quotes if it is empty, or has a comma or a blank of
// Unicode.
func QuoteName(name string) string {
	if name == "" || strings.Contains(name, ",") || strings.ContainsFunc(name, unicode.IsSpace) {
		return strconv.Quote(name)
	}
	return name
}
