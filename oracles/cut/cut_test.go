package cut_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/oracles/exact"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// On grids that are narrow enough for a junction tree, both oracles find the same score, with real potentials and some
// forbidden labels.
func TestJunctionTreeAgrees(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		θ := noise(6, 60, 4+4*int(seed%2))
		for k := range θ.Parts[0].Values {
			θ.Parts[0].Values[k] *= 3
			if k%2 == 0 && r.IntN(40) == 0 {
				θ.Parts[0].Values[k] = float32(math.Inf(-1))
			}
		}
		y, got, want := make([]int32, θ.OutputSize()), make([]float64, 1), make([]float64, 1)
		cut.New().Max(θ, y, got)
		oracletest.Near(t, "score of the labels", θ.Score(0, y), got[0], 0)
		exact.New().Max(θ, y, want)
		oracletest.Near(t, "score", got[0], want[0], 1e-9)
	}
}

// Every max-marginal is the maximum with the other label forbidden, on grids whose labels depend on each other over
// long distances.
func TestMaxMarginalsAreClampedMaxima(t *testing.T) {
	for _, neighbours := range []int{4, 8} {
		θ, o := noise(20, 23, neighbours), cut.New()
		n := θ.OutputSize()
		y, again, value, m := make([]int32, n), make([]int32, n), make([]float64, 1), oracles.MaxMarginals{}
		o.MaxMarginals(θ, y, value, &m)
		node := θ.Parts[0].Values
		for k, got := range m.Of(0) {
			old := node[k^1]
			node[k^1] = float32(math.Inf(-1))
			o.Max(θ, again, value)
			node[k^1] = old
			oracletest.Near(t, "max-marginal", got, value[0], 1e-9)
		}
	}
}

// pair is a graph of two variables with edges that have the given potentials.
func pair(kind graphs.Edges, node [4]float32, edges ...[]float32) *structured.Potentials {
	θ, g := new(structured.Potentials), &structured.Graph{}
	θ.Reshape(graphs.Pairwise{Edges: kind, By: graphs.Cut}.Form(2, 0), []int{0, 2}, func(table string) []int {
		if table == graphs.EdgeRows {
			return []int{0, len(edges)}
		}
		return []int{0, 2}
	})
	copy(θ.Parts[0].Values, node[:])
	for e, p := range edges {
		ends := [2]int32{0, 1}
		if e%2 == 1 {
			ends = [2]int32{1, 0}
		}
		g.Ends = append(g.Ends, ends)
		copy(θ.Parts[1].Values[e*len(p):], p)
	}
	θ.Graphs = []*structured.Graph{g}
	return θ
}

var minusInf = float32(math.Inf(-1))

// Edges between the same variables count as one: no edge is truncated as long as their sum is submodular.
func TestSeveralEdgesAreOne(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, edges := range [][][]float32{
		{{0, 1, 1, 0}, {3, 0, 2, 1}},
		{{0, minusInf, 1, 0}, {0, 2, 1, 0}},
		{{0, 2, 1, 0}, {0, 5, minusInf, 0}},
		{{0, 2, 1, 0}, {0, minusInf, minusInf, 0.5}, {0, 1, 0, 0}},
	} {
		for range 50 {
			var node [4]float32
			for k := range node {
				node[k] = float32(2 * r.NormFloat64())
			}
			θ, o := pair(graphs.Own, node, edges...), cut.New()
			y, value := make([]int32, 2), make([]float64, 1)
			o.Max(θ, y, value)
			oracletest.Near(t, "score", value[0], oracletest.Enumerate(θ, 0)[0].Score, 1e-6)
			if err := o.Check(θ); o.Truncated() != 0 || err != nil {
				t.Errorf("%v: %d edges truncated, %v", edges, o.Truncated(), err)
			}
		}
	}
}

// Edges that are not submodular are truncated and counted, and Check names the first one.
func TestTruncation(t *testing.T) {
	for _, c := range []struct {
		name  string
		θ     *structured.Potentials
		count int
		error string
	}{
		{"table", pair(graphs.Own, [4]float32{}, []float32{0, 1, 1, 0.5}), 1,
			"example 0: edge 0 between variables 0 and 1 scores labels 00, 01, 10, 11 with 0, 1, 1, 0.5: expected equal " +
				"labels to score at least as much"},
		{"two edges of a pair", pair(graphs.Own, [4]float32{}, []float32{0, 0, 0, 0.5}, []float32{0, 1, 1, 0},
			[]float32{0, 1, 0, 0}), 1, "edge 1 between variables 1 and 0"},
		{"Potts", pair(graphs.Potts, [4]float32{}, []float32{-0.5}), 1, "with -0.5, 0, 0, -0.5"},
		{"forbidden equal labels", pair(graphs.Own, [4]float32{}, []float32{minusInf, 0, 0, 1}), 1, "with -Inf, 0, 0, 1"},
		{"rounding", pair(graphs.Own, [4]float32{}, []float32{1, 1, 1.0000001, 1}), 0, ""},
	} {
		o, y, value := cut.New(), make([]int32, 2), make([]float64, 1)
		o.Max(c.θ, y, value)
		o.Max(c.θ, y, value)
		oracletest.Near(t, c.name+": score of the labels", value[0], c.θ.Score(0, y), 0)
		if o.Truncated() != 2*c.count {
			t.Errorf("%s: %d edges truncated in two calls, want %d", c.name, o.Truncated(), 2*c.count)
		}
		o.ResetTruncated()
		err := o.Check(c.θ)
		if c.error == "" && err != nil || c.error != "" &&
			(!structured.IsBadInput(err) || !strings.Contains(err.Error(), c.error)) {
			t.Errorf("%s: %v", c.name, err)
		}
		if o.Truncated() != 0 {
			t.Errorf("%s: Check counts", c.name)
		}
	}
	three := new(structured.Potentials)
	three.Reshape(graphs.Pairwise{}.Form(3, 0), []int{0, 0}, func(string) []int { return []int{0, 0} })
	if err := cut.New().Check(three); !structured.IsBadInput(err) {
		t.Errorf("three labels: %v", err)
	}
}

// A truncated oracle still finds the best labels of the truncated potentials: those whose scores of different labels
// fall.
func TestTruncatedMax(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	kind := graphs.Pairwise{Edges: graphs.Own, By: graphs.Cut}
	for range 200 {
		θ := kind.Small(r)
		lower := new(structured.Potentials)
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				θ.Parts[k].Values[i] = float32(r.NormFloat64())
			}
		}
		lower.Copy(θ)
		for e := lower.Parts[1].Values; len(e) > 0; e = e[4:] {
			if lack := e[1] + e[2] - e[0] - e[3]; lack > 0 {
				e[1] -= lack / 2
				e[2] -= lack / 2
			}
		}
		several := false // edges of a pair are truncated together
		for _, g := range θ.Graphs {
			seen := map[[2]int32]bool{}
			for _, ends := range g.Ends {
				ends = [2]int32{min(ends[0], ends[1]), max(ends[0], ends[1])}
				several = several || seen[ends]
				seen[ends] = true
			}
		}
		if several {
			continue
		}
		o, y, value := cut.New(), make([]int32, θ.OutputSize()), make([]float64, θ.Len())
		o.Max(θ, y, value)
		for b := range value {
			out := y[θ.Outputs[b]:θ.Outputs[b+1]]
			oracletest.Near(t, "score of the labels", θ.Score(b, out), value[b], 0)
			oracletest.Near(t, "truncated score", lower.Score(b, out), oracletest.Enumerate(lower, b)[0].Score, 1e-5)
		}
	}
}

// The oracle does not allocate once its memory has grown.
func TestMaxDoesNotAllocate(t *testing.T) {
	θ, o := image(20, 30, 8), cut.New()
	y, value, m := make([]int32, θ.OutputSize()), make([]float64, 1), oracles.MaxMarginals{}
	ask := func() {
		o.Max(θ, y, value)
		o.MaxMarginals(θ, y, value, &m)
	}
	ask()
	if n := testing.AllocsPerRun(5, ask); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// The bound of truncated answers is never below the best score, and equal to it where nothing was truncated.
func TestTruncatedBound(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	kind, inexact := graphs.Pairwise{Edges: graphs.Own, By: graphs.Cut}, 0
	for range 200 {
		θ := kind.Small(r)
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				θ.Parts[k].Values[i] = float32(r.NormFloat64())
			}
		}
		o, y, value, best := cut.New(), make([]int32, θ.OutputSize()), make([]float64, θ.Len()), new(oracles.KBest)
		for _, ask := range []func(){func() { o.Max(θ, y, value) }, func() { o.TopK(θ, 2, best) }} {
			ask()
			for b := range θ.Len() {
				upper, exact := o.Bound(b)
				most := oracletest.Enumerate(θ, b)[0].Score
				if !exact {
					inexact++
				}
				if !exact && upper < most-1e-5 || exact && upper > most+1e-5 {
					t.Errorf("bound %g (exact: %v), best score %g", upper, exact, most)
				}
			}
		}
	}
	if inexact == 0 {
		t.Error("nothing was truncated")
	}
}
