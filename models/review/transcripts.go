package review

import (
	"slices"

	"github.com/dsp-go/dsp/models/data/lines"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// transcript reviews strings. A line is right if its whole string is, and the model is as sure of it as the string is
// probable.
type transcript struct{ names *structured.Alphabet }

// Transcripts returns the reviewer of strings of symbols that the model numbers by names.
func Transcripts(names *structured.Alphabet) Reviewer { return &transcript{names} }

func (*transcript) Options(probabilities bool) predictions.Options {
	return predictions.Options{Probability: probabilities}
}

// Add implements Reviewer. Examples are ranked by the share of their symbols that need no change.
func (r *transcript) Add(d *structured.Dataset, i int, p *predictions.Prediction, to *Review) {
	to.Units = "lines"
	to.All++
	gold := d.Readings[i]
	right := slices.Equal(gold, p.Labels)
	if to.Probabilities {
		to.Parts = append(to.Parts, Event{p.Probability, right, right})
	}
	if right {
		return
	}
	part := Part{Kind: "line", Last: max(0, d.Length(i)-1), Gold: lines.Joined(gold, d.Alphabet),
		Predicted: lines.Joined(p.Labels, r.names)}
	if to.Probabilities {
		probability := p.Probability
		part.Confidence = &probability
	}
	wrong := float64(transcripts.Distance(gold, p.Labels).Sum())
	to.addValued(d, i, p, []Part{part}, "character accuracy", max(0, 1-wrong/float64(max(1, len(gold)))))
}
