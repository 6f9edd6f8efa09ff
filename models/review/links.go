package review

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
)

// links reviews the links of sentence pairs, which have probabilities, or margins in place of them.
type links struct{ of alignments.Outputs }

func Links(of alignments.Outputs) Reviewer { return links{of} }

func (links) Options(probabilities bool) predictions.Options {
	return predictions.Options{Confidence: true, Probability: probabilities}
}

// Add implements Reviewer. Examples are ranked by F1 as in alignments.Metrics: wrong are predicted links that are not
// possible, and sure links that were missed.
func (r links) Add(d *structured.Dataset, i int, p *predictions.Prediction, to *Review) {
	to.Units, to.ClaimUnits = "links", "links"
	values := p.Margins
	if to.Probabilities {
		values = p.Marginals
	} else {
		to.Scale = "margin"
	}
	to.All++
	n, m := alignments.Size(d, i)
	const possible, sure, predicted = 1, 2, 4
	kinds := make([]int, n*m)
	for _, l := range alignments.GoldLinks(d, i) {
		at := int(l.Source)*m + int(l.Target)
		kinds[at] |= possible
		if l.Sure {
			kinds[at] |= sure
		}
	}
	for _, l := range r.of.Links(p.Labels) {
		kinds[int(l.Source)*m+int(l.Target)] |= predicted
	}
	var wrong []Part
	var here Counts
	gold := 0
	for at, kind := range kinds {
		margin := float64(values[at]) // or the probability
		missing := -margin
		if to.Probabilities {
			missing = 1 - margin
		}
		if !math.IsInf(margin, -1) {
			to.Claims = append(to.Claims, Event{margin, kind&possible != 0, kind&sure != 0})
		}
		if kind&sure != 0 {
			gold++
		}
		if kind&predicted != 0 {
			if to.Probabilities {
				to.Parts = append(to.Parts, Event{margin, kind&possible != 0, kind&sure != 0})
			}
			here.add(kind&possible != 0, kind&sure != 0)
		}
		pair := func() string {
			words := d.Column("word")
			if words == nil {
				return ""
			}
			return words[d.Offsets[i]+at/m] + " " + words[d.Offsets[i]+n+at%m]
		}
		switch name := fmt.Sprintf("%d-%d", at/m, at%m); {
		case kind&predicted != 0 && kind&possible == 0:
			wrong = append(wrong, Part{Kind: "link", First: at / m, Last: at % m, Text: pair(), Predicted: name,
				Confidence: finite(margin)})
		case kind&predicted == 0 && kind&sure != 0:
			wrong = append(wrong, Part{Kind: "link", First: at / m, Last: at % m, Text: pair(), Gold: name,
				Confidence: finite(missing)})
		}
	}
	to.Gold += gold
	to.Chosen.Predicted += here.Predicted
	to.Chosen.Right += here.Right
	to.Chosen.Found += here.Found
	if len(wrong) > 0 {
		to.addValued(d, i, p, wrong, "F1", here.f1(gold))
	}
}

// finite returns a pointer to a number, and nil if it is infinite.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func (c *Counts) add(right, found bool) {
	c.Predicted++
	if right {
		c.Right++
	}
	if found {
		c.Found++
	}
}

// precision is 1 where nothing is predicted.
func (c Counts) precision() float64 {
	if c.Predicted == 0 {
		return 1
	}
	return float64(c.Right) / float64(c.Predicted)
}

// recall is 1 where there is nothing to find.
func (c Counts) recall(gold int) float64 {
	if gold == 0 {
		return 1
	}
	return float64(c.Found) / float64(gold)
}

// f1 is the harmonic mean of precision and recall.
func (c Counts) f1(gold int) float64 {
	p, r := c.precision(), c.recall(gold)
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}
