package treebank

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// ReadPartial sets the gold outputs of d, the data of a treebank, to what its columns HEAD and DEPREL say, whole or in
// part: a cell is a head or a relation, several possible ones separated by |, or _ (or ?), which allows any. Relations
// must be in names.
func ReadPartial(d *structured.Dataset, names *structured.Alphabet) error {
	b := Of(d)
	d.Alphabet, d.Labels, d.LabelSets = names, make([]int32, 0, 2*d.Positions()), [][]int32{nil}
	for i := range d.Len() {
		n := d.Length(i)
		head := func(cell string) (int32, string) {
			h, err := strconv.Atoi(cell)
			if err != nil || h < 0 || h > n {
				return 0, trees.HeadRange(n)
			}
			return int32(h), ""
		}
		relation := func(cell string) (int32, string) {
			if r := names.Index(cell); r >= 0 {
				return r, ""
			}
			return 0, "one of " + structured.SomeOf(names.Names())
		}
		for _, column := range []struct {
			of     int
			what   string
			number func(cell string) (int32, string)
		}{{Head, "head", head}, {Deprel, "relation", relation}} {
			for t, cell := range b.Column(i, column.of) {
				number, wrong, expected := partial(d, cell, column.number)
				if expected != "" {
					return structured.BadInput("%s: %s %q, expected %s; _ is any", d.WhereToken(i, t), column.what, wrong, expected)
				}
				d.Labels = append(d.Labels, number)
			}
		}
	}
	return nil
}

// partial returns the number of a cell, or −1−k for the set k of several; or what is wrong in it, and what was
// expected.
func partial(d *structured.Dataset, cell string,
	number func(cell string) (int32, string)) (known int32, wrong, expected string) {
	if cell == "_" || cell == text.AnyLabel {
		return -1, "", ""
	}
	if known, expected = number(cell); expected == "" {
		return known, "", ""
	}
	var set []int32
	for part := range strings.SplitSeq(cell, "|") {
		k, expected := number(part)
		if expected != "" {
			return 0, part, expected
		}
		set = append(set, k)
	}
	slices.Sort(set)
	d.LabelSets = append(d.LabelSets, slices.Compact(set))
	return int32(-len(d.LabelSets)), "", ""
}
