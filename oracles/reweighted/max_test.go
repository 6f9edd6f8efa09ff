package reweighted

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/exact"
	"github.com/dsp-go/dsp/structured/graphs"
)

// The value bounds the best score, and the labels score no more; often they meet.
func TestMaxBoundsBest(t *testing.T) {
	met := 0
	each(t, func(t *testing.T, r *rand.Rand, kind graphs.Edges, scale float64) {
		for range 10 {
			θ := drawGrid(r, kind, 4, 5, 3, scale, scale)
			y, best, value, o := make([]int32, 20), make([]float64, 1), make([]float64, 1), New()
			exact.New().Max(θ, y, best)
			o.Max(θ, y, value)
			score, slack := θ.Score(0, y), 1e-9*(1+math.Abs(best[0]))
			if !(value[0] >= best[0]-slack) || !(score <= best[0]+slack) {
				t.Fatalf("best %.12g, bound %.12g, labels %.12g", best[0], value[0], score)
			}
			if upper, exact := o.Bound(0); upper != value[0] || exact && math.Abs(score-best[0]) > slack {
				t.Fatalf("best %.12g, bound %.12g, exact %v, labels %.12g", best[0], upper, exact, score)
			} else if exact {
				met++
			}
		}
	})
	t.Logf("the bound meets the labels in %d of 150 grids", met)
	if met < 60 {
		t.Errorf("the bound meets the labels in %d of 150 grids", met)
	}
}

// What counts as the best does not depend on the scale: with potentials of about 1e-13, too, labels that count as the
// best are.
func TestExactAtAnyScale(t *testing.T) {
	r, exactly, inexactly := rand.New(rand.NewPCG(3, 8)), 0, 0
	for range 60 {
		θ := drawGrid(r, graphs.Own, 4, 5, 3, 2, 2)
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				θ.Parts[k].Values[i] *= 0x1p-45
			}
		}
		y, best, value, o := make([]int32, 20), make([]float64, 1), make([]float64, 1), New()
		exact.New().Max(θ, y, best)
		o.Max(θ, y, value)
		if upper, exact := o.Bound(0); !exact {
			inexactly++
		} else if exactly++; upper != value[0] || math.Abs(θ.Score(0, y)-best[0]) > o.Rounding(θ, 0, 0) {
			t.Fatalf("labels score %g and count as the best, which score %g", θ.Score(0, y), best[0])
		}
	}
	if min(exactly, inexactly) < 5 {
		t.Errorf("%d answers count as exact, %d do not", exactly, inexactly)
	}
}

// A pass never raises the bound.
func TestChainsDescend(t *testing.T) {
	each(t, func(t *testing.T, r *rand.Rand, kind graphs.Edges, scale float64) {
		var x example
		var c chains
		x.read(drawGrid(r, kind, 6, 6, 4, scale, scale), 0, oracles.NoMasks)
		c.begin(&x)
		bound := math.Inf(1)
		for range 20 {
			c.forward()
			next := c.backward()
			if next > bound+1e-12*math.Abs(bound) {
				t.Fatalf("from %.15g to %.15g", bound, next)
			}
			bound = next
		}
	})
}

// As μ falls, the bound of the sum falls towards that of the maximum, and stays above the best score.
func TestExpBecomesMax(t *testing.T) {
	θ := drawGrid(rand.New(rand.NewPCG(5, 5)), graphs.Own, 4, 4, 3, 1, 1)
	y, best, value := make([]int32, 16), make([]float64, 1), make([]float64, 1)
	exact.New().Max(θ, y, best)
	New().Max(θ, y, value)
	o := &Oracle{exact: exact.New(), Passes: 2000}
	before := math.Inf(1)
	for _, μ := range []float64{1, 0.3, 0.1, 0.03, 0.01} {
		h, _ := exp(o, θ, μ)
		if !(h >= best[0]) || !(h <= before) || !(h <= value[0]+μ*16*math.Log(3)+1e-3) {
			t.Errorf("μ = %g: bound %g, before %g, best %g, bound of max %g", μ, h, before, best[0], value[0])
		}
		before = h
	}
}
