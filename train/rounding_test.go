package train_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/choices"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/traintest"
)

// The allowance covers rounding: F and D of full passes in float32 differ by no more than it from their values in
// float64, for the marginals that the pass left in a memory. It is also not much larger than the actual rounding.
func TestAllowance(t *testing.T) {
	most := 0.0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		p := traintest.NoisyProblem(1+r.IntN(60), engine.Hinge, traintest.Entropy, math.Exp(4*r.Float64()-5))
		if seed%2 == 1 {
			traintest.Shifted(p)
		}
		w := traintest.DrawWeights(r, p.Scorer.Dim(), math.Exp(5*r.Float64()-3))
		s := oracles.Smoothing{Kind: oracles.Entropy, Mu: math.Exp(4*r.Float64() - 2)}
		memory := engine.NewMemory(p.Objective)
		pass, err := p.FullPass(t.Context(), w, s, memory)
		if err != nil {
			t.Fatal(err)
		}
		var c train.Certificate
		if err := c.Record(t.Context(), p.Engine, w, pass); err != nil {
			t.Fatal(err)
		}
		_, _, _, _, rounded := c.Bundle()
		primal, dual := doubleGap(t, p, w, memory)
		wrong := math.Abs((pass.Primal - c.Dual() - rounded) - (primal - dual))
		if most = max(most, wrong/rounded); wrong > rounded {
			t.Errorf("seed %d: the gap %g − %g is wrong by %g, allowed %g", seed, primal, dual, wrong, rounded)
		}
	}
	if most < 1e-3 {
		t.Errorf("rounding takes %g of the allowance at most", most)
	}
}

// Every entry of the gradient is 1/41, which float32 rounds towards 0 by 5/8 of the most that it may: the bound
// −‖g‖²/2λ is below what it is with entries of that size, and no other rounding is large beside it.
func TestBoundOfGradientThatIsRoundedDown(t *testing.T) {
	const n, λ = 41, 1e-6
	net, err := sparse.NewChain(n, 0, 2, nets.EdgesNone)
	if err != nil {
		t.Fatal(err)
	}
	d := &structured.Dataset{Name: "an attribute each", Offsets: []int{0}, Alphabet: structured.NewAlphabet("a", "b"), Labels: make([]int32, n),
		Attributes: &structured.Sparse{Offsets: []int{0}}}
	for i := range n {
		d.Offsets = append(d.Offsets, i+1)
		d.Attributes.Offsets = append(d.Attributes.Offsets, i+1)
		d.Attributes.Index = append(d.Attributes.Index, int32(i))
	}
	p := &train.Problem{Engine: engine.NewEngine(&engine.Objective{Scorer: net, Data: d, Loss: engine.Hinge, Lambda: λ}, 1)}
	memory, w := engine.NewMemory(p.Objective), make([]float32, net.Dim())
	pass, err := p.FullPass(t.Context(), w, oracles.Smoothing{}, memory)
	if err != nil {
		t.Fatal(err)
	}
	var c train.Certificate
	if err := c.Record(t.Context(), p.Engine, w, pass); err != nil {
		t.Fatal(err)
	}
	of := train.LowerBound{Value: math.Inf(-1)}
	if _, err := of.Recompose(t.Context(), p, &train.State{}, w, memory, train.Entropy{}, 1); err != nil {
		t.Fatal(err)
	}
	const exact = 1 - 1/(n*λ) // every example has the loss 1 and prefers the wrong label, so that g has 2n entries of ±1/n
	for what, bound := range map[string]float64{"certificate": c.Dual(), "memory": of.Value} {
		if !(bound <= exact) || bound < exact*(1+1e-6) {
			t.Errorf("the bound of the %s is %.12g, in exact arithmetic %.12g", what, bound, exact)
		}
	}
}

// A thousand pairs of candidates have probabilities such that the rounding of running sums to multiples of 2⁻²⁴ moves
// nearly half of one from the less to the more likely one of each pair. Their mixture has a larger score, and less
// entropy than the answer whose entropy the bound has: it is charged for that, and stays below the least value of the
// objective, which is at w.
func TestBoundOfProbabilitiesThatMove(t *testing.T) {
	const pairs, grid, λ = 1000, 0x1p-24, 1
	x, u := []float32{}, []float64{}
	add := func(p float64) {
		x = append(x, float32(math.Log(p)))
		u = append(u, math.Exp(float64(x[len(x)-1])))
	}
	at := 0.0 // running sum
	for k := range pairs {
		add((float64(262*k)+0.49)*grid - at)
		at += u[2*k]
		add(float64(262*(k+1))*grid - at)
		at += u[2*k+1]
	}
	add(1 - at)
	n := len(x)
	value, mean := 0.0, 0.0 // the logarithm of the sum, and Σ u x
	for _, p := range u {
		value += p
	}
	for k, p := range u {
		mean += p / value * float64(x[k])
	}
	value = math.Log(value)
	d := &structured.Dataset{Name: "candidates", Offsets: []int{0, n}, Outputs: []int{0, 1}, Labels: []int32{int32(n - 1)},
		Attributes: &structured.Sparse{Offsets: []int{0}, Index: make([]int32, n), Value: x}}
	for k := range n {
		d.Attributes.Offsets = append(d.Attributes.Offsets, k+1)
	}
	net := sparse.New(choices.Form(), []sparse.Part{{Attributes: 1, Weights: "attributes"}})
	g := mean - float64(x[n-1])
	o := &engine.Objective{Scorer: net, Data: d, Loss: engine.CRF, Lambda: λ, Center: []float32{float32(1 + g/λ)}}
	e := engine.NewEngine(o, 1)
	pass, err := e.FullPass(t.Context(), []float32{1}, oracles.Smoothing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var c train.Certificate
	if err := c.Record(t.Context(), e, []float32{1}, pass); err != nil {
		t.Fatal(err)
	}
	far := 1 - float64(o.Center[0])
	exact := value - float64(x[n-1]) + λ/2.*far*far
	if !(c.Dual() <= exact) || c.Dual() < exact-2e-3 {
		t.Errorf("the bound is %.12g, the objective is %.12g", c.Dual(), exact)
	}
}

// doubleGap returns F(w) of a hinge problem on a linear Net, and D of a memory, in float64.
func doubleGap(t *testing.T, p *train.Problem, w []float32, memory *engine.Memory) (primal, dual float64) {
	t.Helper()
	net := p.Scorer.(*traintest.Net)
	y, d, n := net.Labels, net.Inputs, float64(p.Len())
	g := make([]float64, net.Dim())
	at := func(θ []float64, k int) *float64 { return &θ[len(θ)-y*y+k] } // a transition's weight
	double := make([]float64, len(w))
	for j, x := range w {
		double[j] = float64(x)
		center := 0.0
		if p.Center != nil {
			center = float64(p.Center[j])
		}
		primal += p.Lambda / 2 * (float64(x) - center) * (float64(x) - center)
	}
	primal, dual = primal+p.Constant, p.Constant
	for i := range p.Len() {
		c, gold, length := p.Data.Weight(i), p.Data.Gold(i), p.Data.Length(i)
		x := func(s, k int) float64 { return float64(p.Data.Features[(p.Data.Offsets[i]+s)*d+k]) }
		node, edge := memory.Parts[0].Of(i), memory.Parts[1].Of(i)
		score := 0.0
		best, next := make([]float64, y), make([]float64, y)
		for s := range length {
			for l := range y {
				θ, wrong := 0.0, 1.0
				if int32(l) == gold[s] {
					wrong = 0
				}
				u := float64(node[s*y+l])
				for k := range d {
					θ += x(s, k) * double[k*y+l]
					g[k*y+l] += c / n * x(s, k) * (u - 1 + wrong)
				}
				score += (1 - wrong) * θ
				dual += c / n * u * wrong
				next[l] = θ + wrong
				if s > 0 {
					before := math.Inf(-1)
					for k := range y {
						before = max(before, best[k]+*at(double, k*y+l))
					}
					next[l] += before
				}
			}
			if s > 0 {
				k := int(gold[s-1])*y + int(gold[s])
				score += *at(double, k)
				*at(g, k) -= c / n
			}
			best, next = next, best
		}
		for k, u := range edge {
			*at(g, k) += c / n * float64(u)
		}
		top := math.Inf(-1)
		for _, b := range best {
			top = max(top, b)
		}
		primal += c / n * (top - score)
	}
	for j, x := range g {
		if p.Center != nil {
			dual += x * float64(p.Center[j])
		}
		dual -= x * x / (2 * p.Lambda)
	}
	return primal, dual
}

// Certify without keep leaves no trace.
func TestCertifyLeavesNoTrace(t *testing.T) {
	for _, m := range []train.Method{&methods.BCFW{}, &methods.BCPFW{}, &sdca.SDCA{}} {
		p := traintest.LinearProblem(30, 1, 0.05, 1)
		if m.Name() == "sdca" {
			p.Loss = engine.CRF
		}
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 3)
		before, after := &traintest.Shelf{Values: map[string]any{}}, &traintest.Shelf{Values: map[string]any{}}
		m.Archive(before)
		calls, dual := s.FullPasses, s.Dual
		if err := m.(train.Certifier).Certify(t.Context(), p, s, false); err != nil {
			t.Fatal(err)
		}
		m.Archive(after)
		if !reflect.DeepEqual(before.Values, after.Values) || s.FullPasses != calls {
			t.Errorf("%s: its archive changed", m.Name())
		}
		if s.Dual <= dual {
			t.Errorf("%s: dual %g, before it was recomposed %g", m.Name(), s.Dual, dual)
		}
	}
}

// An objective below its bound is an error, reported at the pass that finds it.
func TestContradictionIsAnError(t *testing.T) {
	p, s := traintest.LoopProblem()
	m := &script{SGD: methods.SGD{Rate: 0.1}, pass: func(_ context.Context, s *train.State) error {
		if s.Passes == 2 {
			s.Dual, s.Rounding = s.Primal+0.5, 1e-6
		}
		return nil
	}}
	_, err := (&train.Trainer{Problem: p, Method: m, Passes: 5}).Run(t.Context(), s)
	var e *train.InconsistentError
	if !errors.As(err, &e) || e.Method != "sgd" || e.Pass != 2 || math.Abs(e.Dual-e.Primal-0.5) > 1e-5 || e.Allowance != 1e-6 ||
		!strings.Contains(err.Error(), "pass 2: method sgd contradicts itself") || structured.IsBadInput(err) {
		t.Errorf("got %v", err)
	}
}

// An objective that is a little below its bound means that the allowance was too small: the interval gets wider, and
// the run goes on.
func TestRoundingWidensTheInterval(t *testing.T) {
	s := &train.State{Primal: 2, Dual: 2.000_01, Rounding: 1e-6}
	if err := s.Check("any"); err != nil || s.Dual > 2-0.99e-5 || s.Rounding < 2e-5 {
		t.Errorf("%v; the bound is %v with an allowance of %v", err, s.Dual, s.Rounding)
	}
}

// crooked is a scorer whose pullbacks have the wrong sign at transitions.
type crooked struct{ *traintest.Net }

func (c crooked) NewWorker() nets.Worker { return crookedWorker{c.Net.NewWorker()} }

type crookedWorker struct{ nets.Worker }

func (k crookedWorker) Pullback(v *structured.Marginals, grad []float32) error {
	var wrong structured.Marginals
	wrong.Copy(v)
	vec.Scale(-1, wrong.Parts[1].Values)
	return k.Worker.Pullback(&wrong, grad)
}

// Certificates detect wrong gradients.
func TestWrongGradientsContradict(t *testing.T) {
	for _, m := range []train.Method{&methods.BCFW{}, &methods.BCPFW{}, &methods.FrankWolfe{}, &methods.CuttingPlane{}, &methods.SVRG{}, &methods.Casimir{}, &methods.SAGA{}} {
		p := traintest.NoisyProblem(40, engine.Hinge, traintest.Entropy, 0.05)
		p.Scorer = crooked{&traintest.Net{Inputs: 5, Labels: 4}}
		if slices.Contains([]string{"bcfw", "bcpfw", "fw", "cutting-plane"}, m.Name()) {
			p.Smoothing = oracles.Smoothing{}
		}
		s := train.NewState(make([]float32, p.Scorer.Dim()))
		_, err := (&train.Trainer{Problem: p, Method: m, Passes: 60, Gap: 1e-3}).Run(t.Context(), s)
		if e := (*train.InconsistentError)(nil); !errors.As(err, &e) || e.Method != m.Name() {
			t.Errorf("%s: %v, objective %g, dual %g", m.Name(), err, s.Primal, s.Dual)
		}
	}
}
