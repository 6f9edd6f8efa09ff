package inputs

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// names returns the alphabets of attributes and words by which the inputs are made. Labels and characters are not among
// them.
func (in Inputs) names() []*structured.Alphabet {
	all := append([]*structured.Alphabet(nil), in.Vocab...)
	if d := in.Dictionary; d != nil {
		all = append(all, d.Node, d.Edge, d.Segment)
	}
	if in.Own != nil {
		all = append(all, in.Own.Names()...)
	}
	if in.WordRows != nil {
		all = append(all, in.WordRows.Words)
	}
	if in.Template != nil && in.Template.Known != nil {
		all = append(all, in.Template.Known.Names()...)
	}
	return slices.DeleteFunc(all, func(a *structured.Alphabet) bool { return a.Len() == 0 })
}

// Hashed reports whether hashes are in place of some names.
func (in Inputs) Hashed() bool {
	return slices.ContainsFunc(in.names(), (*structured.Alphabet).Hashed)
}

// Release puts hashes in place of the names of attributes and words, and returns how many. The inputs that they make
// stay the same.
func (in *Inputs) Release(salt string) (hashed int, err error) {
	in.Salt = salt
	for _, names := range in.names() {
		if err := names.Hash(salt); err != nil {
			return 0, structured.BadInput("%w; the model cannot be released", err)
		}
		hashed += names.Len()
	}
	return hashed, nil
}
