package methods

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

const quadraticLabels = 4

// denseQuadratic draws n chains with weights and dense inputs, of which one column is long and one repeats another.
func denseQuadratic(t *testing.T, n int, λ float64) *train.Problem {
	d := traintest.NoisyChains(2, n, 5, quadraticLabels)
	for p := range d.Positions() {
		x := d.Features[p*d.Dim:][:d.Dim]
		x[0] *= 50
		x[1] = x[2]
	}
	r := rand.New(rand.NewPCG(7, 7))
	for range n {
		d.Weights = append(d.Weights, 0.5+r.Float64())
	}
	net, err := nets.Make(nets.Config{Net: "linear", Edges: nets.EdgesNone}, graph.Input{Dim: d.Dim}, nets.ChainOutput(quadraticLabels, nets.EdgesNone))
	if err != nil {
		t.Fatal(err)
	}
	return quadraticProblem(net, d, λ)
}

// sparseQuadratic draws n chains with attributes.
func sparseQuadratic(t *testing.T, n int, λ float64) *train.Problem {
	net, err := sparse.NewChain(40, 0, quadraticLabels, nets.EdgesNone)
	if err != nil {
		t.Fatal(err)
	}
	return quadraticProblem(net, traintest.SparseChains(1, n, 40, quadraticLabels, true), λ)
}

func quadraticProblem(scorer nets.Scorer, d *structured.Dataset, λ float64) *train.Problem {
	o := &engine.Objective{Scorer: scorer, Data: d, Loss: engine.Quadratic, Lambda: λ}
	return &train.Problem{Engine: engine.NewEngine(o, 2), Smoothing: oracles.Smoothing{Kind: oracles.Entropy}, Seed: 3}
}

// leastSquares returns the least value of the objective by the normal equations in float64, from potentials of unit
// weights.
func leastSquares(t *testing.T, p *train.Problem) (f float64) {
	t.Helper()
	o, dim := p.Objective, p.Scorer.Dim()
	a, b := mat.NewSymDense(dim, nil), mat.NewVecDense(dim, nil)
	constant, n := o.Constant, float64(p.Len())
	for i := range p.Len() {
		var rows []float64 // [numbers × dim]: ∂θ/∂w
		for j := range dim {
			unit := make([]float32, dim)
			unit[j] = 1
			θ := potentialsOf(t, p, unit, i)
			if rows == nil {
				rows = make([]float64, len(θ)*dim)
			}
			for k, x := range θ {
				rows[k*dim+j] = float64(x)
			}
		}
		c, gold := o.Data.Weight(i), o.Data.Gold(i)
		for k := range len(rows) / dim {
			row, y := rows[k*dim:][:dim], 0.0
			if int(gold[k/quadraticLabels]) == k%quadraticLabels {
				y = 1
			}
			constant += c * y / (2 * n)
			a.SymRankOne(a, c/n, mat.NewVecDense(dim, row))
			b.AddScaledVec(b, c*y/n, mat.NewVecDense(dim, row))
		}
	}
	for j := range dim {
		a.SetSym(j, j, a.At(j, j)+o.Lambda)
		if o.Center != nil {
			c := float64(o.Center[j])
			b.SetVec(j, b.AtVec(j)+o.Lambda*c)
			constant += o.Lambda / 2 * c * c
		}
	}
	var solver mat.Cholesky
	if !solver.Factorize(a) {
		t.Fatal("the normal equations are singular")
	}
	var x mat.VecDense
	if err := solver.SolveVecTo(&x, b); err != nil {
		t.Log(err)
	}
	return constant - mat.Dot(&x, b)/2
}

// potentialsOf returns the scores of labels of example i at w.
func potentialsOf(t *testing.T, p *train.Problem, w []float32, i int) []float32 {
	t.Helper()
	ln := p.NewLane()
	ln.Batch.Reset(p.Data, []int{i})
	if err := p.Potentials(ln, engine.At(w)); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(ln.Theta.Parts[0].Values)
}

// Every method that takes the quadratic loss encloses the least value, which the normal equations give, and comes close
// to it. On dense inputs lbfgs is there after two passes.
func TestQuadraticEnclosesLeastSquares(t *testing.T) {
	for name, p := range map[string]*train.Problem{
		"dense":         denseQuadratic(t, 30, 1./30),
		"dense, λ weak": denseQuadratic(t, 30, 1e-5),
		"dense, prior":  traintest.Shifted(denseQuadratic(t, 30, 0.1)),
		"attributes":    sparseQuadratic(t, 30, 1./30),
	} {
		least, pace := leastSquares(t, p), Pace{Lipschitz: 4}
		if _, rows := p.Rows(); !rows {
			pace.Lipschitz = 1e5 // the long column
		}
		for _, c := range []struct {
			m      train.Method
			passes int
			gap    float64 // relative; 0: 5 % with attributes, and with dense inputs whatever the long column allows
		}{
			{&quasinewton.LBFGS{}, 40, 1e-4}, {&SVRG{Pace: pace}, 6, 0}, {&SAGA{Pace: pace}, 9, 0}, {&Casimir{Pace: pace}, 6, 0}, {&AGM{}, 12, 0}, {&sdca.SDCA{}, 12, 0},
		} {
			if _, full := c.m.(*quasinewton.LBFGS); full && name != "attributes" {
				c.passes = 2
			}
			s := traintest.Start(t, c.m, p)
			for k := 0; k < c.passes && !s.Done; k++ {
				traintest.Passes(t, c.m, p, s, 1)
				if by, ok := c.m.(train.Certifier); ok {
					traintest.Certify(t, by, p, s)
				}
				if s.Dual > least+1e-12 || s.Primal < least-1e-12 {
					t.Fatalf("%s, %s: pass %d: the interval [%g, %g] leaves out the least value %g", name, c.m.Name(), k+1, s.Dual, s.Primal, least)
				}
			}
			t.Logf("%s, %s: relative gap %.2g", name, c.m.Name(), s.Gap()/s.Primal)
			if c.gap > 0 && !(s.Gap() <= c.gap*s.Primal) {
				t.Errorf("%s, %s: relative gap %g", name, c.m.Name(), s.Gap()/s.Primal)
			}
			if name == "attributes" && !(s.Gap() <= 0.05*s.Primal) {
				t.Errorf("%s, %s: relative gap %g", name, c.m.Name(), s.Gap()/s.Primal)
			}
		}
	}
}

// So do saga and sdca where the centre has large scores, so that ½‖v‖² is most of what their memory proves.
func TestQuadraticMemoryEncloses(t *testing.T) {
	p := traintest.Shifted(sparseQuadratic(t, 30, 20))
	p.Center = traintest.DrawWeights(rand.New(rand.NewPCG(5, 6)), p.Scorer.Dim(), 2)
	least := leastSquares(t, p)
	for _, m := range []train.Method{&SAGA{Pace: Pace{Lipschitz: 4}}, &sdca.SDCA{}} {
		s := train.NewState(slices.Clone(p.Center))
		traintest.Begin(t, m, p, s)
		for k := range 8 {
			traintest.Passes(t, m, p, s, 1)
			if by, ok := m.(train.Certifier); ok {
				traintest.Certify(t, by, p, s)
			}
			if s.Dual > least+1e-9 || s.Primal < least-1e-9 {
				t.Fatalf("%s, pass %d: the interval [%g, %g] leaves out the least value %g", m.Name(), k+1, s.Dual, s.Primal, least)
			}
		}
		if !(s.Gap() <= 1e-3*s.Primal) {
			t.Errorf("%s: relative gap %g", m.Name(), s.Gap()/s.Primal)
		}
	}
}

// The objective and its gradient are those of the formula.
func TestQuadraticValueAndGradient(t *testing.T) {
	for name, p := range map[string]*train.Problem{"dense": denseQuadratic(t, 9, 0.2), "attributes": sparseQuadratic(t, 9, 0.2)} {
		w := traintest.DrawWeights(rand.New(rand.NewPCG(3, 4)), p.Scorer.Dim(), 0.3)
		value := func(w []float32) float64 {
			f := 0.0
			for i := range p.Len() {
				gold := p.Data.Gold(i)
				for k, x := range potentialsOf(t, p, w, i) {
					y := 0.0
					if int(gold[k/quadraticLabels]) == k%quadraticLabels {
						y = 1
					}
					f += p.Data.Weight(i) * (float64(x) - y) * (float64(x) - y) / 2 / float64(p.Len())
				}
			}
			return f + p.Regulariser(w)
		}
		pass, err := p.FullPass(t.Context(), w, p.Smoothing, nil)
		if err != nil {
			t.Fatal(err)
		}
		traintest.Near(t, name+": F", pass.Primal, value(w), 1e-6)
		if f := traintest.Value(t, p.Engine, w); math.Abs(f-pass.Primal) > 1e-9*f {
			t.Errorf("%s: F is %g without a gradient, %g with it", name, f, pass.Primal)
		}
		for j := range w {
			up, down := slices.Clone(w), slices.Clone(w)
			up[j] += 0.125
			down[j] -= 0.125
			slope := (value(up) - value(down)) / (float64(up[j]) - float64(down[j]))
			if got := float64(pass.Grad[j]) + p.Lambda*float64(w[j]); math.Abs(got-slope) > 1e-4*(1+math.Abs(slope)) {
				t.Fatalf("%s: the gradient's entry %d is %g, by differences %g", name, j, got, slope)
			}
		}
	}
}

// Methods whose steps need outputs refuse the loss by name, and so do partial labels.
func TestQuadraticRefusals(t *testing.T) {
	p := denseQuadratic(t, 5, 0.1)
	for _, m := range []train.Method{&sdca.SDCA{Online: true}, &BCFW{}, &BCPFW{}, &ProxLinear{}, &BatchProxLinear{ModelBatch: 2}, &CuttingPlane{}, &FrankWolfe{}, &SVRG{}, &SAGA{}, &Casimir{}} {
		var refused *train.RequirementError
		if err := m.Start(t.Context(), p, train.NewState(make([]float32, p.Scorer.Dim()))); !errors.As(err, &refused) {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
	d := *p.Data
	d.LabelSets = [][]int32{{0, 1}}
	o := *p.Objective
	o.Data = &d
	if err := o.Check(); !structured.IsBadInput(err) {
		t.Errorf("partial labels: %v", err)
	}
}
