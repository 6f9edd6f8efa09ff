package union

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Alphabet returns the names of a, with their numbers, and then those of the others that it lacks. A nil alphabet is
// empty; the result is nil if all are.
func Alphabet(a *structured.Alphabet, others ...*structured.Alphabet) *structured.Alphabet {
	all := &structured.Alphabet{}
	known := false
	for _, names := range append([]*structured.Alphabet{a}, others...) {
		if names == nil {
			continue
		}
		known = true
		for _, name := range names.Names() {
			all.Add(name)
		}
	}
	if !known {
		return nil
	}
	return all
}

// Relabel renumbers the labels of d by an alphabet that has all of them. It is for outputs that are one label per
// position.
func Relabel(d *structured.Dataset, by *structured.Alphabet) {
	if d.Alphabet == by || d.Alphabet == nil {
		d.Alphabet = by
		return
	}
	number := make([]int32, d.Alphabet.Len())
	for l, name := range d.Alphabet.Names() {
		number[l] = by.Index(name)
	}
	for t, l := range d.Labels {
		if l >= 0 {
			d.Labels[t] = number[l]
		}
	}
	for _, set := range d.LabelSets {
		for k, l := range set {
			set[k] = number[l]
		}
		slices.Sort(set)
	}
	for _, reading := range d.Readings {
		for k, l := range reading {
			reading[k] = number[l]
		}
	}
	d.Alphabet = by
}

// Attributes renumbers the attributes of data sets that were read with dictionaries of their own: those that base has
// keep its numbers, and others that occur at least minCount times in all sets together follow in order of first
// occurrence. base may be nil. Hashed attributes have their numbers already.
func Attributes(base *structured.Dictionary, minCount int, sets []*structured.Dataset) {
	if sets[0].Dictionary == nil || sets[0].Dictionary.Node == nil {
		return
	}
	all := &structured.Dictionary{Node: structured.NewAlphabet()}
	if base != nil {
		all.Node, all.Edge = Alphabet(all.Node, base.Node), base.Edge
	}
	counts := map[string]int{}
	for _, d := range sets {
		names := d.Dictionary.Node
		times := make([]int, names.Len())
		for _, a := range d.Attributes.Index {
			times[a]++
		}
		for a, name := range names.Names() {
			counts[name] += times[a]
		}
	}
	for _, d := range sets {
		names := d.Dictionary.Node
		number := make([]int32, names.Len())
		for a, name := range names.Names() {
			if number[a] = all.Node.Index(name); number[a] < 0 && counts[name] >= minCount {
				number[a] = all.Node.Add(name)
			}
		}
		d.Attributes.Renumber(number)
		d.Dictionary = all
	}
}
