// Package matchings is the structure of bipartite matchings: every source item is linked to at most one target item,
// and every target item to at most one source item. Aligning the words of two sentences is one.
package matchings

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// Matching is the structure of matchings of n sources with m targets. An output has a number per source: 0 if it is
// unmatched, else the number of its target from 1. No target serves two sources.
//
// Potentials have the parts "pair", a score per source and target [n·m×1] in row i·m + j, and "unmatched", the score of
// a source without a target [n×1]. Pillutla et al. 2019, appendix C.3, have complete matchings only.
type Matching struct {
	Complete bool // every source must have a target: there is no part "unmatched", and no output if n > m
}

// The tables with a row per pair of a source and a target, and per source.
const (
	PairRows   = "pair"
	SourceRows = "source"
)

// Form returns the form of a matching's potentials.
func (s Matching) Form() structured.Form {
	parts := []structured.Shape{{Name: "pair", Rows: PairRows, Width: 1}, {Name: "unmatched", Rows: SourceRows, Width: 1}}
	if s.Complete {
		parts = parts[:1]
	}
	return structured.Form{Structure: s, Parts: parts}
}

// Name returns "matching" or "complete matching".
func (s Matching) Name() string {
	if s.Complete {
		return "complete matching"
	}
	return "matching"
}

// Sizes returns the numbers of sources and of targets of an example with outputs of length n and that many pairs.
// Without sources nobody can tell the number of targets, and nothing depends on it: it is 0.
func Sizes(n, pairs int) (sources, targets int) {
	if n == 0 {
		return 0, 0
	}
	return n, pairs / n
}

func (s Matching) Score(θ *structured.Potentials, b int, y []int32) float64 {
	sum, pair, m := 0.0, θ.Parts[0].Of(b), targets(θ.Parts, b, y)
	for i, number := range y {
		switch {
		case number > 0:
			sum += float64(pair[i*m+int(number)-1])
		case s.Complete: // what an oracle leaves where there is no output
			return math.Inf(-1)
		default:
			sum += float64(θ.Parts[1].Of(b)[i])
		}
	}
	return sum
}

func targets(parts []structured.Part, b int, y []int32) int {
	_, m := Sizes(len(y), len(parts[0].Of(b)))
	return m
}

func (Matching) Add(u *structured.Marginals, b int, y []int32, c float32) { add(u.Parts, b, y, c) }

// SkipsRows implements structured.RowSkipper: a source item has at most one pair.
func (Matching) SkipsRows(int) bool { return true }

func (Matching) Raise(θ *structured.Potentials, b int, y []int32, c float32) { add(θ.Parts, b, y, c) }

func add(parts []structured.Part, b int, y []int32, c float32) {
	pair, m := parts[0].Of(b), targets(parts, b, y)
	for i, number := range y {
		if number > 0 {
			pair[i*m+int(number)-1] += c
		} else {
			parts[1].Of(b)[i] += c
		}
	}
}

func (s Matching) Restrict(θ *structured.Potentials, b int, gold structured.Gold) {
	minusInf, single := float32(math.Inf(-1)), [1]int32{}
	pair, m := θ.Parts[0].Of(b), targets(θ.Parts, b, gold.Output)
	for i := range gold.Output {
		possible := gold.Possible(i, &single)
		if possible == nil {
			continue
		}
		if len(possible) > 0 && possible[0] == 0 {
			possible = possible[1:]
		} else if !s.Complete {
			θ.Parts[1].Of(b)[i] = minusInf
		}
		for j := range m {
			if len(possible) > 0 && possible[0] == int32(j)+1 {
				possible = possible[1:]
			} else {
				pair[i*m+j] = minusInf
			}
		}
	}
}

// LeastRisk implements structured.Structure for the task loss Loss{Miss: 1, False: 1}. A link of probability p has the
// expected loss 1 − p, and spares p that it would cost to lack it. So it is worth 2p − 1, and a source stays unmatched
// rather than take a link that is less likely than not. What is forbidden stays so.
func (s Matching) LeastRisk(u *structured.Marginals, θ *structured.Potentials) {
	θ.SetAllowed(0, func(k int) float32 { return 2*u.Parts[0].Values[k] - 1 })
	if !s.Complete {
		θ.SetAllowed(1, func(int) float32 { return 0 })
	}
}

// LogOutputs implements structured.Structure. There are Σ_k C(n,k)·C(m,k)·k! matchings, one term per number k of links;
// of them m!/(m−n)! are complete. The logarithm is −∞ if n > m and matchings must be complete.
func (s Matching) LogOutputs(d *structured.Dataset, form structured.Form) float64 {
	sum, pairs := 0.0, d.Rows(PairRows)
	for i := range d.Len() {
		n, m := Sizes(d.OutputLength(i), pairs[i+1]-pairs[i])
		sum += s.logCount(n, m)
	}
	return sum / float64(max(1, d.Len()))
}

func (s Matching) logCount(n, m int) float64 {
	switch {
	case s.Complete && n > m:
		return math.Inf(-1)
	case s.Complete:
		return logFactorial(m) - logFactorial(m-n)
	}
	terms := make([]float64, min(n, m)+1)
	for k := range terms {
		terms[k] = logFactorial(n) - logFactorial(n-k) + logFactorial(m) - logFactorial(m-k) - logFactorial(k)
	}
	most, total := slices.Max(terms), 0.0
	for _, t := range terms {
		total += math.Exp(t - most)
	}
	return most + math.Log(total)
}

func logFactorial(n int) float64 {
	l, _ := math.Lgamma(float64(n) + 1)
	return l
}

// TaskLoss implements structured.Structure: missing links and false ones cost 1 each.
func (Matching) TaskLoss() structured.TaskLoss { return Loss{Miss: 1, False: 1} }

// Each implements structured.Structure. Outputs come in lexicographic order.
func (s Matching) Each(θ *structured.Potentials, b int, visit func(y []int32)) {
	y := make([]int32, θ.Outputs[b+1]-θ.Outputs[b])
	taken := make([]bool, targets(θ.Parts, b, y))
	var place func(i int)
	place = func(i int) {
		if i == len(y) {
			visit(y)
			return
		}
		if y[i] = 0; !s.Complete {
			place(i + 1)
		}
		for j := range taken {
			if !taken[j] {
				taken[j], y[i] = true, int32(j)+1
				place(i + 1)
				taken[j] = false
			}
		}
	}
	place(0)
}
