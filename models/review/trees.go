package review

import (
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// arcs reviews trees. An arc is right if its head and its relation are, up to the subtype of the relation, as for the
// labeled attachment score.
type arcs struct{ names *structured.Alphabet }

// Trees returns the reviewer of trees whose relations the model numbers by names.
func Trees(names *structured.Alphabet) Reviewer { return &arcs{names} }

func (a *arcs) Options(probabilities bool) predictions.Options {
	return predictions.Options{Probability: probabilities, Marginals: probabilities, Relations: probabilities}
}

func (a *arcs) Add(d *structured.Dataset, i int, p *predictions.Prediction, to *Review) {
	to.Units = "arcs"
	to.All++
	gold, tree, places := trees.FromOutput(d.Gold(i)), trees.FromOutput(p.Labels), text.PlacesOf(d, i)
	var wrong []Part
	for t, h := range tree.Heads {
		goldName, name := d.Alphabet.Name(gold.Relations[t]), a.names.Name(tree.Relations[t])
		right := h == gold.Heads[t] && base(goldName) == base(name)
		part := Part{Kind: "arc", First: t, Last: t}
		if to.Probabilities {
			q, g := a.probability(p, t, h, name), a.probability(p, t, gold.Heads[t], goldName)
			part.Confidence, part.GoldProbability = &q, &g
			to.Parts = append(to.Parts, Event{q, right, right})
		}
		if !right {
			part.Text, part.Gold, part.Predicted = places.Text(t, t), fmt.Sprintf("%d %s", gold.Heads[t], goldName),
				fmt.Sprintf("%d %s", h, name)
			wrong = append(wrong, part)
		}
	}
	if len(wrong) > 0 {
		to.addExample(d, i, p, wrong)
	}
}

// probability returns that of an arc from word t, counted from 0, with a relation of any subtype.
func (a *arcs) probability(p *predictions.Prediction, t int, head int32, relation string) float64 {
	r, sum := a.names.Len(), 0.0
	row := trees.Row(len(p.Labels)/2, t, head) * r
	for k, name := range a.names.Names() {
		if base(name) == base(relation) {
			sum += float64(p.Relations[row+k])
		}
	}
	return min(1, sum)
}

// base returns a relation without its subtype.
func base(relation string) string {
	name, _, _ := strings.Cut(relation, ":")
	return name
}
