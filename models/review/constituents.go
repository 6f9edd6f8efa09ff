package review

import (
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
)

// brackets reviews trees of constituents. A constituent is right if its words and its label are.
type brackets struct{ names *structured.Alphabet }

// Constituents returns the reviewer of trees whose labels the model numbers by names.
func Constituents(names *structured.Alphabet) Reviewer { return &brackets{names} }

func (r *brackets) Options(probabilities bool) predictions.Options {
	return predictions.Options{Probability: probabilities, Marginals: probabilities}
}

func (r *brackets) Add(d *structured.Dataset, i int, p *predictions.Prediction, to *Review) {
	to.Units = "constituents"
	to.All++
	n, gold, places := d.Length(i), d.Gold(i), text.PlacesOf(d, i)
	var wrong []Part
	for first := range n {
		for last := first; last < n; last++ {
			row := first*n + last
			g, y := gold[row], p.Labels[row]
			part := Part{Kind: "constituent", First: first, Last: last}
			if y != 0 {
				part.Predicted = r.names.Name(y - 1)
				if to.Probabilities {
					q := r.probability(p, row, y)
					part.Confidence = &q
					to.Parts = append(to.Parts, Event{q, g == y, g == y})
				}
			}
			if g == y {
				continue
			}
			if g != 0 {
				part.Gold = d.Alphabet.Name(g - 1)
				if to.Probabilities {
					q := r.probability(p, row, g)
					part.GoldProbability = &q
				}
			}
			part.Text = places.Text(first, last)
			wrong = append(wrong, part)
		}
	}
	if len(wrong) > 0 {
		to.addExample(d, i, p, wrong)
	}
}

// probability returns that of a constituent; 0 of one with a label that the model does not know.
func (r *brackets) probability(p *predictions.Prediction, row int, label int32) float64 {
	if int(label) > r.names.Len() {
		return 0
	}
	return min(1, float64(p.Relations[row*(r.names.Len()+1)+int(label)]))
}
