package chains

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Metrics measure how well labelings match the gold ones. All but the counts are fractions of 1. EntityMetrics is nil,
// and absent from JSON, if the labels are not entity tags or if no sequence has a complete gold labeling.
type Metrics struct {
	TokenError    float64 `json:"token_error"`    // share of wrong positions
	TokenAccuracy float64 `json:"token_accuracy"` // 1 - TokenError
	SequenceError float64 `json:"sequence_error"` // share of sequences with a wrong position
	Tokens        int     `json:"tokens"`
	Sequences     int     `json:"sequences"`
	*EntityMetrics
}

// EntityMetrics compare whole entities: the type and both boundaries must be right.
type EntityMetrics struct {
	EntityScore
	Types map[string]EntityScore `json:"types"`
}

// EntityScore holds counts of entities with their precision, recall and F1. A ratio with an empty denominator is 0, as
// in conlleval.
type EntityScore struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	Gold      int     `json:"gold"`
	Predicted int     `json:"predicted"`
	Correct   int     `json:"correct"`
}

func (s *EntityScore) finish() {
	s.Precision = ratio(s.Correct, s.Predicted)
	s.Recall = ratio(s.Correct, s.Gold)
	s.F1 = ratio(2*s.Correct, s.Gold+s.Predicted)
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Evaluator accumulates Metrics over labelings.
type Evaluator struct {
	tags   *tagset // nil unless the labels are entity tags
	chunks func(to []chunk, labels []int32) []chunk

	tokens, wrongTokens       int
	sequences, wrongSequences int
	byType                    []EntityScore
	gold, pred                []chunk // scratch
}

// NewEvaluator returns an evaluator for labels of the alphabet. If they are entity tags, it compares
// entities too: by conlleval's lenient rules, for all schemes of the table, or, if strict, only entities with
// well-formed tags (seqeval's strict mode) of the scheme; an empty one is BIOES and its like if the alphabet has an E
// or S tag, else IOB2. With a scheme, letters alone are tags.
func NewEvaluator(labels *structured.Alphabet, strict bool, scheme string) *Evaluator {
	e := &Evaluator{tags: parseKnown(labels, scheme != "")}
	if e.tags != nil {
		if of, err := findScheme(scheme); err == nil && of.ends {
			e.tags.ends = true // even where all entities that begin lack their end
		}
		switch {
		case !strict || scheme == "io": // any sequence is well-formed in io
			e.chunks = e.tags.chunks
		case scheme == "iob1" && !e.tags.ends:
			e.chunks = e.tags.strictIOB1
		default:
			e.chunks = e.tags.strictChunks
		}
		e.byType = make([]EntityScore, e.tags.types.Len())
	}
	return e
}

// Add counts example i of d with predicted labels [T]; see addLabels.
func (e *Evaluator) Add(d *structured.Dataset, i int, labels []int32) { e.addLabels(d.Gold(i), labels) }

// addLabels counts one sequence with its gold labels [T] and predicted labels [T]. Positions whose gold label is not
// known for certain (negative) do not count as tokens. A sequence with such a position does not count, nor do its
// entities.
func (e *Evaluator) addLabels(gold, pred []int32) {
	wrong, known := 0, 0
	for t, g := range gold {
		if g < 0 {
			continue
		}
		known++
		if pred[t] != g {
			wrong++
		}
	}
	e.tokens += known
	e.wrongTokens += wrong
	if known < len(gold) {
		return
	}
	e.sequences++
	if wrong > 0 {
		e.wrongSequences++
	}
	if e.tags != nil {
		e.addEntities(gold, pred)
	}
}

func (e *Evaluator) addEntities(gold, pred []int32) {
	e.gold, e.pred = e.chunks(e.gold[:0], gold), e.chunks(e.pred[:0], pred)
	for _, c := range e.gold {
		e.byType[c.typ].Gold++
	}
	i := 0 // both lists are sorted by start, and chunks do not overlap
	for _, c := range e.pred {
		e.byType[c.typ].Predicted++
		for i < len(e.gold) && e.gold[i].start < c.start {
			i++
		}
		if i < len(e.gold) && e.gold[i] == c {
			e.byType[c.typ].Correct++
		}
	}
}

// Metrics returns the metrics of all sequences added so far.
func (e *Evaluator) Metrics() structured.Metrics { return e.Labels().General() }

// Table formats the metrics in the layout of conlleval.
func (e *Evaluator) Table() string { return e.Labels().Table() }

// Labels returns the metrics of all sequences added so far.
func (e *Evaluator) Labels() Metrics {
	m := Metrics{
		TokenError:    ratio(e.wrongTokens, e.tokens),
		SequenceError: ratio(e.wrongSequences, e.sequences),
		Tokens:        e.tokens,
		Sequences:     e.sequences,
	}
	m.TokenAccuracy = 1 - m.TokenError
	if e.tags == nil || e.tokens > 0 && e.sequences == 0 {
		return m
	}
	all := &EntityMetrics{Types: map[string]EntityScore{}}
	for i, s := range e.byType {
		if s.Gold+s.Predicted == 0 {
			continue
		}
		s.finish()
		all.Types[e.tags.types.Name(int32(i))] = s
		all.Gold += s.Gold
		all.Predicted += s.Predicted
		all.Correct += s.Correct
	}
	all.finish()
	m.EntityMetrics = all
	return m
}

// General returns the metrics under the names that they have in JSON.
func (m Metrics) General() structured.Metrics {
	g := structured.Metrics{Measures: []structured.Measure{
		{Name: "token_error", Value: m.TokenError}, {Name: "token_accuracy", Value: m.TokenAccuracy},
		{Name: "sequence_error", Value: m.SequenceError},
		{Name: "tokens", Value: float64(m.Tokens)}, {Name: "sequences", Value: float64(m.Sequences)},
	}}
	if m.EntityMetrics != nil {
		g.Measures = append(g.Measures, m.EntityScore.measures()...)
		g.Types = map[string]structured.Metrics{}
		for name, s := range m.Types {
			g.Types[name] = structured.Metrics{Measures: s.measures()}
		}
	}
	return g
}

func (s *EntityScore) measures() []structured.Measure {
	return []structured.Measure{
		{Name: "precision", Value: s.Precision}, {Name: "recall", Value: s.Recall}, {Name: "f1", Value: s.F1},
		{Name: "gold", Value: float64(s.Gold)}, {Name: "predicted", Value: float64(s.Predicted)},
		{Name: "correct", Value: float64(s.Correct)},
	}
}

// String returns the metrics in one line.
func (m Metrics) String() string {
	s := fmt.Sprintf("token error %.2f %%, sequence error %.2f %%", 100*m.TokenError, 100*m.SequenceError)
	if m.EntityMetrics != nil {
		s += fmt.Sprintf(", entity F1 %.2f %%", 100*m.F1)
	}
	return s
}

// Table formats the metrics in the layout of conlleval: one line per type, or a single line without entities.
func (m Metrics) Table() string {
	if m.EntityMetrics == nil {
		return fmt.Sprintf("processed %d tokens in %d sequences.\naccuracy: %6.2f%%; sequences right: %6.2f%%\n",
			m.Tokens, m.Sequences, 100*m.TokenAccuracy, 100*(1-m.SequenceError))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "processed %d tokens with %d phrases; found: %d phrases; correct: %d.\n",
		m.Tokens, m.Gold, m.Predicted, m.Correct)
	line := func(s EntityScore) {
		fmt.Fprintf(&b, "precision: %6.2f%%; recall: %6.2f%%; FB1: %6.2f", 100*s.Precision, 100*s.Recall, 100*s.F1)
	}
	fmt.Fprintf(&b, "accuracy: %6.2f%%; ", 100*m.TokenAccuracy)
	line(m.EntityScore)
	b.WriteByte('\n')
	for _, name := range slices.Sorted(maps.Keys(m.Types)) {
		fmt.Fprintf(&b, "%17s: ", name)
		line(m.Types[name])
		fmt.Fprintf(&b, "  %d\n", m.Types[name].Predicted)
	}
	return b.String()
}
