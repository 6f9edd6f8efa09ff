// Package pcfg defines derivations of sentences by weighted context-free grammars in Chomsky normal form.
package pcfg

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

// Tree is the structure of a derivation of a sentence of n words by a grammar with nonterminals A and preterminals P: a
// binary tree whose spans of several words have a nonterminal each, and whose words have a preterminal each. Rules are
// A → B C, where B and C are symbols: nonterminals, numbered from 0, and after them the preterminals. A sentence of one
// word has its preterminal alone.
//
// An output has n·n numbers: number i·n + j is 0 if words i to j are no span of the tree, else 1 plus its nonterminal;
// for i = j it is 1 plus the preterminal of the word. Numbers with i > j are 0.
//
// Potentials have four parts. With N nonterminals, M preterminals and S = N + M symbols:
//
//	"span" [n·n×N]      a score of each nonterminal over words i to j, in row i·n + j, for i < j; other rows are not used
//	"terminal" [n×M]    a score of each preterminal of each word: log P(word | P) of a probabilistic grammar
//	"rule" [N·S·S]      a score of each rule A → B C, at A·S² + B·S + C; tied, or one row per example
//	"root" [N]          a score of each nonterminal as that of all words, of several; tied, or one row per example
//
// A grammar that knows no spans has zeros there; losses and what is known of a tree are in this part.
type Tree struct{}

// The parts.
const (
	span = iota
	terminal
	rule
	root
)

// Form returns the form of the potentials of a grammar with so many nonterminals and preterminals. Examples may have
// rules of their own, as those of a neural grammar with a latent variable do.
func Form(nonterminals, preterminals int, perExample bool) structured.Form {
	symbols, rows := nonterminals+preterminals, structured.Tied
	if perExample {
		rows = structured.Examples
	}
	return structured.Form{Structure: Tree{}, Parts: []structured.Shape{
		{Name: "span", Rows: constituents.SpanRows, Width: nonterminals},
		{Name: "terminal", Rows: structured.Positions, Width: preterminals},
		{Name: "rule", Rows: rows, Width: nonterminals * symbols * symbols},
		{Name: "root", Rows: rows, Width: nonterminals},
	}}
}

// Sizes returns the numbers of nonterminals and preterminals of potentials or marginals.
func Sizes(parts []structured.Part) (nonterminals, preterminals int) {
	return parts[span].Width, parts[terminal].Width
}

func (Tree) Name() string { return "PCFG" }

// Walk visits the entries of the parts that an output uses, and returns false if it is no tree of these symbols.
func Walk(y []int32, nonterminals, preterminals int, visit func(part, entry int)) bool {
	n, used, all := constituents.Words(len(y)), 0, 0
	symbols := nonterminals + preterminals
	for row, x := range y {
		i, j, most := row/n, row%n, nonterminals
		if i == j {
			most = preterminals
		}
		if x < 0 || int(x) > most || x > 0 && i > j || x == 0 && i == j {
			return false
		}
		if x > 0 {
			all++
		}
	}
	if n == 0 {
		return true
	}
	if y[n-1] == 0 {
		return false
	}
	symbol := func(i, j int) int {
		if i == j {
			return nonterminals + int(y[i*n+i]) - 1
		}
		return int(y[i*n+j]) - 1
	}
	if n > 1 {
		visit(root, symbol(0, n-1))
	}
	stack := [][2]int{{0, n - 1}}
	for len(stack) > 0 {
		i, j := stack[len(stack)-1][0], stack[len(stack)-1][1]
		stack = stack[:len(stack)-1]
		used++
		if i == j {
			visit(terminal, i*preterminals+symbol(i, i)-nonterminals)
			continue
		}
		visit(span, (i*n+j)*nonterminals+symbol(i, j))
		k := i
		for k < j && (y[i*n+k] == 0 || y[(k+1)*n+j] == 0) {
			k++
		}
		if k == j {
			return false
		}
		visit(rule, (symbol(i, j)*symbols+symbol(i, k))*symbols+symbol(k+1, j))
		stack = append(stack, [2]int{k + 1, j}, [2]int{i, k})
	}
	return used == all // the others cross
}

// Score implements structured.Structure. Numbers that are no tree score −∞.
func (Tree) Score(θ *structured.Potentials, b int, y []int32) float64 {
	nonterminals, preterminals := Sizes(θ.Parts)
	sum := 0.0
	if !Walk(y, nonterminals, preterminals, func(part, entry int) { sum += float64(θ.Parts[part].Of(b)[entry]) }) {
		return math.Inf(-1)
	}
	return sum
}

func (Tree) Add(u *structured.Marginals, b int, y []int32, c float32) {
	nonterminals, preterminals := Sizes(u.Parts)
	Walk(y, nonterminals, preterminals, func(part, entry int) { u.Parts[part].Of(b)[entry] += c })
}

// SkipsRows implements structured.RowSkipper: every word has a preterminal.
func (Tree) SkipsRows(part int) bool { return part != terminal }

// UsedRows implements structured.RowCounter: a tree has n − 1 spans, and as many rules.
func (Tree) UsedRows(numbers int) int { return constituents.Words(numbers) }

// Locate implements structured.Locator: the symbol of each span and of each word.
func (Tree) Locate(θ *structured.Potentials, y []int32, visit func(part, entry int, label int32)) {
	nonterminals, preterminals := Sizes(θ.Parts)
	n := constituents.Words(len(y))
	for row, x := range y {
		switch i, j := row/n, row%n; {
		case x <= 0 || i > j:
		case i == j:
			visit(terminal, i*preterminals+int(x)-1, int32(nonterminals)+x-1)
		default:
			visit(span, row*nonterminals+int(x)-1, x-1)
		}
	}
}

// Restrict implements structured.Restricter. A span that must be in the tree forbids those that cross it: a binary tree
// has every span that none of its own crosses.
func (Tree) Restrict(θ *structured.Potentials, b int, gold structured.Gold) {
	single, n := [1]int32{}, constituents.Words(len(gold.Output))
	spans, words := θ.Parts[span].Of(b), θ.Parts[terminal].Of(b)
	nonterminals, preterminals := Sizes(θ.Parts)
	for row := range gold.Output {
		possible := gold.Possible(row, &single)
		if possible == nil {
			continue
		}
		i, j, needed := row/n, row%n, len(possible) == 0 || possible[0] != 0
		switch {
		case i > j:
			if needed { // these numbers are 0 in all trees
				forbid(words[:preterminals])
			}
			continue
		case i == j:
			forbidOthers(words[i*preterminals:(i+1)*preterminals], possible)
			continue
		}
		forbidOthers(spans[row*nonterminals:(row+1)*nonterminals], possible)
		for inside := i; needed && inside < j; inside++ {
			for first := range i {
				forbid(spans[(first*n+inside)*nonterminals:][:nonterminals])
			}
			for last := j + 1; last < n; last++ {
				forbid(spans[((inside+1)*n+last)*nonterminals:][:nonterminals])
			}
		}
	}
}

func forbid(scores []float32) {
	for k := range scores {
		scores[k] = float32(math.Inf(-1))
	}
}

// forbidOthers forbids all symbols but those whose numbers, of outputs, are possible.
func forbidOthers(scores []float32, possible []int32) {
	if len(possible) > 0 && possible[0] == 0 {
		possible = possible[1:]
	}
	for k := range scores {
		if len(possible) > 0 && possible[0] == int32(k)+1 {
			possible = possible[1:]
		} else {
			forbid(scores[k : k+1])
		}
	}
}

// LeastRisk implements structured.RiskMinimiser. A span is worth the probability of its symbol there, less that of no
// span there.
func (Tree) LeastRisk(u *structured.Marginals, θ *structured.Potentials) {
	width, p := θ.Parts[span].Width, u.Parts[span].Values
	θ.SetAllowed(span, func(k int) float32 {
		some := float32(0)
		for _, q := range p[k-k%width : k-k%width+width] {
			some += q
		}
		return p[k] - (1 - some)
	})
	θ.SetAllowed(terminal, func(k int) float32 { return u.Parts[terminal].Values[k] })
	for _, part := range []int{rule, root} {
		θ.SetAllowed(part, func(int) float32 { return 0 })
	}
}

// LogOutputs implements structured.Structure: binary trees over n words are as many as the Catalan number of n − 1.
func (Tree) LogOutputs(d *structured.Dataset, form structured.Form) float64 {
	sum := 0.0
	for i := range d.Len() {
		n := float64(constituents.Words(d.Outputs[i+1] - d.Outputs[i]))
		if n == 0 {
			continue
		}
		sum += logFactorial(2*n-2) - logFactorial(n-1) - logFactorial(n)
		sum += (n-1)*math.Log(float64(form.Parts[span].Width)) + n*math.Log(float64(form.Parts[terminal].Width))
	}
	return sum / float64(max(1, d.Len()))
}

func logFactorial(n float64) float64 {
	l, _ := math.Lgamma(n + 1)
	return l
}

// TaskLoss implements structured.Structure: the number of wrong numbers.
func (Tree) TaskLoss() structured.TaskLoss { return Hamming{} }

func (Tree) Each(θ *structured.Potentials, b int, visit func(y []int32)) {
	nonterminals, preterminals := Sizes(θ.Parts)
	y := make([]int32, θ.Outputs[b+1]-θ.Outputs[b])
	n := constituents.Words(len(y))
	if n == 0 {
		visit(y)
		return
	}
	// node chooses the symbol and the children of words i to j, and goes on with then.
	var node func(i, j int, then func())
	node = func(i, j int, then func()) {
		most := nonterminals
		if i == j {
			most = preterminals
		}
		for x := 1; x <= most; x++ {
			if y[i*n+j] = int32(x); i == j {
				then()
			}
			for k := i; k < j; k++ {
				node(i, k, func() { node(k+1, j, then) })
			}
		}
		y[i*n+j] = 0
	}
	node(0, n-1, func() { visit(y) })
}
