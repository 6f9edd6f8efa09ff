package text

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// What a label column holds where labels are known in part (see ReadPartialLabels).
const (
	AnyLabel       = "?" // nothing is known
	noLabel        = "_" // the same, as CoNLL-U writes what is not annotated
	labelSeparator = "|" // between the labels of a set
)

// ReadPartialLabels makes Labels and LabelSets of d of its label column, in which a position may hold a label; labels with |
// between, one of which is right; or ? (or _), which says nothing. The labels must be among the known ones; nil takes
// those that occur, alone or in a set, sorted. A known label that is spelt like one of the other forms is that label.
func ReadPartialLabels(d *structured.Dataset, known *structured.Alphabet) error {
	column := d.Column(LabelColumn)
	if column == nil {
		return structured.BadInput("%s: no column of labels, expected a label, several with %s between, or %s for any in every line",
			d.Name, labelSeparator, AnyLabel)
	}
	d.Alphabet = known
	if known == nil {
		d.Alphabet = labelsIn(column)
	}
	d.Labels, d.LabelSets = make([]int32, len(column)), nil
	r := &partialLabels{d: d, cells: map[string]int32{}, sets: map[string]int32{}}
	for i := range d.Len() {
		for t := d.Offsets[i]; t < d.Offsets[i+1]; t++ {
			l, ok := r.cells[column[t]]
			if !ok {
				var err error
				if l, err = r.label(column[t]); err != nil {
					return structured.BadInput("%s: %w", d.WhereToken(i, t-d.Offsets[i]), err)
				}
				r.cells[column[t]] = l
			}
			d.Labels[t] = l
		}
	}
	return nil
}

// labelsIn returns the labels of a column with partial labels.
func labelsIn(column []string) *structured.Alphabet {
	seen := structured.NewAlphabet()
	for _, cell := range column {
		if seen.Index(cell) >= 0 || cell == AnyLabel || cell == noLabel {
			continue
		}
		for name := range strings.SplitSeq(cell, labelSeparator) {
			if name != "" {
				seen.Add(name)
			}
		}
	}
	return structured.NewAlphabet(slices.Sorted(slices.Values(seen.Names()))...)
}

// partialLabels numbers the cells of a label column.
type partialLabels struct {
	d     *structured.Dataset
	cells map[string]int32 // what is known of cells
	sets  map[string]int32 // and of sets, by their members
}

// label returns what Labels holds for a cell.
func (r *partialLabels) label(cell string) (int32, error) {
	labels := r.d.Alphabet
	if l := labels.Index(cell); l >= 0 {
		return l, nil
	}
	if cell == AnyLabel || cell == noLabel {
		return r.set(nil), nil
	}
	var set []int32
	for name := range strings.SplitSeq(cell, labelSeparator) {
		l := labels.Index(name)
		switch {
		case l >= 0:
			set = append(set, l)
		case name == cell:
			return 0, structured.BadInput("label %q is not one of the known ones: %s; or %s for any", cell, structured.SomeOf(labels.Names()), AnyLabel)
		default:
			return 0, structured.BadInput("label %q in %q is not one of the known ones: %s", name, cell, structured.SomeOf(labels.Names()))
		}
	}
	slices.Sort(set)
	set = slices.Compact(set)
	switch len(set) {
	case 1:
		return set[0], nil
	case labels.Len():
		set = nil
	}
	return r.set(set), nil
}

// set returns what Labels holds for a set of labels.
func (r *partialLabels) set(labels []int32) int32 {
	key := make([]byte, 0, 4*len(labels))
	for _, l := range labels {
		key = append(key, byte(l), byte(l>>8), byte(l>>16), byte(l>>24))
	}
	at, ok := r.sets[string(key)]
	if !ok {
		r.d.LabelSets = append(r.d.LabelSets, labels)
		at = -int32(len(r.d.LabelSets))
		r.sets[string(key)] = at
	}
	return at
}
