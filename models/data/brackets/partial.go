package brackets

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// anyLabel allows any label of a constituent, and so does "?".
const anyLabel = "_"

// separator stands between labels one of which a constituent has.
const separator = "|"

// ReadPartial sets the gold outputs of d to all trees over its words that have the brackets of d's own tree, and may
// have more. The label of a bracket is one of those in names, several with | between them, or _ (or ?) for any.
// Brackets around the same words keep their order.
func ReadPartial(d *structured.Dataset, names *structured.Alphabet) error {
	chains := make([][]string, names.Len())
	for k, name := range names.Names() {
		chains[k] = Split(name)
	}
	own, read := d.Alphabet, map[int32]int32{0: -1}
	d.Alphabet, d.Labels, d.LabelSets = names, slices.Clone(d.Labels), [][]int32{nil}
	for i := range d.Len() {
		for k := d.Outputs[i]; k < d.Outputs[i+1]; k++ {
			l := d.Labels[k]
			number, ok := read[l]
			if !ok {
				given, set := Split(own.Name(l-1)), []int32(nil)
				for k, chain := range chains {
					if within(given, chain) {
						set = append(set, int32(1+k))
					}
				}
				if set == nil {
					return structured.BadInput("%s: no constituent with the label %s, expected one of %s; _ is any, and | "+
						"stands between several",
						d.Where(i), own.Name(l-1), structured.SomeOf(names.Names()))
				}
				d.LabelSets = append(d.LabelSets, set)
				number = int32(-len(d.LabelSets))
				read[l] = number
			}
			d.Labels[k] = number
		}
	}
	return nil
}

// within reports whether a chain has the given labels, in their order, and perhaps others among them.
func within(given, chain []string) bool {
	for _, label := range chain {
		if len(given) > 0 && matches(given[0], label) {
			given = given[1:]
		}
	}
	return len(given) == 0
}

// matches reports whether a label is among those given.
func matches(given, label string) bool {
	return given == label || given == anyLabel || given == "?" || slices.Contains(strings.Split(given, separator), label)
}
