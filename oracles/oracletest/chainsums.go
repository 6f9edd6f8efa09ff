package oracletest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Forbidden transitions that make one label unreachable although staying in it would be ever more likely, and others
// that lead, in unlikely steps, to the only label allowed at the end.
func expOfFewAllowed(t *testing.T, o oracles.Oracle) {
	stay := new(structured.Potentials)
	chains.Resize(stay, []int{0, 50}, 2, false)
	clear(stay.Parts[0].Values)
	stay.Parts[0].Values[1] = minusInf
	copy(stay.Parts[1].Values, []float32{-15, minusInf, minusInf, 15})
	climb := new(structured.Potentials)
	chains.Resize(climb, []int{0, 50}, 20, false)
	clear(climb.Parts[0].Values)
	for i := range climb.Parts[1].Values {
		switch to, from := i%20, i/20; to {
		case from:
			climb.Parts[1].Values[i] = 0
		case from + 1:
			climb.Parts[1].Values[i] = -9
		default:
			climb.Parts[1].Values[i] = minusInf
		}
	}
	for l := range 19 {
		climb.Parts[0].Values[l+1] = minusInf
		climb.Parts[0].Values[49*20+l] = minusInf
	}
	// Two labels that never change: the first costs 10 at each of the last 25 steps, the second at each of the 24
	// before.
	constant := new(structured.Potentials)
	chains.Resize(constant, []int{0, 50}, 2, true)
	clear(constant.Parts[0].Values)
	for t := range 50 {
		first, second := float32(0), float32(-10)
		if t >= 25 {
			first, second = second, first
		}
		copy(constant.Parts[1].Values[4*t:], []float32{first, minusInf, minusInf, second})
	}
	value, u := make([]float64, 1), new(structured.Marginals)
	o.Exp(constant, 1, value, u)
	if want := -240 + math.Log1p(math.Exp(-10)); math.Abs(value[0]-want) > 1e-4 {
		t.Errorf("value %g, want %g", value[0], want)
	}
	o.Exp(stay, 1, value, u)
	off := max(math.Abs(value[0]+15*49), math.Abs(float64(u.Parts[0].Values[2*49]-1)),
		math.Abs(float64(u.Parts[1].Values[0]-49)))
	if !(off < 1e-4) || u.Parts[0].Values[2*49+1] != 0 || u.Parts[1].Values[3] != 0 {
		t.Errorf("value %g, last marginals %g, edges %g", value[0], u.Parts[0].Values[2*49:], u.Parts[1].Values)
	}
	// 19 of 49 steps climb: C(49, 19) paths.
	paths, _ := math.Lgamma(50)
	for _, n := range []float64{20, 31} {
		less, _ := math.Lgamma(n)
		paths -= less
	}
	o.Exp(climb, 1, value, u)
	if want := paths - 19*9; math.Abs(value[0]-want) > 1e-3 || !(math.Abs(float64(u.Parts[0].Values[49*20+19]-1)) < 1e-5) {
		t.Errorf("value %g, want %g; last marginals %g", value[0], want, u.Parts[0].Values[49*20:])
	}
}

// Very long chains, and chains with many labels: the first of the top K is the max, Exp exceeds it by at most μ times
// the log of the number of outputs, and node marginals sum to 1.
func largeSizes(t *testing.T, o oracles.Oracle) {
	for _, size := range [][2]int{{50_000, 3}, {20, 700}} {
		θ := LongChain(rand.New(rand.NewPCG(9, 9)), size[0], size[1], false)
		y, best, value := make([]int32, size[0]), make([]float64, 1), make([]float64, 1)
		o.Max(θ, y, best)
		var list oracles.KBest
		o.TopK(θ, 4, &list)
		if list.Count[0] != 4 || list.Score[0] != best[0] {
			t.Errorf("%v: %d outputs, best %g, max %g", size, list.Count[0], list.Score[0], best[0])
		}
		u := new(structured.Marginals)
		for _, μ := range []float64{1, 1e-3} {
			o.Exp(θ, μ, value, u)
			if above := value[0] - best[0]; above < -1e-3*μ || above > μ*float64(size[0])*math.Log(float64(size[1])) {
				t.Errorf("%v: at μ = %g the value is %g above the max", size, μ, above)
			}
			for p := 0; p < size[0]; p++ {
				sum := 0.0
				for _, v := range u.Parts[0].Values[p*size[1] : (p+1)*size[1]] {
					sum += float64(v)
				}
				if math.Abs(sum-1) > 1e-4 {
					t.Fatalf("%v: at μ = %g the marginals of position %d sum to %g", size, μ, p, sum)
				}
			}
		}
	}
}
