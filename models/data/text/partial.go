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
// separated by |, or ? (or _), which allows any label. The labels must be in known; nil takes those that occur, alone
// or in a set, sorted. A cell that is spelt like a known label is that label, whatever it looks like.
func ReadPartialLabels(d *structured.Dataset, labels *structured.Alphabet) error {
	column := d.Column(LabelColumn)
	if column == nil {
		return structured.BadInput("%s: no column of labels, expected a label, several with %s between, or "+
			"%s for any in every line",
			d.Name, labelSeparator, AnyLabel)
	}
	return PartialLabels(d, column, labels)
}

// PartialLabels is ReadPartialLabels with a column of cells that d need not have.
func PartialLabels(d *structured.Dataset, column []string, labels *structured.Alphabet) error {
	cells, number, first := structured.NewAlphabet(), make([]int32, len(column)), []int(nil)
	for t, cell := range column {
		if number[t] = cells.Add(cell); int(number[t]) == len(first) {
			first = append(first, t)
		}
	}
	return NumberPartialLabels(d, cells.Names(), number, labels, func(cell int) string {
		i, _ := slices.BinarySearch(d.Offsets, first[cell]+1)
		return d.WhereToken(i-1, first[cell]-d.Offsets[i-1])
	})
}

// NumberPartialLabels is PartialLabels with the distinct cells in the order of their first occurrences, the number of
// the cell at each position [ΣT], which it changes, and the place where a cell occurs first.
func NumberPartialLabels(d *structured.Dataset, cells []string, number []int32, labels *structured.Alphabet,
	where func(cell int) string) error {
	d.Alphabet = labels
	if labels == nil {
		d.Alphabet = labelsIn(cells)
	}
	d.Labels, d.LabelSets = number, nil
	r := &partialLabels{d: d, sets: map[string]int32{}}
	all := make([]int32, len(cells))
	for k, cell := range cells {
		var err error
		if all[k], err = r.label(cell); err != nil {
			return structured.BadInput("%s: %w", where(k), err)
		}
	}
	for t, k := range number {
		number[t] = all[k]
	}
	return nil
}

// labelsIn returns the labels that occur in cells with partial labels.
func labelsIn(cells []string) *structured.Alphabet {
	labels := structured.NewAlphabet()
	for _, cell := range cells {
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
	d    *structured.Dataset
	sets map[string]int32 // entries of Labels by set members
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
			return 0, structured.BadInput("label %q is not one of the known ones: %s; or %s for any", cell,
				structured.SomeOf(labels.Names()), AnyLabel)
		default:
			return 0, structured.BadInput("label %q in %q is not one of the known ones: %s", name, cell,
				structured.SomeOf(labels.Names()))
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
