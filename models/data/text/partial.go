package text

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Special cells of a label column with partial labels (see ReadPartialLabels).
const (
	AnyLabel       = "?" // any label is possible
	noLabel        = "_" // the same; CoNLL-U's mark for missing annotation
	labelSeparator = "|" // between the labels of a set
)

// ReadPartialLabels sets Labels and LabelSets of d from its label column. A cell is one label, several possible labels
// separated by |, or ? (or _), which allows any label. The labels must be in known; nil takes those that occur, alone or in
// a set, sorted. A cell that is spelt like a known label is that label, whatever it looks like.
func ReadPartialLabels(d *structured.Dataset, labels *structured.Alphabet) error {
	column := d.Column(LabelColumn)
	if column == nil {
		return structured.BadInput("%s: no column of labels, expected a label, several with %s between, or %s for any in every line",
			d.Name, labelSeparator, AnyLabel)
	}
	return PartialLabels(d, column, labels)
}

// PartialLabels is ReadPartialLabels with a column of cells that d need not have.
func PartialLabels(d *structured.Dataset, column []string, labels *structured.Alphabet) error {
	d.Alphabet = labels
	if labels == nil {
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

// labelsIn returns the labels that occur in a column with partial labels.
func labelsIn(column []string) *structured.Alphabet {
	labels := structured.NewAlphabet()
	for _, cell := range column {
		if labels.Index(cell) >= 0 || cell == AnyLabel || cell == noLabel {
			continue
		}
		for name := range strings.SplitSeq(cell, labelSeparator) {
			if name != "" {
				labels.Add(name)
			}
		}
	}
	return structured.NewAlphabet(slices.Sorted(slices.Values(labels.Names()))...)
}

// partialLabels translates the cells of a label column into numbers.
type partialLabels struct {
	d     *structured.Dataset
	cells map[string]int32 // entries of Labels by cell
	sets  map[string]int32 // entries of Labels by set members
}

// label returns the entry of Labels for a cell.
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

// set returns the entry of Labels for a set of labels.
func (r *partialLabels) set(labels []int32) int32 {
	key := make([]byte, 0, 4*len(labels))
	for _, l := range labels {
		key = append(key, byte(l), byte(l>>8), byte(l>>16), byte(l>>24))
	}
	entry, ok := r.sets[string(key)]
	if !ok {
		r.d.LabelSets = append(r.d.LabelSets, labels)
		entry = -int32(len(r.d.LabelSets))
		r.sets[string(key)] = entry
	}
	return entry
}
