package templates

import "github.com/dsp-go/dsp/structured"

// Options say which attributes that a template makes of training data have weights.
type Options struct {
	MinCount int // attributes that occur fewer times in the training data, of arcs on gold arcs, are left out; 0 means 1
	// > 0: no dictionary (of tokens, none for positions); attributes are numbered below 1<<HashBits by their hashes
	HashBits int
	Threads  int // 0: all cores; the result does not depend on it

	// Known is a dictionary whose attributes keep their numbers, however rare they are in the training data; nil: none.
	// It is for templates of tokens whose columns are fixed.
	Known *structured.Dictionary

	// Peers have the other examples of the training data, and agree on one dictionary: of templates of tokens alone.
	Peers structured.Peers
}

// MostHashBits is how many bits numbers of hashed attributes have at most.
const MostHashBits = 31

// Check refuses numbers of bits that there are not, and counts of hashed attributes.
func (o Options) Check() error {
	switch {
	case o.HashBits < 0 || o.HashBits > MostHashBits:
		return structured.BadInput("attributes hashed to %d bits, expected 1 to %d, or 0 for a dictionary", o.HashBits,
			MostHashBits)
	case o.HashBits > 0 && o.MinCount > 1:
		return structured.BadInput("hashed attributes have no counts: a minimum of %d needs a dictionary", o.MinCount)
	}
	return nil
}

// KnownOrNone returns Known, or an empty dictionary.
func (o Options) KnownOrNone() *structured.Dictionary {
	if o.Known == nil {
		return &structured.Dictionary{}
	}
	return o.Known
}
