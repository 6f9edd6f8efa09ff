package trees

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Metrics say how well predicted trees match the gold ones. Everything but the counts is a fraction of 1, and 0 where
// there is nothing to count. An arc is right if its head is; with its label, if the relation is right, too, up to its subtype
// (what follows a colon). UAS and LAS are those of the evaluation of the CoNLL 2018 shared task on gold tokens.
type Metrics struct {
	UAS        float64 `json:"uas"`         // unlabeled attachment score: share of words with the right head
	LAS        float64 `json:"las"`         // labeled attachment score: share of words with the right head and relation
	UASNoPunct float64 `json:"uas_nopunct"` // UAS of words that are not punctuation
	LASNoPunct float64 `json:"las_nopunct"` // LAS of words that are not punctuation
	Root       float64 `json:"root"`        // share of sentences with the right root
	Words      int     `json:"words"`
	NoPunct    int     `json:"words_nopunct"` // words that are not punctuation
	Sentences  int     `json:"sentences"`

	Relations []RelationScore `json:"relations"` // without subtypes; the most frequent in gold trees first
}

// RelationScore says how well one relation is found.
type RelationScore struct {
	Name       string  `json:"name"`
	Gold       int     `json:"gold"`        // words that have the relation
	Predicted  int     `json:"predicted"`   // words that are predicted to
	HeadRecall float64 `json:"head_recall"` // share of Gold with the right head
	Recall     float64 `json:"recall"`      // share of Gold with the right head and relation
	Precision  float64 `json:"precision"`   // share of Predicted with the right head and relation
}

// Evaluator accumulates Metrics over sentences. It serves one goroutine at a time.
type Evaluator struct {
	base      []int32 // [relations] number without the subtype
	relations []relationCount
	all       attachment
	noPunct   attachment
	sentences int
	roots     int // right ones
}

// attachment counts words by what is right about them.
type attachment struct{ words, heads, labeled int }

func (a *attachment) add(head, labeled bool) {
	a.words++
	if head {
		a.heads++
	}
	if labeled {
		a.labeled++
	}
}

type relationCount struct {
	name      string
	gold      attachment
	predicted int
}

// NewEvaluator returns an evaluator of trees whose relations are numbered by names.
func NewEvaluator(names *structured.Alphabet) *Evaluator {
	e := &Evaluator{base: make([]int32, names.Len())}
	bases := structured.NewAlphabet()
	for k, name := range names.Names() {
		base, _, _ := strings.Cut(name, ":")
		e.base[k] = bases.Add(base)
	}
	e.relations = make([]relationCount, bases.Len())
	for k, name := range bases.Names() {
		e.relations[k].name = name
	}
	return e
}

// Add counts one sentence with its gold and its predicted tree; punctuation [n] says which words are.
func (e *Evaluator) Add(gold, predicted Tree, punctuation []bool) {
	e.sentences++
	if root := Root(gold.Heads); root > 0 && Root(predicted.Heads) == root {
		e.roots++
	}
	for t, h := range gold.Heads {
		g, p := e.base[gold.Relations[t]], e.base[predicted.Relations[t]]
		head := predicted.Heads[t] == h
		labeled := head && p == g
		e.all.add(head, labeled)
		if !punctuation[t] {
			e.noPunct.add(head, labeled)
		}
		e.relations[g].gold.add(head, labeled)
		e.relations[p].predicted++
	}
}

// Metrics returns the metrics of all sentences added so far.
func (e *Evaluator) Metrics() Metrics {
	m := Metrics{
		UAS: ratio(e.all.heads, e.all.words), LAS: ratio(e.all.labeled, e.all.words),
		UASNoPunct: ratio(e.noPunct.heads, e.noPunct.words), LASNoPunct: ratio(e.noPunct.labeled, e.noPunct.words),
		Root: ratio(e.roots, e.sentences), Words: e.all.words, NoPunct: e.noPunct.words, Sentences: e.sentences,
	}
	for _, r := range e.relations {
		if r.gold.words+r.predicted == 0 {
			continue
		}
		m.Relations = append(m.Relations, RelationScore{
			Name: r.name, Gold: r.gold.words, Predicted: r.predicted, HeadRecall: ratio(r.gold.heads, r.gold.words),
			Recall: ratio(r.gold.labeled, r.gold.words), Precision: ratio(r.gold.labeled, r.predicted),
		})
	}
	slices.SortFunc(m.Relations, func(a, b RelationScore) int {
		return cmp.Or(cmp.Compare(b.Gold, a.Gold), cmp.Compare(b.Predicted, a.Predicted), strings.Compare(a.Name, b.Name))
	})
	return m
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// General returns the metrics by name, as JSON has them.
func (m Metrics) General() structured.Metrics {
	return structured.Metrics{Measures: []structured.Measure{
		{Name: "uas", Value: m.UAS}, {Name: "las", Value: m.LAS},
		{Name: "uas_nopunct", Value: m.UASNoPunct}, {Name: "las_nopunct", Value: m.LASNoPunct}, {Name: "root", Value: m.Root},
		{Name: "words", Value: float64(m.Words)}, {Name: "words_nopunct", Value: float64(m.NoPunct)}, {Name: "sentences", Value: float64(m.Sentences)},
	}}
}
