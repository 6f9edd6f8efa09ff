package inputs

import (
	"slices"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// noValue stands in cells for what no file holds.
const noValue = "\x00"

// Knows reports which values of column k of text, whose columns have these names, make inputs of their own: those that
// training saw there. It tells nothing, and returns nil, where inputs do not show it: hashed attributes are all alike,
// and a column may be read together with others alone.
func (in Inputs) Knows(names []string, k int, values []string) ([]bool, error) {
	d := &structured.Dataset{ColumnNames: names, Offsets: []int{0}}
	alone := in.Template != nil && in.Dictionary.HashBits == 0 && in.Template.ReadsAlone(d, k)
	numbered := in.Vocab != nil && (in.Words == nil || slices.Contains(in.Words, names[k]))
	for _, name := range in.Words {
		numbered = numbered && slices.Contains(names, name) // who makes inputs says that it lacks
	}
	if !alone && !numbered {
		return nil, nil
	}
	const times = 3 // so that neighbours have the value, too
	d.Columns = make([][]string, len(names))
	for _, value := range append(slices.Clone(values), noValue) {
		for range times {
			for c := range d.Columns {
				cell := noValue
				if c == k {
					cell = value
				}
				d.Columns[c] = append(d.Columns[c], cell)
			}
		}
		d.Offsets = append(d.Offsets, d.Positions()+times)
	}
	known, last := make([]bool, len(values)), len(values)
	if alone {
		if err := in.Template.Apply(d, in.Dictionary, 1); err != nil {
			return nil, err
		}
		attributes := func(i int) int { return d.Attributes.Offsets[d.Offsets[i+1]] - d.Attributes.Offsets[d.Offsets[i]] }
		for i := range values {
			known[i] = attributes(i) > attributes(last)
		}
	}
	if numbered {
		words := in.wordsOf(d)
		if err := text.EncodeIds(words, in.Vocab); err != nil {
			return nil, err
		}
		ids := func(i int) []int32 { return words.Ids[d.Offsets[i]*len(in.Vocab) : d.Offsets[i+1]*len(in.Vocab)] }
		for i := range values {
			known[i] = known[i] || !slices.Equal(ids(i), ids(last))
		}
	}
	return known, nil
}
