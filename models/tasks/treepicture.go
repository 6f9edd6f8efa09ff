package tasks

import (
	"github.com/dsp-go/dsp/models/pictures/treepicture"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// What a picture of trees shows: the first sentences that are neither too short to show anything nor too long to read.
const (
	picturedTrees = 3
	fewestWords   = 5
	mostWords     = 16
)

// drawTreePicture draws the predicted trees of a few sentences of d to a .svg, .png or .pdf file, with the probability
// of each arc. If gold trees are known, wrong arcs stand out and the gold arcs are dashed.
func drawTreePicture(d *structured.Dataset, names *structured.Alphabet, path string, predict PredictSome) error {
	var few []int
	for i := range d.Len() {
		if n := d.Length(i); n >= fewestWords && n <= mostWords && len(few) < picturedTrees {
			few = append(few, i)
		}
	}
	if len(few) == 0 {
		return structured.BadInput("%s: no sentence of %d to %d words to draw", d.Name, fewestWords, mostWords)
	}
	some := d.Subset(few)
	p := treepicture.Picture{Title: "Predicted trees; an arc is as wide as it is probable"}
	err := predict(some, predictions.Options{Confidence: true}, func(i int, prediction *predictions.Prediction) error {
		t := trees.FromOutput(prediction.Labels)
		n := t.Len()
		lo, hi := some.Offsets[i], some.Offsets[i+1]
		s := treepicture.Sentence{Words: some.Column("word")[lo:hi], Tags: some.Column("upos")[lo:hi], Heads: t.Heads}
		for k, head := range t.Heads {
			s.Relations = append(s.Relations, names.Name(t.Relations[k]))
			s.Certainty = append(s.Certainty, prediction.Marginals[trees.Row(n, k, head)])
		}
		if some.Labels != nil {
			gold := trees.FromOutput(some.Gold(i))
			s.GoldHeads = gold.Heads
			for _, r := range gold.Relations {
				s.GoldRelations = append(s.GoldRelations, some.Alphabet.Name(r))
			}
		}
		p.Sentences = append(p.Sentences, s)
		return nil
	})
	if err != nil {
		return err
	}
	return p.Write(path)
}
