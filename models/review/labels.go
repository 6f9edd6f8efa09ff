package review

import (
	"cmp"
	"slices"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// leastClaim is the least probability of the entities that a precision-recall curve reaches down to.
const leastClaim = 0.01

// labels reviews labels of sequences, and their entities if they are entity tags.
type labels struct {
	names *structured.Alphabet // the model's
	rules *chains.Entities     // or nil
	kind  string

	gold, best []chains.Entity // scratch
}

// Labels returns the reviewer of sequences of labels that the model numbers by names. kind is what a position is
// called.
func Labels(names *structured.Alphabet, kind string) Reviewer {
	return &labels{names: names, rules: chains.NewEntities(names), kind: kind}
}

func (l *labels) Options(probabilities bool) predictions.Options {
	o := predictions.Options{Probability: probabilities, Confidence: probabilities, OwnLabels: true}
	if probabilities && l.rules != nil {
		o.Spans, o.MinProbability, o.Compared = true, leastClaim, true
	}
	return o
}

func (l *labels) Add(d *structured.Dataset, i int, p *predictions.Prediction, to *Review) {
	to.Units = l.kind + "s"
	places := text.PlacesOf(d, i)
	wrong := l.positions(d, i, p, &places, to)
	if d.Partial(i) {
		return
	}
	to.All++
	if l.rules != nil && to.Probabilities && !l.unknown(d.Gold(i)) {
		if entities := l.entities(d, i, p, &places, to); len(entities) > 0 {
			wrong = entities
		}
	}
	if len(wrong) > 0 {
		to.addExample(d, i, p, wrong)
	}
}

// unknown reports whether a gold label is none of the model's.
func (l *labels) unknown(gold []int32) bool {
	return slices.ContainsFunc(gold, func(g int32) bool { return int(g) >= l.names.Len() })
}

// labelled returns the label at t, whose gold one is g, as a part. If probabilities are known, it adds the label to
// those of the parts.
func (to *Review) labelled(kind string, d *structured.Dataset, names *structured.Alphabet, p *predictions.Prediction,
	t int, g int32) Part {
	predicted, y := p.Labels[t], names.Len()
	part := Part{Kind: kind, First: t, Last: t, Gold: d.Alphabet.Name(g), Predicted: names.Name(predicted)}
	if to.Probabilities {
		q := p.Marginals[t*y : (t+1)*y]
		part.Confidence = pointer(q[predicted])
		to.Parts = append(to.Parts, Event{*part.Confidence, g == predicted, g == predicted})
		if int(g) < y {
			part.GoldProbability = pointer(q[g])
		}
	}
	return part
}

// positions adds the positions as parts, and returns the wrong ones.
func (l *labels) positions(d *structured.Dataset, i int, p *predictions.Prediction,
	places *text.Places, to *Review) []Part {
	var wrong []Part
	for t, g := range d.Gold(i) {
		if g < 0 {
			continue
		}
		if part := to.labelled(l.kind, d, l.names, p, t, g); g != p.Labels[t] {
			part.Text = places.Text(t, t)
			wrong = append(wrong, part)
		}
	}
	return wrong
}

// entities adds the entities, and returns the missed ones and those that were made up.
func (l *labels) entities(d *structured.Dataset, i int, p *predictions.Prediction,
	places *text.Places, to *Review) []Part {
	l.gold, l.best = l.rules.Of(l.gold[:0], d.Gold(i)), l.rules.Of(l.best[:0], p.Labels)
	to.ClaimUnits = "entities"
	to.Gold += len(l.gold)
	to.Chosen.Predicted += len(l.best)
	if to.Entities == nil {
		to.Entities = []Event{}
	}
	var wrong []Part
	for _, s := range p.Spans {
		gold, best := slices.Contains(l.gold, s.Entity), slices.Contains(l.best, s.Entity)
		if best {
			to.Entities = append(to.Entities, Event{s.Probability, gold, gold})
		}
		if s.Probability >= leastClaim {
			to.Claims = append(to.Claims, Event{s.Probability, gold, gold})
		}
		if gold && best {
			to.Chosen.Right++
			to.Chosen.Found++
		}
		if gold == best {
			continue
		}
		part, sure := Part{Kind: "entity", First: s.First, Last: s.Last, Text: places.Text(s.First, s.Last)}, s.Probability
		if gold {
			part.Gold, part.GoldProbability = l.rules.Types().Name(s.Type), &s.Probability
			sure = l.doubt(d.Gold(i), p, s)
		} else {
			part.Predicted = l.rules.Types().Name(s.Type)
		}
		part.Confidence = &sure
		wrong = append(wrong, part)
	}
	slices.SortStableFunc(wrong, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last))
	})
	return wrong
}

// doubt returns how sure the model was of something else than a gold entity that it missed: the mean probability of the
// wrong labels at its positions or, if they all are right and it only ends or starts elsewhere, that of all other
// readings.
func (l *labels) doubt(gold []int32, p *predictions.Prediction, s predictions.Span) float64 {
	y, sum, wrong := l.names.Len(), 0.0, 0
	for t := s.First; t <= s.Last; t++ {
		if predicted := p.Labels[t]; predicted != gold[t] {
			sum += float64(p.Marginals[t*y+int(predicted)])
			wrong++
		}
	}
	if wrong == 0 {
		return 1 - s.Probability
	}
	return sum / float64(wrong)
}
