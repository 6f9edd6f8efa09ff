package oracletest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// extremes are potentials beyond what learning has, in place of some or all small integers.
var extremes = []struct {
	name   string
	all    bool // every potential is drawn, else one in five
	number func(r *rand.Rand) float64
}{
	{"NaN", false, func(*rand.Rand) float64 { return math.NaN() }},
	{"+Inf", false, func(*rand.Rand) float64 { return math.Inf(1) }},
	{"all NaN", true, func(*rand.Rand) float64 { return math.NaN() }},
	{"infinities", true, func(r *rand.Rand) float64 { return math.Inf(1 - 2*r.IntN(2)) }},
	{"ties at 1e30", true, func(*rand.Rand) float64 { return 1e30 }},
	{"ties at -1e30", true, func(*rand.Rand) float64 { return -1e30 }},
	{"1e30 or 0", true, func(r *rand.Rand) float64 { return 1e30 * float64(r.IntN(2)) }},
	{"1e30 or -1e30", true, func(r *rand.Rand) float64 { return 1e30 * float64(1-2*r.IntN(2)) }},
	{"some at 3.4e38", false, func(*rand.Rand) float64 { return math.MaxFloat32 }},
	{"all at 3.4e38", true, func(*rand.Rand) float64 { return math.MaxFloat32 }},
	{"all at -3.4e38", true, func(*rand.Rand) float64 { return -math.MaxFloat32 }},
	{"3.4e38 or -3.4e38", true, func(r *rand.Rand) float64 { return math.MaxFloat32 * float64(1-2*r.IntN(2)) }},
	{"subnormal", true, func(r *rand.Rand) float64 { return 1e-44 * float64(r.IntN(3)) }},
}

// runExtremes checks the contract of package oracles for potentials that no scorer should give: every call returns,
// with values that are NaN where potentials are NaN or +∞, and else finite unless nothing is allowed; outputs are those
// of the structure, and marginals are NaN or not negative as values are.
func runExtremes(t *testing.T, kind registry.Kind, o oracles.Maximiser) {
	for _, e := range extremes {
		t.Run(e.name, func(t *testing.T) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				for seed := range uint64(12) {
					r := rand.New(rand.NewPCG(seed, 11))
					θ := kind.Small(r)
					for k := range θ.Parts {
						for i := range θ.Parts[k].Values {
							θ.Parts[k].Values[i] = float32(r.IntN(5) - 2)
							if e.all || r.IntN(5) == 0 {
								θ.Parts[k].Values[i] = float32(e.number(r))
							}
						}
					}
					checkExtreme(t, fmt.Sprintf("seed %d", seed), o, θ)
				}
			}()
			select {
			case <-done:
			case <-time.After(2 * time.Minute):
				t.Fatal("does not return")
			}
		})
	}
}

func checkExtreme(t *testing.T, name string, o oracles.Maximiser, θ *structured.Potentials) {
	y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
	o.Max(θ, y, value)
	checkExtremeValues(t, name+", max", θ, value, true)
	for b := range θ.Len() {
		if out := y[θ.Outputs[b]:θ.Outputs[b+1]]; !isOutput(θ, b, out) {
			t.Errorf("%s: max gives %v, which is no output", name, out)
		}
	}
	for _, s := range smoothings(o, oracles.Smoothing{Kind: oracles.None}, oracles.Smoothing{Kind: oracles.L2, Mu: 1}) {
		var answer oracles.Answer
		s.Answer(o, θ, &answer, true)
		checkExtremeMarginals(t, fmt.Sprintf("%s, %v", name, s.Kind), answer.Value, &answer.U)
	}
	if s, ok := o.(oracles.Summer); ok {
		for _, μ := range []float64{1, 1e-3, 1e6} {
			var u structured.Marginals
			s.Exp(θ, μ, value, &u)
			checkExtremeValues(t, fmt.Sprintf("%s, exp at %g", name, μ), θ, value, false)
			checkExtremeMarginals(t, fmt.Sprintf("%s, exp at %g", name, μ), value, &u)
		}
	}
	if r, ok := o.(oracles.Ranker); ok {
		var best oracles.KBest
		r.TopK(θ, 3, &best)
		for b := range θ.Len() {
			if best.Count[b] > 0 {
				value[b] = best.Score[3*b]
			} else {
				value[b] = math.Inf(-1)
			}
			for k := range best.Count[b] {
				if out := best.Output(k, θ.Outputs[b], θ.Outputs[b+1]); !isOutput(θ, b, out) {
					t.Errorf("%s: top-K gives %v, which is no output", name, out)
				}
			}
		}
	}
	if _, ok := o.(oracles.Ranker); ok {
		checkExtremeValues(t, name+", top-K", θ, value, true)
	}
	if m, ok := o.(oracles.MaxMarginaler); ok {
		var all oracles.MaxMarginals
		m.MaxMarginals(θ, y, value, &all)
		checkExtremeValues(t, name+", max-marginals", θ, value, false)
	}
}

// checkExtremeMarginals checks that marginals are numbers where the value is one, and NaN where it is not.
func checkExtremeMarginals(t *testing.T, name string, value []float64, u *structured.Marginals) {
	t.Helper()
	for b, v := range value {
		for k := range u.Parts {
			for i, p := range u.Parts[k].Of(b) {
				if wrong := math.IsNaN(v); wrong != (p != p) || !wrong && !(p >= 0 && p < 1e6) {
					t.Errorf("%s: the value is %g, marginal %d of part %d is %g", name, v, i, k, p)
					break
				}
			}
		}
	}
}

// checkExtremeValues checks the values of all examples. Some calls may overlook edges per position that are on no best
// output.
func checkExtremeValues(t *testing.T, name string, θ *structured.Potentials, value []float64, overlooksSteps bool) {
	t.Helper()
	for b, v := range value {
		switch wrong, allowed, empty := isWrong(θ, b), len(Enumerate(θ, b)) > 0, θ.Outputs[b] == θ.Outputs[b+1]; {
		case empty && v == 0:
		case wrong:
			if !math.IsNaN(v) && (math.IsInf(v, 0) || !areNumbers(θ, b, overlooksSteps)) {
				t.Errorf("%s: value %g where potentials are not valid, want NaN", name, v)
			}
		case math.IsInf(v, -1) && !allowed:
		case math.IsNaN(v) || math.IsInf(v, 0):
			t.Errorf("%s: value %g of finite potentials", name, v)
		}
	}
}

// isWrong reports whether a potential of example b that some output may use is NaN, +∞ or beyond
// ±structured.MostPotential.
func isWrong(θ *structured.Potentials, b int) bool {
	for k := range θ.Parts {
		p := &θ.Parts[k]
		x := p.Of(b)
		if p.Rows == structured.Steps { // no step leads into the first position
			x = x[min(p.Width, len(x)):]
		}
		for _, x := range x {
			if !(math.Abs(float64(x)) <= structured.MostPotential) && x != minusInf {
				return true
			}
		}
	}
	return false
}

// areNumbers reports whether no potential of example b is NaN or +∞, with or without those of steps.
func areNumbers(θ *structured.Potentials, b int, withoutSteps bool) bool {
	for k := range θ.Parts {
		if withoutSteps && θ.Parts[k].Rows == structured.Steps {
			continue
		}
		for _, x := range θ.Parts[k].Of(b) {
			if x != x || x > math.MaxFloat32 {
				return false
			}
		}
	}
	return true
}

// isOutput reports whether y is an output of example b, or all zeros, which stands for none.
func isOutput(θ *structured.Potentials, b int, y []int32) bool {
	none := true
	for _, v := range y {
		none = none && v == 0
	}
	if none {
		return true
	}
	found := false
	θ.Structure.Each(θ, b, func(z []int32) {
		same := true
		for i, v := range z {
			same = same && v == y[i]
		}
		found = found || same
	})
	return found
}
