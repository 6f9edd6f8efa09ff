package sdca

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// quadratic draws n chains of attributes, some of them with weights, for the quadratic loss.
func quadratic(t *testing.T, n, threads int) *train.Problem {
	net, err := sparse.NewChain(30, 0, 3, nets.EdgesNone)
	if err != nil {
		t.Fatal(err)
	}
	d := traintest.SparseChains(1, n, 30, 3, true)
	for i := range n {
		d.Weights = append(d.Weights, 0.5+float64(i%3))
	}
	o := &engine.Objective{Scorer: net, Data: d, Loss: engine.Quadratic, Lambda: 3 / float64(n)}
	return &train.Problem{Engine: engine.NewEngine(o, threads), Smoothing: oracles.Smoothing{Kind: oracles.Entropy}, Seed: 3}
}

// A step solves for the best dual point of its example, times ω, with inner products of the inputs.
func TestQuadraticStep(t *testing.T) {
	p := quadratic(t, 8, 1)
	m := &SDCA{}
	s := traintest.Start(t, m, p)
	traintest.Passes(t, m, p, s, 1)
	st := &dualStep{Lane: *p.NewLane()}
	for i := range p.Len() {
		st.visit(p, i)
		if err := p.Potentials(&st.Lane, engine.At(m.w)); err != nil {
			t.Fatal(err)
		}
		st.share, m.memory.gram[i] = 1, nil
		if err := st.gram(p, m.memory); err != nil {
			t.Fatal(err)
		}
		θ, n, labels := st.Theta.Parts[0].Values, p.Data.Length(i), 3
		old := slices.Clone(m.memory.u.Parts[0].Of(i))
		system, right := mat.NewSymDense(n, nil), mat.NewDense(n, labels, nil)
		inputs := make([]map[int32]float64, n)
		for a := range inputs {
			index, value := p.Data.Attributes.Row(p.Data.Offsets[i] + a)
			inputs[a] = map[int32]float64{}
			for k, row := range index {
				inputs[a][row] += float64(value[k])
			}
		}
		for a := range n {
			for b := range a + 1 {
				x := 0.0
				for row, v := range inputs[a] {
					x += v * inputs[b][row]
				}
				if got := float64(m.memory.gram[i][a*(a+1)/2+b]); math.Abs(got-x) > 1e-5*(1+math.Abs(x)) {
					t.Fatalf("example %d: the inner product of positions %d and %d is %g, got %g", i, a, b, x, got)
				}
				if x *= p.Data.Weight(i) / (p.Lambda * float64(p.Len())); a == b {
					x++
				}
				system.SetSym(a, b, x)
			}
			for y := range labels {
				right.Set(a, y, float64(θ[a*labels+y]-old[a*labels+y]))
			}
		}
		var best mat.Dense
		if err := best.Solve(system, right); err != nil {
			t.Fatal(err)
		}
		st.answerQuadratic(p, m.memory, p.Lambda)
		for j, u := range st.u.Parts[0].Values {
			want := float64(old[j]) + relaxation*best.At(j/labels, j%labels)
			if math.Abs(float64(u)-want) > 1e-3*(1+math.Abs(want)) {
				t.Fatalf("example %d: entry %d goes to %g, want %g", i, j, u, want)
			}
		}
	}
}

// The dual never falls, w stays the dual point's, and the bits are those of any number of threads and of a run that was
// interrupted.
func TestQuadraticSDCA(t *testing.T) {
	for _, batch := range []int{0, 5} {
		m, p := &SDCA{Resync: 1000}, quadratic(t, 40, 1)
		p.Batch = batch
		s := traintest.Start(t, m, p)
		last := math.Inf(-1)
		shelf, half := &traintest.Shelf{Values: map[string]any{}}, *s
		for k := range 12 {
			traintest.Passes(t, m, p, s, 1)
			if d, err := m.estimate(t.Context(), p); err != nil || d < last-1e-6 {
				t.Fatalf("batch %d, pass %d: the dual fell from %g to %g", batch, k+1, last, d)
			} else {
				last = d
			}
			if k == 5 {
				m.Archive(shelf)
				half = *s
				half.W = slices.Clone(s.W)
			}
		}
		u, err := p.Recompose(t.Context(), m.w, &m.memory.u)
		if err != nil {
			t.Fatal(err)
		}
		w := make([]float32, len(m.w))
		m.regulariser.Point(u.Grad, w)
		if d := math.Sqrt(vec.Dist2(w, m.w) / vec.Norm2(w)); d > 1e-4 {
			t.Errorf("batch %d: w is %g away from the dual point's, relatively", batch, d)
		}
		traintest.Near(t, "linear part and entropy", m.linear+m.entropy, u.Linear, 1e-5)
		traintest.Certify(t, m, p, s)
		if !(s.Gap() <= 0.05*s.Primal) {
			t.Errorf("batch %d: relative gap %g", batch, s.Gap()/s.Primal)
		}
		again, q := &SDCA{Resync: 1000}, quadratic(t, 40, 3)
		q.Batch = batch
		shelf.Restoring = true
		again.Archive(shelf)
		traintest.Begin(t, again, q, &half)
		traintest.Passes(t, again, q, &half, 6)
		if !slices.Equal(again.w, m.w) {
			t.Errorf("batch %d: other bits with three threads, after a restart", batch)
		}
	}
}

// Asynchronous threads, warm starts and λ₁ reach the same optimum.
func TestQuadraticVariants(t *testing.T) {
	p := quadratic(t, 40, 3)
	reference := &SDCA{}
	best := traintest.Start(t, reference, p)
	traintest.Passes(t, reference, p, best, 60)
	traintest.Certify(t, reference, p, best)
	for name, m := range map[string]*SDCA{"async": {Async: true}, "warm": {Warm: true}} {
		s := train.NewState(slices.Clone(best.W))
		traintest.Begin(t, m, p, s)
		traintest.Passes(t, m, p, s, 40)
		traintest.Certify(t, m, p, s)
		if s.Dual > best.Primal || best.Dual > s.Primal || !(s.Gap() <= 0.01*s.Primal) {
			t.Errorf("%s: [%g, %g], want a part of [%g, %g]", name, s.Dual, s.Primal, best.Dual, best.Primal)
		}
	}
	o := *p.Objective
	o.L1 = 0.05 / float64(p.Len())
	p.Engine = engine.NewEngine(&o, 1)
	m := &SDCA{}
	s := traintest.Start(t, m, p)
	traintest.Passes(t, m, p, s, 60)
	traintest.Certify(t, m, p, s)
	if !(s.Dual >= best.Dual) || !(s.Gap() <= 0.01*s.Primal) {
		t.Errorf("λ₁: [%g, %g], without [%g, %g]", s.Dual, s.Primal, best.Dual, best.Primal)
	}
}

// A long example is solved for in runs of positions. Inner products are those within each run, and the dual does not
// fall.
func TestQuadraticRuns(t *testing.T) {
	const positions, attributes = 2*blockPositions + 17, 30
	net, err := sparse.NewChain(attributes, 0, 3, nets.EdgesNone)
	if err != nil {
		t.Fatal(err)
	}
	short := traintest.SparseChains(1, 120, attributes, 3, true)
	if short.Positions() < positions {
		t.Fatalf("%d positions, the test needs %d", short.Positions(), positions)
	}
	d := *short
	d.Offsets, d.Labels = []int{0, positions}, short.Labels[:positions]
	d.Attributes = &structured.Sparse{Offsets: short.Attributes.Offsets[:positions+1]}
	d.Attributes.Index, d.Attributes.Value = short.Attributes.Index[:d.Attributes.Offsets[positions]], short.Attributes.Value[:d.Attributes.Offsets[positions]]
	o := &engine.Objective{Scorer: net, Data: &d, Loss: engine.Quadratic, Lambda: 1}
	p := &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: oracles.Smoothing{Kind: oracles.Entropy}, Seed: 3}
	m, last := &SDCA{Resync: 1000}, math.Inf(-1)
	s := traintest.Start(t, m, p)
	for k := range 10 {
		traintest.Passes(t, m, p, s, 1)
		dual, err := m.estimate(t.Context(), p)
		if err != nil || dual < last-1e-6 {
			t.Fatalf("pass %d: the dual fell from %g to %g, error %v", k+1, last, dual, err)
		}
		last = dual
	}
	packed := m.memory.gram[0]
	for from := 0; from < positions; from += blockPositions {
		for a := from; a < min(from+blockPositions, positions); a++ {
			for b := from; b <= a; b++ {
				want := 0.0
				one, values := d.Attributes.Row(a)
				other, factors := d.Attributes.Row(b)
				for i, row := range one {
					for j, column := range other {
						if row == column {
							want += float64(values[i]) * float64(factors[j])
						}
					}
				}
				if got := float64(packed[0]); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
					t.Fatalf("the inner product of positions %d and %d is %g, want %g", a, b, got, want)
				}
				packed = packed[1:]
			}
		}
	}
	if len(packed) > 0 {
		t.Errorf("%d inner products too many", len(packed))
	}
}
