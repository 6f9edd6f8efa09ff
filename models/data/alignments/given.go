package alignments

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// KeepLinks makes the gold outputs of a data set of matchings what its links say for certain: a source word with a sure
// link has it; one with possible links only has one of these or, unless matchings are complete, none; one without links
// may have any. It is bad input if data have no links, or sure links that share a word.
func KeepLinks(d *structured.Dataset, _ *structured.Alphabet) error {
	if d.Table(linkRows) == nil {
		return structured.BadInput("%s: no links to keep; expected a third field of links such as 0-1 in every line, which "+
			"may be empty, or --links", d.Name)
	}
	d.Labels, d.LabelSets = slices.Clone(d.Labels), [][]int32{nil} // the first set allows any
	for i := range d.Len() {
		n, m := Size(d, i)
		sure, owner, possible := make([]int32, n), make([]int, m), make([][]int32, n)
		for _, l := range GoldLinks(d, i) {
			s, t := int(l.Source), int(l.Target)
			switch {
			case !l.Sure:
				possible[s] = append(possible[s], l.Target+1)
			case sure[s] > 0:
				return structured.BadInput("%s: source word %d has sure links to target words %d and %d, expected one: the model "+
					"links words one to one", d.Where(i), s, sure[s]-1, t)
			case owner[t] > 0:
				return structured.BadInput("%s: target word %d has sure links to source words %d and %d, expected one: the model "+
					"links words one to one", d.Where(i), t, owner[t]-1, s)
			default:
				sure[s], owner[t] = l.Target+1, s+1
			}
		}
		gold := d.Gold(i)
		for s := range gold {
			switch {
			case sure[s] > 0:
				gold[s] = sure[s]
			case possible[s] == nil:
				gold[s] = -1
			default:
				d.LabelSets = append(d.LabelSets, append([]int32{0}, possible[s]...))
				gold[s] = -int32(len(d.LabelSets))
			}
		}
	}
	return nil
}
