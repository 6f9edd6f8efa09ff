package adversary

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/seeds"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
)

// inBall encloses min F over the ball ‖w‖₁ ≤ R by the penalised problems: for any λ₁, min F + λ₁(‖w‖₁ − R) is a lower
// bound, and their minimisers, scaled into the ball, have values above. λ₁ goes by bisection to where the minimiser has
// the norm R.
func inBall(x *explicit, radius float64) *enclosure {
	best := &enclosure{lower: math.Inf(-1), upper: math.Inf(1)}
	lo, hi := math.Log(1e-9), math.Log(1e3)
	try := func(w []float64) {
		if _, f := x.value(w); f < best.upper {
			best.upper, best.w = f, w
		}
	}
	var inside, outside []float64 // minimisers, and the norm of the latter
	far := 0.0
	for range 50 {
		λ1 := math.Exp((lo + hi) / 2)
		y := *x
		y.λ1 = make([]float64, x.dim())
		for j := range y.λ1 {
			y.λ1[j] = λ1
		}
		at := y.minimise()
		best.lower = max(best.lower, at.lower-λ1*radius)
		norm := 0.0
		for _, v := range at.w {
			norm += math.Abs(v)
		}
		if norm > radius {
			lo, outside, far = math.Log(λ1), at.w, norm
			try(mixed(radius/norm, outside, make([]float64, len(outside))))
		} else {
			hi, inside = math.Log(λ1), at.w
			try(inside)
		}
		if inside != nil && outside != nil { // where norms jump, the optimum is in between
			near := 0.0
			for _, v := range inside {
				near += math.Abs(v)
			}
			try(mixed((radius-near)/(far-near), outside, inside))
		}
		if best.width() <= 1e-7 {
			break
		}
	}
	return best
}

// mixed returns γa + (1−γ)b.
func mixed(γ float64, a, b []float64) []float64 {
	w := make([]float64, len(a))
	for j := range w {
		w[j] = γ*a[j] + (1-γ)*b[j]
	}
	return w
}

// Saddle-point methods bound the optimum of the hinge in a ball of weights, and come close to it where it is benign. Of
// the cells that are not, each run draws one in six; DSP_LONG has all.
func TestBall(t *testing.T) {
	n, r, long := &tally{}, rand.New(rand.NewPCG(seeds.Draw(t), 3)), os.Getenv("DSP_LONG") != ""
	for _, c := range grid(7) {
		nasty := c.nasty != "benign" || c.terms != "plain"
		if c.loss != engine.Hinge || !strings.Contains("plain, weights", c.terms) || !strings.Contains("sparse chain, matchings, choices", c.structure) {
			continue
		}
		if c.nasty == "strong" || strings.HasSuffix(c.nasty, "prior") || c.extreme() || nasty && c.structure == "matchings" { // the former have centres, for which there is no ball
			continue
		}
		if nasty && !long && r.IntN(6) > 0 {
			continue
		}
		for _, free := range []bool{false, true} {
			p := c.problem(t)
			p.Radius, p.Smoothing = 2, oracles.Smoothing{}
			if free {
				p.Lambda = 0
			}
			best := inBall(list(t, p), p.Radius)
			if !nasty && !(best.width() <= 1e-5) {
				t.Errorf("%v, λ = %g: the reference is loose: [%g, %g]", c, p.Lambda, best.lower, best.upper)
			}
			for _, j := range saddles {
				passes := 150
				if nasty {
					passes = 30
				}
				v := n.judge(t, c.String(), j, p, best, passes)
				if v.refused {
					t.Errorf("%v: %s refuses it", c, j.name)
				}
				t.Logf("%v, λ = %.2g, %s: relative gap %.3g", c, p.Lambda, j.name, v.gap)
				if !nasty {
					n.loose(t, c.String(), j, v, 0.5)
				}
			}
		}
	}
	n.log(t)
	if n.runs < 10 {
		t.Errorf("%d runs", n.runs)
	}
}

var saddles = []judged{
	{"sp-fw", func() train.Method { return &methods.SaddleFW{} }, nil},
	{"sp-bcfw", func() train.Method { return &methods.SaddleBCFW{} }, nil},
}
