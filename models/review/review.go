// Package review looks at a model's outputs beside the gold ones and at how sure the model was of them: which examples
// are wrong, how precision and recall depend on a threshold of probabilities, and whether probabilities are calibrated.
package review

import (
	"cmp"
	"slices"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
)

// Reviewer compares outputs of a task with the gold ones. It serves one goroutine at a time.
type Reviewer interface {
	// Options are what predictions the reviewer needs, given whether the model has probabilities.
	Options(probabilities bool) predictions.Options
	// Add adds what there is to say about the prediction for example i of d. Examples whose gold output is not fully
	// known are left out where the task's own measures leave them out.
	Add(d *structured.Dataset, i int, p *predictions.Prediction, to *Review)
}

// Event is something that a model holds to be true with some confidence: a probability, or the margin of a link.
type Event struct {
	Confidence float64
	Right      bool // for precision
	Found      bool // for recall: it is one of the Gold things; of links, right ones may not be sure
}

// Review is what a model's outputs for a data set look like beside the gold ones.
type Review struct {
	Probabilities bool   // the model has some
	Entropies     bool   // predictions have them
	Units         string // what an output is made of, in the plural: "tokens"
	Parts         []Event
	Entities      []Event // of the best outputs; nil unless labels are entity tags

	Claims     []Event // what a threshold chooses among
	ClaimUnits string  // in the plural: "entities"
	Scale      string  // of their confidence: "probability"
	Gold       int     // how many claims would be right if all were found
	Chosen     Counts  // of the best outputs

	Examples []Example // the wrong ones
	Wrong    int       // how many there are
	All      int       // how many examples were compared

	byValue bool
}

// Counts are what precision and recall are computed from.
type Counts struct{ Predicted, Right, Found int }

// Example is an example with a wrong output.
type Example struct {
	Index       int      `json:"-"` // in the data
	ID          string   `json:"id"`
	Where       string   `json:"where"`                 // its place in the data
	Measure     string   `json:"measure,omitempty"`     // of how good the output is, for graphs, masks, boxes and links
	Value       *float64 `json:"value,omitempty"`       // of the measure
	Probability *float64 `json:"probability,omitempty"` // of the predicted output
	Entropy     *float64 `json:"entropy,omitempty"`     // of the distribution of outputs, in nats
	Confidence  *float64 `json:"confidence,omitempty"`  // the largest of its parts
	Wrong       int      `json:"wrong"`                 // wrong parts
	// the wrong parts of which the model was most sure, at most 20 (5 of graphs), in order
	Parts []Part `json:"parts"`
}

// Part is a wrong part of an output.
type Part struct {
	Kind      string `json:"kind"`                // token, entity, arc, box, link, variable or region
	First     int    `json:"first"`               // first position, from 0; for links the source item
	Last      int    `json:"last"`                // last position; for links the target item
	Text      string `json:"text,omitempty"`      // of the positions
	Gold      string `json:"gold,omitempty"`      // absent: there is none here
	Predicted string `json:"predicted,omitempty"` // absent: it was missed
	// probability of the wrong answer, of a missed entity the mean of the labels in its place; of links, the margin
	Confidence      *float64 `json:"confidence,omitempty"`
	GoldProbability *float64 `json:"gold_probability,omitempty"` // of the gold one
}

// shownParts bounds the parts of an example, and shownVariables those that are variables or regions of a graph, which
// only have numbers.
const shownParts, shownVariables = 20, 5

// addExample adds an example with wrong parts.
func (r *Review) addExample(d *structured.Dataset, i int, p *predictions.Prediction, parts []Part) *Example {
	e := Example{Index: i, ID: d.ID(i), Where: d.Where(i), Wrong: len(parts)}
	if r.Probabilities {
		probability := p.Probability // not a pointer into the predictions of a batch
		e.Probability = &probability
		for _, part := range parts {
			if part.Confidence != nil && (e.Confidence == nil || *part.Confidence > *e.Confidence) {
				e.Confidence = part.Confidence
			}
		}
	}
	if r.Entropies {
		entropy := p.Entropy
		e.Entropy = &entropy
	}
	most := shownParts
	if len(parts) > 0 && (parts[0].Kind == "variable" || parts[0].Kind == "region") {
		most = shownVariables
	}
	if len(parts) > most {
		slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(number(b.Confidence), number(a.Confidence)) })
		parts = parts[:most]
		slices.SortStableFunc(parts, func(a, b Part) int {
			return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last))
		})
	}
	e.Parts = slices.Clone(parts)
	r.Wrong++
	r.Examples = append(r.Examples, e)
	return &r.Examples[len(r.Examples)-1]
}

// addValued adds an example that is ranked by a measure, the lowest first.
func (r *Review) addValued(d *structured.Dataset, i int, p *predictions.Prediction, parts []Part,
	measure string, value float64) {
	e := r.addExample(d, i, p, parts)
	e.Measure, e.Value, r.byValue = measure, &value, true
}

func number(x *float64) float64 {
	if x == nil {
		return -1
	}
	return *x
}

// Worst keeps the n worst examples, the worst first: those with the lowest measure where there is one, else those in
// which the model was most sure of something wrong.
func (r *Review) Worst(n int) {
	slices.SortStableFunc(r.Examples, func(a, b Example) int {
		if r.byValue {
			return cmp.Compare(*a.Value, *b.Value)
		}
		return cmp.Or(cmp.Compare(number(b.Confidence), number(a.Confidence)), cmp.Compare(b.Wrong, a.Wrong))
	})
	r.Examples = slices.Clone(r.Examples[:min(n, len(r.Examples))])
}

// pointer returns a pointer to a probability in float32.
func pointer(p float32) *float64 {
	x := float64(p)
	return &x
}
