package review

import (
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// variables reviews the labels of graphs: of variables, or of the regions of images.
type variables struct {
	names *structured.Alphabet
	kind  string
}

// Graphs returns the reviewer of labels of graphs that the model numbers by names. kind is what a variable is called.
func Graphs(names *structured.Alphabet, kind string) Reviewer { return &variables{names, kind} }

func (v *variables) Options(probabilities bool) predictions.Options {
	return predictions.Options{Probability: probabilities, Confidence: probabilities}
}

// Add implements Reviewer. Examples are ranked by the share of right variables, or of right pixels.
func (v *variables) Add(d *structured.Dataset, i int, p *predictions.Prediction, to *Review) {
	to.Units = v.kind + "s"
	var wrong []Part
	right, all := 0.0, 0.0
	pixels := d.Table(graphs.PixelRows)
	for t, g := range d.Gold(i) {
		predicted := p.Labels[t]
		if pixels != nil {
			labels, counts := pixels.Attributes.Row(d.Offsets[i] + t)
			for k, l := range labels {
				all += float64(counts[k])
				if l == predicted {
					right += float64(counts[k])
				}
			}
		}
		if g < 0 {
			continue
		}
		if pixels == nil {
			all++
			if g == predicted {
				right++
			}
		}
		part := to.labelled(v.kind, d, v.names, p, t, g)
		if g != predicted {
			wrong = append(wrong, part)
		}
	}
	if all == 0 {
		return
	}
	to.All++
	if right < all {
		measure := "accuracy"
		if pixels != nil {
			measure = "pixel accuracy"
		}
		to.addValued(d, i, p, wrong, measure, right/all)
	}
}
