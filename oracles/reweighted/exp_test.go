package reweighted

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/exact"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// each calls check for all kinds of edges and several scales of potentials.
func each(t *testing.T, check func(t *testing.T, r *rand.Rand, kind graphs.Edges, scale float64)) {
	for kind := graphs.Own; kind <= graphs.Potts; kind++ {
		for _, scale := range []float64{0.3, 1, 3, 30, 1000} {
			t.Run(fmt.Sprintf("%v, %g", kind, scale), func(t *testing.T) {
				check(t, rand.New(rand.NewPCG(uint64(scale*10), uint64(kind))), kind, scale)
			})
		}
	}
}

// The value bounds the exact sum.
func TestExpBoundsSum(t *testing.T) {
	each(t, func(t *testing.T, r *rand.Rand, kind graphs.Edges, scale float64) {
		θ, want := drawGrid(r, kind, 5, 6, 3, scale, scale), make([]float64, 1)
		exact.New().Exp(θ, 1, want, nil)
		if value, _ := exp(New(), θ, 1); !(value >= want[0]-1e-9) {
			t.Fatalf("exact %.12g, bound %.12g", want[0], value)
		}
	})
}

// The bound without iterations is the exact sum on a tree.
func TestTreesAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	θ, want := drawGrid(r, graphs.Own, 1, 9, 4, 2, 2), make([]float64, 1)
	exact.New().Exp(θ, 0.5, want, nil)
	var x example
	var d descent
	x.read(θ, 0, oracles.NoMasks)
	d.run(&x, 0.5, 0, 0)
	if got, point := 0.5*d.upper, 0.5*d.point.value; math.Abs(got-want[0]) > 1e-9 || math.Abs(point-want[0]) > 1e-9 {
		t.Errorf("bound %.12g, point %.12g, exact %.12g", got, point, want[0])
	}
}

// The marginals are the gradient of the value, by central differences, once the bound is exact.
func TestMarginalsAreGradient(t *testing.T) {
	each(t, func(t *testing.T, r *rand.Rand, kind graphs.Edges, scale float64) {
		if scale > 3 {
			t.Skip("too slow to converge that closely")
		}
		o := &Oracle{exact: exact.New(), Gap: 1e-12, Passes: 5000}
		θ := drawGrid(r, kind, 3, 4, 3, scale, scale)
		_, u := exp(o, θ, 1)
		plus, minus := shifted(r, θ, 1./64)
		up, _ := exp(o, plus, 1)
		down, _ := exp(o, minus, 1)
		if want := u.Dot(0, plus) - u.Dot(0, minus); math.Abs(up-down-want) > 2e-4 {
			t.Errorf("the bound moves by %g, want %g", up-down, want)
		}
	})
}

// However early the descent stops, the point bounds the value at other potentials from below, up to the gap at hand.
func TestPointsAreSubgradients(t *testing.T) {
	each(t, func(t *testing.T, r *rand.Rand, kind graphs.Edges, scale float64) {
		for _, passes := range []int{4, 20, 200} {
			o := &Oracle{exact: exact.New(), Gap: 1e-9, Passes: passes}
			θ := drawGrid(r, kind, 4, 4, 2, scale, scale)
			value, u := exp(o, θ, 1)
			gap := value - o.descent.point.value
			if !(gap >= -1e-9*(1+math.Abs(value))) {
				t.Fatalf("%d passes: point %.12g above the bound %.12g", passes, o.descent.point.value, value)
			}
			for range 5 {
				other, _ := shifted(r, θ, float32(scale))
				at, _ := exp(o, other, 1)
				if least := value - gap + u.Dot(0, other) - u.Dot(0, θ); !(at >= least-1e-5*(1+math.Abs(least))) {
					t.Fatalf("%d passes: bound %.12g elsewhere, at least %.12g by the point", passes, at, least)
				}
			}
		}
	})
}

// The marginals are a point of the local polytope: those of an edge's ends are those of its variables.
func TestMarginalsAgree(t *testing.T) {
	each(t, func(t *testing.T, r *rand.Rand, _ graphs.Edges, scale float64) {
		const labels = 3
		θ := drawGrid(r, graphs.Own, 4, 5, labels, scale, scale)
		_, u := exp(&Oracle{exact: exact.New(), Passes: 4}, θ, 1)
		node, edge := u.Parts[0].Values, u.Parts[1].Values
		for e, ends := range θ.Graphs[0].Ends {
			for l := range labels {
				first, second := 0.0, 0.0
				for k := range labels {
					first += float64(edge[(e*labels+l)*labels+k])
					second += float64(edge[(e*labels+k)*labels+l])
				}
				a, b := float64(node[int(ends[0])*labels+l]), float64(node[int(ends[1])*labels+l])
				if math.Abs(first-a) > 1e-6 || math.Abs(second-b) > 1e-6 {
					t.Fatalf("edge %d, label %d: %g and %g, the variables have %g and %g", e, l, first, second, a, b)
				}
			}
		}
	})
}

// A step never raises the bound.
func TestDescent(t *testing.T) {
	each(t, func(t *testing.T, r *rand.Rand, kind graphs.Edges, scale float64) {
		θ := drawGrid(r, kind, 5, 5, 3, scale, scale)
		var x example
		var d descent
		x.read(θ, 0, oracles.NoMasks)
		d.run(&x, 1, 0, 0)
		for range 40 {
			before := d.upper
			if d.improve(); d.upper > before {
				t.Fatalf("from %.15g to %.15g", before, d.upper)
			}
			if again := d.collect(); math.Abs(again-d.upper) > 1e-9*math.Abs(again) {
				t.Fatalf("kept %.15g, is %.15g", d.upper, again)
			}
		}
	})
}

// Labels and pairs of labels may be forbidden.
func TestForbiddenLabels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		θ := drawGrid(r, graphs.Own, 3, 3, 3, 1, 1)
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				if r.IntN(8) == 0 {
					θ.Parts[k].Values[i] = float32(minusInf)
				}
			}
		}
		want, y, best := make([]float64, 1), make([]int32, 9), make([]float64, 1)
		exact.New().Exp(θ, 1, want, nil)
		value, u := exp(New(), θ, 1)
		if !(value >= want[0]-1e-9) || math.IsNaN(u.Dot(0, θ)) {
			t.Fatalf("bound %g, exact %g, score of the marginals %g", value, want[0], u.Dot(0, θ))
		}
		bound := make([]float64, 1)
		New().Max(θ, y, bound)
		exact.New().Max(θ, make([]int32, 9), best)
		if !(bound[0] >= best[0]-1e-9) || θ.Score(0, y) > best[0]+1e-9 {
			t.Fatalf("bound %g, best %g, labels %g", bound[0], best[0], θ.Score(0, y))
		}
	}
}

// Neither call allocates once the scratch memory has grown.
func TestNoAllocation(t *testing.T) {
	θ, o := drawGrid(rand.New(rand.NewPCG(1, 1)), graphs.Typed, 5, 5, 3, 1, 1), New()
	y, value, u := make([]int32, 25), make([]float64, 1), new(structured.Marginals)
	if n := testing.AllocsPerRun(5, func() {
		o.Max(θ, y, value)
		o.Exp(θ, 1, value, u)
	}); n > 0 {
		t.Errorf("%g allocations per call", n)
	}
}

// Where few passes leave a bound that more passes lower, the gap says by how much at most, and the entropy of an answer
// is that of its marginals: with ⟨u, θ⟩ it makes no more than the lowest bound.
func TestGapsOfUnfinishedBounds(t *testing.T) {
	loose := 0
	each(t, func(t *testing.T, r *rand.Rand, kind graphs.Edges, scale float64) {
		for range 5 {
			θ := drawGrid(r, kind, 4, 4, 2, scale, scale)
			lowest, _ := exp(&Oracle{exact: exact.New(), Gap: 1e-12, Passes: 2000}, θ, 1)
			var a oracles.Answer
			o := &Oracle{exact: exact.New(), Passes: 1}
			oracles.Smoothing{Kind: oracles.Entropy, Mu: 1}.Answer(o, θ, &a, false)
			allowance := 1e-6 * (1 + math.Abs(lowest)) // the marginals are float32
			if a.Value[0] > lowest+10*allowance {
				loose++
			}
			if u := a.U.Dot(0, θ) + a.EntropyOf(0, θ); u > lowest+allowance || a.Value[0]-o.SumGap(0) > lowest+allowance {
				t.Errorf("bound %.9g with gap %.3g, its marginals %.9g; after many passes the bound is %.9g",
					a.Value[0], o.SumGap(0), u, lowest)
			}
		}
	})
	if loose < 10 {
		t.Errorf("few passes left something %d times, expected at least 10", loose)
	}
}
