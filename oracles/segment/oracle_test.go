package segment_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/oracles/segment"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
)

// each runs a check with all kernels that this build and machine have.
func each(t *testing.T, check func(t *testing.T, o *segment.Oracle)) {
	for _, name := range segment.Kernels() {
		t.Run(name, func(t *testing.T) { check(t, segment.NewOf(name)) })
	}
}

// Where every output has a tag with a large negative score, those count: Max and Exp find them.
func TestEveryOutputMasked(t *testing.T) {
	each(t, func(t *testing.T, o *segment.Oracle) {
		θ := draw(1, 3, 4, 3, 0, false)
		for k := range θ.Parts {
			clear(θ.Parts[k].Values)
		}
		const low = -1e10
		for at := range 4 {
			θ.Parts[0].Values[4+at] = float32(math.Inf(-1)) // the second position continues a segment
			if at%2 == 1 {
				θ.Parts[0].Values[4+at] = low
			}
		}
		all := oracletest.Enumerate(θ, 0)
		y, value, sum := make([]int32, θ.OutputSize()), make([]float64, 1), make([]float64, 1)
		o.Max(θ, y, value)
		var u structured.Marginals
		o.Exp(θ, 1, sum, &u)
		want := low + math.Log(float64(len(all))) // outputs are alike
		if len(all) < 2 || value[0] != low || !(math.Abs(sum[0]-want) < 1e-5) {
			t.Errorf("best %g, sum %g, of %d outputs with %g each; want %g", value[0], sum[0], len(all), all[0].Score, want)
		}
	})
}

func TestContract(t *testing.T) {
	for _, s := range []structured.Structure{segments.Segments{}, segments.Counted{}} {
		t.Run(s.Name(), func(t *testing.T) {
			each(t, func(t *testing.T, o *segment.Oracle) { oracletest.Run(t, registry.Of(s), o) })
		})
	}
}

// draw returns sequences of normally distributed scores, some of them forbidden.
func draw(count, positions, tags, longest int, forbidden float64, whole bool) *structured.Potentials {
	offsets := []int{0}
	for i := range count {
		offsets = append(offsets, (i+1)*positions)
	}
	θ := new(structured.Potentials)
	form := segments.Form(tags, longest, segments.Optional{Ends: true, Whole: whole})
	θ.Reshape(form, offsets, func(table string) []int {
		if table == segments.Rows {
			return segments.Offsets(offsets, longest)
		}
		return offsets
	})
	r := rand.New(rand.NewPCG(uint64(positions), uint64(tags)))
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			if θ.Parts[k].Values[i] = float32(r.NormFloat64()); r.Float64() < forbidden {
				θ.Parts[k].Values[i] = float32(math.Inf(-1))
			}
		}
	}
	return θ
}

// All kernels agree on sequences too long to enumerate, with more labels than a vector has lanes; the list of the best
// outputs begins with the best one, descends, and has no output twice; and every position has one tag.
func TestLong(t *testing.T) {
	for k, tags := range []int{7, 38, 61, 7, 38} {
		θ := draw(3, 150, tags, 9, 0.02, k > 2)
		var best oracles.KBest
		want, wantSum, got, sum := make([]float64, 3), make([]float64, 3), make([]float64, 3), make([]float64, 3)
		var wantU, u structured.Marginals
		y := make([]int32, θ.OutputSize())
		for n, name := range segment.Kernels() {
			o := segment.NewOf(name)
			o.Max(θ, y, got)
			o.Exp(θ, 0.7, sum, &u)
			if n == 0 {
				copy(want, got)
				copy(wantSum, sum)
				wantU.Copy(&u)
			}
			for b := range got {
				rounding := oracles.Rounding(o, θ, b, 0.7)
				oracletest.Near(t, name+": max", got[b], want[b], 0)
				oracletest.Near(t, name+": sum", sum[b], wantSum[b], 2*rounding)
				if sum[b] < got[b] || rounding > 1e-6 {
					t.Errorf("%s: sum %g of outputs whose best is %g, up to %g", name, sum[b], got[b], rounding)
				}
			}
			oracletest.NearMarginals(t, name+": marginals", &u, &wantU, 1e-5)
			for at := 0; at < len(u.Parts[0].Values); at += tags {
				total := 0.0
				for _, p := range u.Parts[0].Values[at : at+tags] {
					total += float64(p)
				}
				oracletest.Near(t, "probability of all tags", total, 1, 1e-5)
			}
			const k = 40
			o.TopK(θ, k, &best)
			for b := range got {
				score := best.Score[b*k : (b+1)*k]
				seen := map[string]bool{}
				for i := range k {
					seen[fmt.Sprint(best.Output(i, θ.Outputs[b], θ.Outputs[b+1]))] = true
				}
				if score[0] != got[b] || len(seen) != k || !slices.IsSortedFunc(score, func(a, b float64) int {
					return cmp.Compare(b, a)
				}) {
					t.Errorf("%s: %d different outputs with scores %v; the best has %g", name, len(seen), score, got[b])
				}
			}
		}
	}
}

// A document of 100,000 positions is no harder than short ones: the best output and the sum are exact up to what
// Rounding says, which is small.
func TestDocument(t *testing.T) {
	const positions, longest = 100_000, 50
	θ := draw(1, positions, 19, longest, 0, false)
	o := segment.New()
	y, value := make([]int32, positions), make([]float64, 1)
	o.Max(θ, y, value)
	if !segments.ShapeOf(θ.Parts).Valid(y) {
		t.Error("the best output is none")
	}
	oracletest.Near(t, "value", θ.Score(0, y), value[0], 0)
	sum := make([]float64, 1)
	var u structured.Marginals
	o.Exp(θ, 1e-3, sum, &u)
	if sum[0] < value[0] || sum[0] > value[0]+1e-3*positions*math.Log(19*longest) {
		t.Errorf("sum %g at a low temperature, best %g", sum[0], value[0])
	}
	wrong := 0
	for at, tag := range y {
		if u.Parts[0].Values[at*19+int(tag)] < 0.5 {
			wrong++
		}
	}
	if wrong > positions/50 {
		t.Errorf("at a low temperature %d of %d tags of the best output are improbable", wrong, positions)
	}
}
