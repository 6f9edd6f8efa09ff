// Package pcfg finds derivations of sentences by weighted context-free grammars.
package pcfg

import (
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/pcfg"
)

// Declare declares the derivations of a sentence (chart.Declare), from short spans to long ones (Cocke, Kasami,
// Younger; Baker 1979). With cells inside(i,j,A) of spans of several words and word(i,P),
//
//	inside(i,j,A) = span(i,j,A) + ⊕_{B,C} rule(A → B C) + pair(i,j,B,C)
//	pair(i,j,B,C) = ⊕_k inside(i,k,B) + inside(k+1,j,C)
//
// where the cells of pairs let a rule be used once for all k. Words are children at the ends of a span only, so pairs
// with a preterminal have one k and need no cells. A sentence of n words takes O(n²·(N² + n·N) + ranges) memory, and
// O(n²·N·S² + n³·N²) time, for N nonterminals among S symbols.
func Declare(c *chart.Chart, θ *structured.Potentials, b int) {
	g := grammar{Chart: c, n: constituents.Words(θ.Outputs[b+1] - θ.Outputs[b])}
	g.nonterminals, g.preterminals = pcfg.Sizes(θ.Parts)
	g.symbols = g.nonterminals + g.preterminals
	g.inside, g.word = c.Reserve(g.n*g.n*g.nonterminals), c.Reserve(g.n*g.preterminals)
	for i := range g.n {
		c.Define(g.word+i*g.preterminals, 1, g.preterminals)
		c.Sum(chart.Terms{
			Count: 1, Weight: chart.Run{At: c.Part(1) + i*g.preterminals, PerCell: 1},
			Place: chart.At(1 + i*g.n + i), Number: chart.Run{At: 1, PerCell: 1},
		})
	}
	for w := 1; w < g.n; w++ {
		for i := range g.n - w {
			g.declare(i, i+w)
		}
	}
	c.Cells(1)
	if g.n == 1 {
		c.Sum(chart.Terms{Count: g.preterminals, First: chart.Run{At: g.word, PerTerm: 1}})
		return
	}
	c.Sum(chart.Terms{
		Count: g.nonterminals, Weight: chart.Run{At: c.Part(3), PerTerm: 1},
		First: chart.Run{At: g.cell(0, g.n-1), PerTerm: 1},
	})
}

// grammar is what the cells of spans are declared from.
type grammar struct {
	*chart.Chart
	n, nonterminals, preterminals, symbols int
	inside, word                           int // cells (0,0,0) and (0,0)
}

// cell returns the cell of a span and nonterminal 0; the others follow.
func (g *grammar) cell(i, j int) int { return g.inside + (i*g.n+j)*g.nonterminals }

// declare defines the cells of words i to j, for all nonterminals.
func (g *grammar) declare(i, j int) {
	several := j-i > 2 // words below both children
	pairs := 0
	if several {
		pairs = g.pairs(i, j)
	}
	sums := g.Cells(g.nonterminals)
	// use adds the rules with a left child B, for all right children from a symbol on.
	use := func(left, right, count int, first, then chart.Run) {
		g.Sum(chart.Terms{
			Count: count, First: first, Then: then,
			Weight: chart.Run{At: g.Part(2) + left*g.symbols + right, PerCell: g.symbols * g.symbols, PerTerm: 1},
		})
	}
	lastWord := chart.Run{At: g.word + j*g.preterminals, PerTerm: 1}
	for b := range g.nonterminals {
		if several {
			use(b, 0, g.nonterminals, chart.Run{At: pairs + b*g.nonterminals, PerTerm: 1}, chart.Run{})
		}
		if j-i > 1 {
			use(b, g.nonterminals, g.preterminals, chart.At(g.cell(i, j-1)+b), lastWord)
		}
	}
	for p := range g.preterminals {
		firstWord := chart.At(g.word + i*g.preterminals + p)
		if j-i > 1 {
			use(g.nonterminals+p, 0, g.nonterminals, firstWord, chart.Run{At: g.cell(i+1, j), PerTerm: 1})
		} else {
			use(g.nonterminals+p, g.nonterminals, g.preterminals, firstWord, lastWord)
		}
	}
	row := i*g.n + j
	g.Define(g.cell(i, j), 1, g.nonterminals)
	g.Sum(chart.Terms{
		Count: 1, Weight: chart.Run{At: g.Part(0) + row*g.nonterminals, PerCell: 1}, First: chart.Run{At: sums, PerCell: 1},
		Place: chart.At(1 + row), Number: chart.Run{At: 1, PerCell: 1},
	})
}

// pairs defines cells of two nonterminals B and C over words i to j, each over several words, and returns the first.
func (g *grammar) pairs(i, j int) (first int) {
	first = g.Reserve(g.nonterminals * g.nonterminals)
	for b := range g.nonterminals {
		g.Define(first+b*g.nonterminals, 1, g.nonterminals)
		g.Sum(chart.Terms{
			Count: j - i - 2, First: chart.Run{At: g.cell(i, i+1) + b, PerTerm: g.nonterminals},
			Then: chart.Run{At: g.cell(i+2, j), PerCell: 1, PerTerm: g.n * g.nonterminals},
		})
	}
	return first
}
