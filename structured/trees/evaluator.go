package trees

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Metrics measure how well predicted trees match the gold ones. All but the counts are fractions of 1, and 0 if there
// is nothing to count. UAS counts a word whose head is right. LAS also requires the right relation, up to its subtype
// (the part after a colon). Both equal the scores of the CoNLL 2018 shared task's evaluation on gold tokens.
type Metrics struct {
	UAS        float64 `json:"uas"`         // unlabeled attachment score: share of words with the right head
	LAS        float64 `json:"las"`         // labeled attachment score: share of words with the right head and relation
	UASNoPunct float64 `json:"uas_nopunct"` // UAS of words that are not punctuation
	LASNoPunct float64 `json:"las_nopunct"` // LAS of words that are not punctuation
	Root       float64 `json:"root"`        // share of sentences with the right root
	Words      int     `json:"words"`
	NoPunct    int     `json:"words_nopunct"` // words that are not punctuation
	Sentences  int     `json:"sentences"`

	Relations []RelationScore `json:"relations"` // without subtypes, by falling frequency in the gold trees
}

// RelationScore measures the prediction of one relation.
type RelationScore struct {
	Name       string  `json:"name"`
	Gold       int     `json:"gold"`        // words with the relation in the gold tree
	Predicted  int     `json:"predicted"`   // words with the relation in the predicted tree
	HeadRecall float64 `json:"head_recall"` // share of Gold with the right head
	Recall     float64 `json:"recall"`      // share of Gold with the right head and relation
	Precision  float64 `json:"precision"`   // share of Predicted with the right head and relation
}

// Evaluator accumulates Metrics over sentences. It serves one goroutine at a time.
type Evaluator struct {
	base      []int32 // [relations] index into relations, which ignores subtypes
	relations []relationCount
	all       attachment
	noPunct   attachment
	sentences int
	roots     int // correct ones
}

// attachment counts words, those with the right head, and those with the right head and relation.
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

// Add counts one sentence with its gold and its predicted tree. punctuation [n] marks the words that are punctuation.
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

// General returns the metrics under the names that they have in JSON.
func (m Metrics) General() structured.Metrics {
	return structured.Metrics{Measures: []structured.Measure{
		{Name: "uas", Value: m.UAS}, {Name: "las", Value: m.LAS},
		{Name: "uas_nopunct", Value: m.UASNoPunct}, {Name: "las_nopunct", Value: m.LASNoPunct}, {Name: "root", Value: m.Root},
		{Name: "words", Value: float64(m.Words)}, {Name: "words_nopunct", Value: float64(m.NoPunct)},
		{Name: "sentences", Value: float64(m.Sentences)},
	}}
}
