// Package trees defines dependency trees: the structure and its task loss, checks that heads form a tree, projectivity,
// and attachment scores.
//
// Words are numbered from 1 as in CoNLL-U, and slices hold word t at index t−1. The head of a word is the number of
// another word, or 0 for the root of the sentence; exactly one word has head 0.
package trees

import (
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// SpanningTree is the structure of a dependency tree over n words. Every word has one head, another word or the root.
// Exactly one word has the root as its head, and the heads form no cycle. An output is n heads (0 for the root, else
// the number of a word from 1) followed by n relations.
//
// Potentials have two parts of n·n rows, one per pair of a dependent d and a head h: row d·n + h, both counted from 0;
// h = d stands for the root. "arc" scores the pair [n·n×1], "label" each of its possible relations [n·n×R]. With
// Siblings there is a third part: see siblings.go.
type SpanningTree struct {
	NonProjective bool // arcs may cross
	Siblings      bool // neighbouring dependents of a head on the same side of it score together; projective trees only
}

// The tables with one row per pair of words.
const (
	ArcRows   = "arc"
	LabelRows = "label"
)

// Form returns the form of a tree's potentials with R = relations.
func (t SpanningTree) Form(relations int) structured.Form {
	parts := []structured.Shape{{Name: "arc", Rows: ArcRows, Width: 1}, {Name: "label", Rows: LabelRows, Width: relations}}
	if t.Siblings {
		parts = append(parts, structured.Shape{Name: "sibling", Rows: SiblingRows, Width: 1})
	}
	return structured.Form{Structure: t, Parts: parts}
}

// Name returns "projective tree", "non-projective tree" or "projective tree with siblings".
func (t SpanningTree) Name() string {
	switch {
	case t.NonProjective:
		return "non-projective tree"
	case t.Siblings:
		return "projective tree with siblings"
	}
	return "projective tree"
}

// Row returns the row of dependent d, counted from 0, and a head, numbered as in outputs.
func Row(n, d int, head int32) int {
	if head == 0 {
		return d*n + d
	}
	return d*n + int(head) - 1
}

// words returns the number of words of example b.
func words(outputs []int, b int) int { return (outputs[b+1] - outputs[b]) / 2 }

func (t SpanningTree) Score(θ *structured.Potentials, b int, y []int32) float64 {
	n, s := len(y)/2, 0.0
	arc, label, r := θ.Parts[0].Of(b), θ.Parts[1].Of(b), θ.Parts[1].Width
	for d, head := range y[:n] {
		row := Row(n, d, head)
		s += float64(arc[row]) + float64(label[row*r+int(y[n+d])])
	}
	if t.Siblings {
		sibling := θ.Parts[2].Of(b)
		EachSibling(y[:n], func(row int) { s += float64(sibling[row]) })
	}
	return s
}

func (t SpanningTree) Add(u *structured.Marginals, b int, y []int32, c float32) {
	add(u.Parts, b, y, c)
	if t.Siblings {
		sibling := u.Parts[2].Of(b)
		EachSibling(y[:len(y)/2], func(row int) { sibling[row] += c })
	}
}

func (SpanningTree) Raise(θ *structured.Potentials, b int, y []int32, c float32) {
	add(θ.Parts, b, y, c)
}

func add(parts []structured.Part, b int, y []int32, c float32) {
	n := len(y) / 2
	arc, label, r := parts[0].Of(b), parts[1].Of(b), parts[1].Width
	for d, head := range y[:n] {
		row := Row(n, d, head)
		arc[row] += c
		label[row*r+int(y[n+d])] += c
	}
}

func (SpanningTree) Restrict(θ *structured.Potentials, b int, gold structured.Gold) {
	minusInf, single, n := float32(math.Inf(-1)), [1]int32{}, len(gold.Output)/2
	arc, label, r := θ.Parts[0].Of(b), θ.Parts[1].Of(b), θ.Parts[1].Width
	for d := range n {
		forbidOthers(gold.Possible(d, &single), n+1, func(head int) { arc[Row(n, d, int32(head))] = minusInf },
			func(head int) bool { return head == d+1 })
		forbidOthers(gold.Possible(n+d, &single), r, func(relation int) {
			for h := range n {
				label[(d*n+h)*r+relation] = minusInf
			}
		}, nil)
	}
}

// forbidOthers forbids all numbers below n except the possible ones and those that pass selects. nil possible allows
// all.
func forbidOthers(possible []int32, n int, forbid func(k int), pass func(k int) bool) {
	if possible == nil {
		return
	}
	for k := range n {
		if len(possible) > 0 && possible[0] == int32(k) {
			possible = possible[1:]
		} else if pass == nil || !pass(k) {
			forbid(k)
		}
	}
}

// LeastRisk implements structured.Structure. The Hamming loss counts heads and relations apart, so an arc is worth its
// probability, and a relation of a word its probability under all heads together. What is forbidden stays so.
func (t SpanningTree) LeastRisk(u *structured.Marginals, θ *structured.Potentials) {
	θ.SetAllowed(0, func(k int) float32 { return u.Parts[0].Values[k] })
	if t.Siblings {
		θ.SetAllowed(2, func(int) float32 { return 0 })
	}
	relations := make([]float32, θ.Parts[1].Width)
	for b := range θ.Len() {
		n, r := words(θ.Outputs, b), len(relations)
		from, to := u.Parts[1].Of(b), θ.Parts[1].Of(b)
		for d := range n {
			clear(relations)
			for k, p := range from[d*n*r : (d+1)*n*r] {
				relations[k%r] += p
			}
			for k, x := range to[d*n*r : (d+1)*n*r] {
				if !math.IsInf(float64(x), -1) {
					to[d*n*r+k] = relations[k%r]
				}
			}
		}
	}
}

// Locate implements structured.Locator: the relation of each word to its head.
func (SpanningTree) Locate(θ *structured.Potentials, y []int32, visit func(part, entry int, label int32)) {
	n := len(y) / 2
	for t, head := range y[:n] {
		if relation := y[n+t]; head >= 0 && relation >= 0 {
			visit(1, Row(n, t, head)*θ.Parts[1].Width+int(relation), relation)
		}
	}
}

// LogOutputs implements structured.Structure. There are nⁿ⁻¹ trees with one word at the root (Cayley), of which
// C(3n−2, n−1)/n are projective; each has Rⁿ relations.
func (t SpanningTree) LogOutputs(d *structured.Dataset, form structured.Form) float64 {
	sum := 0.0
	for i := range d.Len() {
		n := float64(d.Length(i))
		if n == 0 {
			continue
		}
		sum += n * math.Log(float64(form.Parts[1].Width))
		if t.NonProjective {
			sum += (n - 1) * math.Log(n)
		} else {
			sum += logFactorial(3*n-2) - logFactorial(n-1) - logFactorial(2*n-1) - math.Log(n)
		}
	}
	return sum / float64(max(1, d.Len()))
}

func logFactorial(n float64) float64 {
	l, _ := math.Lgamma(n + 1)
	return l
}

// SkipsRows implements structured.RowSkipper: pairs that are no arcs have no relation.
func (SpanningTree) SkipsRows(int) bool { return true }

func (SpanningTree) TaskLoss() structured.TaskLoss { return Hamming{} }

func (t SpanningTree) Each(θ *structured.Potentials, b int, visit func(y []int32)) {
	n, r := words(θ.Outputs, b), θ.Parts[1].Width
	y := make([]int32, 2*n)
	var relations func(d int)
	relations = func(d int) {
		if d == n {
			visit(y)
			return
		}
		for k := range r {
			y[n+d] = int32(k)
			relations(d + 1)
		}
	}
	var heads func(d int)
	heads = func(d int) {
		if d == n {
			if Check(y[:n]) == nil && (t.NonProjective || Projective(y[:n])) {
				relations(0)
			}
			return
		}
		for h := range n + 1 {
			if h != d+1 {
				y[d] = int32(h)
				heads(d + 1)
			}
		}
	}
	heads(0)
}

// Small draws the form of potentials of a few sentences that are small enough to enumerate: at most 4 words, or 5 with
// siblings, some empty.
func (t SpanningTree) Small(r *rand.Rand) *structured.Potentials {
	relations, rows, siblings, outputs := 1+r.IntN(3), []int{0}, []int{0}, []int{0}
	for range 1 + r.IntN(3) {
		n := r.IntN(5)
		if relations == 3 {
			n = r.IntN(4)
		}
		if t.Siblings && relations == 1 && r.IntN(2) == 0 {
			n = 5
		}
		rows, outputs = append(rows, rows[len(rows)-1]+n*n), append(outputs, outputs[len(outputs)-1]+2*n)
		siblings = append(siblings, siblings[len(siblings)-1]+Siblings(n))
	}
	θ := new(structured.Potentials)
	θ.Reshape(t.Form(relations), outputs, func(table string) []int {
		if table == SiblingRows {
			return siblings
		}
		return rows
	})
	return θ
}
