package regpath_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/regpath"
	"github.com/dsp-go/dsp/train/traintest"
)

// solve trains at λ to a gap, from w, and returns the weights too.
func solve(t *testing.T, p *train.Problem, m train.Method, λ, gap float64) (regpath.Point, []float32) {
	t.Helper()
	p.Lambda = λ
	r, err := (&train.Trainer{Problem: p, Method: m, Passes: 1500, Gap: gap}).Run(t.Context(), train.NewState(make([]float32, p.Scorer.Dim())))
	if err != nil {
		t.Fatal(err)
	}
	return regpath.Point{Lambda: λ, Primal: float64(r.Last.Objective), Dual: float64(r.Last.Dual), Square: vec.Norm2(r.W)}, r.W
}

// A path to ε is what it says: at strengths drawn between its ends, the objective of its best model, evaluated anew, is
// within ε of the optimum, found anew; and it has about 1/√ε breakpoints.
func TestPathIsCertified(t *testing.T) {
	for name, c := range map[string]struct {
		p    *train.Problem
		make func() train.Method
	}{
		"hinge": {traintest.SparseProblem(20, engine.Hinge, oracles.Smoothing{}, 1), func() train.Method { return &methods.CuttingPlane{} }},
		"crf":   {traintest.NoisyProblem(20, engine.CRF, oracles.Smoothing{}, 1), func() train.Method { return &quasinewton.LBFGS{} }},
	} {
		t.Run(name, func(t *testing.T) {
			const low, high, ε = 0.05, 5, 0.05
			var points []regpath.Point
			var weights [][]float32
			add := func(λ float64) {
				at, w := solve(t, c.p, c.make(), λ, ε/4)
				k, _ := slices.BinarySearchFunc(points, λ, func(x regpath.Point, λ float64) int {
					return int(math.Copysign(1, x.Lambda-λ))
				})
				points, weights = slices.Insert(points, k, at), slices.Insert(weights, k, w)
			}
			add(high)
			add(low)
			for {
				λ, ok := regpath.Next(points, ε)
				if !ok {
					break
				}
				add(λ)
			}
			t.Logf("%d points, error %g", len(points), regpath.Error(points))
			if e := regpath.Error(points); !(e <= ε) || len(points) < 3 || len(points) > 30 {
				t.Fatalf("%d points, error %g", len(points), e)
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range 5 {
				λ := low * math.Pow(high/low, r.Float64())
				best, _ := solve(t, c.p, c.make(), λ, 1e-3)
				f := math.Inf(1)
				for k, w := range weights {
					from, to := regpath.Ends(points, k)
					if λ < from || λ > to {
						continue
					}
					f = traintest.Value(t, c.p.Engine, w) // at p.Lambda = λ
					if want := points[k].At(λ); math.Abs(f-want) > 1e-5*f {
						t.Errorf("λ = %g: F is %g, said to be %g", λ, f, want)
					}
					if k > 0 && points[k-1].At(λ) < f*(1-1e-6) || k+1 < len(points) && points[k+1].At(λ) < f*(1-1e-6) {
						t.Errorf("λ = %g: a neighbour of point %d is better", λ, k)
					}
				}
				if f < best.Dual || (f-best.Primal)/f > ε {
					t.Errorf("λ = %g: the path has %g, the optimum is in [%g, %g]", λ, f, best.Dual, best.Primal)
				}
				for k := 1; k < len(points); k++ { // the chord is a lower bound
					if a, b := points[k-1], points[k]; a.Lambda <= λ && λ <= b.Lambda {
						if share := (λ - a.Lambda) / (b.Lambda - a.Lambda); (1-share)*a.Dual+share*b.Dual > best.Primal {
							t.Errorf("λ = %g: a bound above the optimum %g", λ, best.Primal)
						}
					}
				}
			}
		})
	}
}

// The bound at the worst strength is the largest of all between two points.
func TestWorst(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		a := regpath.Point{Lambda: 0.1 + r.Float64(), Primal: 1 + r.Float64(), Square: 1 + r.Float64()}
		b := regpath.Point{Lambda: a.Lambda * (1.1 + r.Float64()), Square: a.Square * r.Float64()}
		b.Primal = a.At(b.Lambda) * (0.7 + 0.3*r.Float64())
		a.Dual, b.Dual = a.Primal*(0.8+0.2*r.Float64()), b.Primal*(0.8+0.2*r.Float64())
		worst, most := regpath.Worst(a, b)
		if worst < a.Lambda || worst > b.Lambda {
			t.Fatalf("%+v, %+v: worst at %g", a, b, worst)
		}
		for k := range 101 {
			λ := a.Lambda + (b.Lambda-a.Lambda)*float64(k)/100
			if e := regpath.Bound(a, b, λ); e > most+1e-12 {
				t.Fatalf("%+v, %+v: %g at %g, but %g was said to be the most", a, b, e, λ, most)
			}
		}
	}
}

// Where one end cannot be solved, the path comes near to where that begins, and stops.
func TestUnsolvedEnd(t *testing.T) {
	at := func(λ float64) regpath.Point { // F* = 2√λ, as of R(w) = 1/w
		p := regpath.Point{Lambda: λ, Primal: 2 * math.Sqrt(λ), Dual: 2 * math.Sqrt(λ), Square: 2 / math.Sqrt(λ)}
		if λ < 0.3 {
			p.Dual = 0
		}
		return p
	}
	points := []regpath.Point{at(0.01), at(100)}
	for {
		λ, ok := regpath.Next(points, 0.05)
		if !ok {
			break
		}
		if points = append(points, at(λ)); len(points) > 40 {
			t.Fatal("it does not end")
		}
		slices.SortFunc(points, func(a, b regpath.Point) int { return int(math.Copysign(1, a.Lambda-b.Lambda)) })
	}
	solved := slices.DeleteFunc(slices.Clone(points), func(p regpath.Point) bool { return p.Gap() > 0.05 })
	if e := regpath.Error(solved); e > 0.05 || solved[0].Lambda > 0.3*1.26 || regpath.Error(points) != 1 {
		t.Errorf("the solved part begins at %g, with an error of %g", solved[0].Lambda, e)
	}
}
