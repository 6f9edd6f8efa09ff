package packs

import (
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/trees"
)

// check refuses a pack whose tables and outputs do not fit its examples. A checksum does not show that: the author of a
// crafted pack computes it, too.
func check(d *structured.Dataset, in inputs.Inputs, task string) error {
	if err := checkWhole(d, in); err != nil {
		return err
	}
	counts := in.AttributeCounts()
	attributes := map[string]int{
		trees.ArcRows: counts.ArcAttributes, trees.LabelRows: counts.LabelAttributes,
		alignments.PairRows: counts.PairAttributes, alignments.SourceRows: counts.SourceAttributes,
	}
	if own := inputs.ArcsOf(in.Own); own != nil && own.Siblings != nil {
		attributes[trees.SiblingRows] = own.Siblings.Len()
	}
	for _, t := range d.Tables {
		if most, known := attributes[t.Name]; known && t.Attributes != nil {
			for _, a := range t.Attributes.Index {
				if uint(a) >= uint(most) {
					return fmt.Errorf("table %q has attribute %d, expected 0 to %d", t.Name, a, most-1)
				}
			}
		}
		for i := range d.Len() {
			if rows, most := t.Offsets[i+1]-t.Offsets[i], mostRows(t.Name, d.Length(i)); rows > most {
				return fmt.Errorf("table %q has %d rows for example %d, expected at most %d", t.Name, rows, i, most)
			}
		}
	}
	return checkTrees(d, task)
}

// mostRows bounds the rows of a table that has one for each pair of positions, or for each position. Of other tables
// every row has contents.
func mostRows(table string, positions int) int {
	const square = 1 << 26 // positions whose pairs are no number of rows
	switch table {
	case trees.ArcRows, trees.LabelRows, alignments.PairRows:
		return min(positions, square) * min(positions, square)
	case alignments.SourceRows:
		return positions
	}
	return 1 << 40
}

// checkTrees refuses outputs of trees whose heads, relations or labels there are not.
func checkTrees(d *structured.Dataset, task string) error {
	numbers, most := 0, func(words, k int) int { return d.Alphabet.Len() } // 0 is no constituent
	for i := range d.Len() {
		words := d.Length(i)
		switch task {
		case "parse":
			numbers, most = 2*words, func(words, k int) int {
				if k < words { // a head
					return words
				}
				return d.Alphabet.Len() - 1
			}
		case "constituency":
			numbers = words * words
		default:
			return nil
		}
		gold := d.Gold(i)
		if len(gold) != numbers {
			return fmt.Errorf("example %d of %d words has an output of %d numbers, expected %d", i, words, len(gold), numbers)
		}
		for k, v := range gold {
			if int(v) > most(words, k) || int(v) < -len(d.LabelSets) {
				return fmt.Errorf("example %d has %d in its output, expected at most %d", i, v, most(words, k))
			}
		}
	}
	return nil
}

// checkWhole refuses rows of whole segments that the template would not make.
func checkWhole(d *structured.Dataset, in inputs.Inputs) error {
	t := d.Table(segments.Rows)
	if in.Template == nil || !in.Template.HasWhole() {
		return nil
	}
	if t == nil || t.Attributes == nil || !slices.Equal(t.Offsets, segments.Offsets(d.Offsets, in.Template.Longest)) {
		return fmt.Errorf("table %q is not that of segments of up to %d positions", segments.Rows, in.Template.Longest)
	}
	for _, a := range t.Attributes.Index {
		if uint(a) >= uint(in.Dictionary.Segments()) {
			return fmt.Errorf("table %q has attribute %d, expected 0 to %d", segments.Rows, a, in.Dictionary.Segments()-1)
		}
	}
	return nil
}
