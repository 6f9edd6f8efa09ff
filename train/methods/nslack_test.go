package methods

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// drawnCorners returns active outputs that the oracle finds at some weights, with drawn shares.
func drawnCorners(t *testing.T, p *train.Problem, seed int) activeOutputs {
	c, r := newActiveOutputs(p.Data), p.Rand(seed)
	for range 4 {
		if _, err := p.UpperAnswers(t.Context(), traintest.DrawWeights(r, p.Scorer.Dim(), 0.5), c.find); err != nil {
			t.Fatal(err)
		}
	}
	for i := range c {
		total := 0.0
		for k := range c[i] {
			c[i][k].α = r.Float64()
			total += c[i][k].α
		}
		c.scale(i, 1/total)
	}
	return c
}

// dualOf returns the value of the dual point of the active outputs, and its weights, from a full pass.
func dualOf(t *testing.T, p *train.Problem, c activeOutputs) (float64, []float32) {
	t.Helper()
	g, b, err := traintest.Pulled(p.Recompose(t.Context(), make([]float32, p.Scorer.Dim()), c))
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float32, len(g))
	copy(w, p.Center)
	vec.Axpy(float32(-1/p.Lambda), g, w)
	return p.DualValue(b, w), w
}

// linearNetProblem is a problem of net linear on dense inputs.
func linearNetProblem(t *testing.T, edges string) *train.Problem {
	p := traintest.NoisyProblem(25, engine.Hinge, oracles.Smoothing{}, 0.05)
	net, err := nets.Make(nets.Config{Net: "linear", Edges: edges}, graph.Input{Dim: p.Data.Dim}, nets.ChainOutput(4, edges))
	if err != nil {
		t.Fatal(err)
	}
	o := *p.Objective
	o.Scorer = net
	p.Engine = engine.NewEngine(&o, 3)
	return p
}

// sourceOf is features that are not in memory, as methods see them.
type sourceOf struct {
	features []float32
	dim      int
}

func (s sourceOf) Read(dst []float32, from, to int) error {
	copy(dst, s.features[from*s.dim:to*s.dim])
	return nil
}

func (s sourceOf) Fingerprint() (string, error) { return "", nil }

// The planes of a working set are the scores of its active outputs at all weights, its weights those of its dual point,
// and every visit raises the dual, to nearly where it is largest in the block, and returns the block's gap.
func TestWorkingSet(t *testing.T) {
	problems := batchDuals(t)
	problems["joint"] = traintest.JointProblem(t, 20, 2, 3, engine.Hinge, 0.1)
	problems["linear"] = linearNetProblem(t, nets.EdgesTransition)
	problems["linear, scored edges"] = linearNetProblem(t, nets.EdgesPosition)
	problems["linear, files"] = linearNetProblem(t, nets.EdgesTransition)
	data := problems["linear, files"].Data
	data.Source, data.Features = sourceOf{data.Features, data.Dim}, nil
	for name, p := range problems {
		t.Run(name, func(t *testing.T) {
			c := drawnCorners(t, p, 1)
			x, err := newWorkingSet(t.Context(), p, c)
			if err != nil {
				t.Fatal(err)
			}
			if covered, cells := x.covered, len(x.cells) > 0; covered != (name == "linear" || name == "linear, files") || cells != (covered || name == "joint" || name == "linear, scored edges") {
				t.Fatalf("covered: %v, %d blocks with cells", x.covered, len(x.cells))
			}
			ln, w := p.NewLane(), make([]float32, p.Scorer.Dim())
			scored := func(i int, at []float32) {
				ln.Batch.Reset(p.Data, []int{i})
				if err := p.Potentials(ln, engine.At(at)); err != nil {
					t.Fatal(err)
				}
			}
			at := traintest.DrawWeights(p.Rand(2), len(w), 1)
			x.byColumns(at, x.w)
			several := 0
			for i := range c {
				scored(i, at)
				x.score(&x.sets[i])
				gold := ln.Theta.Score(0, p.Data.Gold(i))
				for k := range c[i] {
					want := ln.Theta.Score(0, c[i][k].labels) - gold
					traintest.Near(t, "plane", x.scores[k], want, 1e-4)
				}
				several += len(c[i]) - 1
			}
			if several < p.Len() {
				t.Fatalf("%d corners beside the gold outputs prove little", several)
			}
			weighs := func() float64 {
				d, want := dualOf(t, p, c)
				x.weights(w)
				traintest.NearAll(t, "w", w, want, 1e-4)
				return d
			}
			linear := x.recompose(p)
			d := weighs()
			traintest.Near(t, "dual", p.DualValue(linear, w), d, 1e-5)
			for i := range c {
				scored(i, w)
				_, _, high, low, mean := c.extremes(i, &ln.Theta, 0)
				want := p.Data.Weight(i) * (high - mean)
				if gap := x.visit(p, i); math.Abs(gap-want) > 1e-3*max(1, math.Abs(want)) {
					t.Errorf("example %d: gap %g, want %g", i, gap, want)
				}
				now := weighs()
				if now < d-1e-5*max(1, math.Abs(d)) {
					t.Errorf("example %d: the dual fell from %g to %g", i, d, now)
				}
				if left := x.visit(p, i); left > solvedShare*p.Data.Weight(i)*(high-low)+1e-3 {
					t.Errorf("example %d: gap %g after a step of slope %g", i, left, high-low)
				}
				d = weighs()
				x.prune(i)
				of := &x.sets[i]
				if len(c[i]) != len(of.planes) || len(of.gram) != len(c[i])*len(c[i]) {
					t.Fatalf("example %d: %d corners, %d planes, %d products", i, len(c[i]), len(of.planes), len(of.gram))
				}
				scored(i, w)
				x.score(of)
				gold := ln.Theta.Score(0, p.Data.Gold(i))
				for k := range c[i] {
					traintest.Near(t, "plane that is kept", x.scores[k], ln.Theta.Score(0, c[i][k].labels)-gold, 1e-4)
					ln.V.Like(&ln.Theta)
					ln.V.Clear()
					ln.V.Add(0, c[i][k].labels, 1)
					ln.V.Add(0, p.Data.Gold(i), -1)
					φ := make([]float32, len(w))
					if err := ln.Worker.Pullback(&ln.V, φ); err != nil {
						t.Fatal(err)
					}
					traintest.Near(t, "⟨φ, φ⟩", of.gram[k*len(c[i])+k], vec.Norm2(φ), 1e-5)
				}
			}
		})
	}
}

// An extrapolation raises the dual, and leaves shares of mixtures and their weights.
func TestExtrapolate(t *testing.T) {
	problems := batchDuals(t)
	problems["linear"] = linearNetProblem(t, nets.EdgesTransition)
	for name, p := range problems {
		t.Run(name, func(t *testing.T) {
			c := drawnCorners(t, p, 1)
			x, err := newWorkingSet(t.Context(), p, c)
			if err != nil {
				t.Fatal(err)
			}
			w, moved := make([]float32, p.Scorer.Dim()), 0
			for round := range 6 {
				x.mark(round == 0)
				for i := range c {
					x.visit(p, i)
				}
				before, _ := dualOf(t, p, c)
				x.extrapolate(p)
				after, want := dualOf(t, p, c)
				if after < before-1e-5*math.Abs(before) {
					t.Errorf("round %d: the dual fell from %g to %g", round, before, after)
				}
				x.weights(w)
				traintest.NearAll(t, "w", w, want, 1e-4)
				for i := range c {
					total := 0.0
					for _, k := range c[i] {
						if total += k.α; k.α < 0 {
							t.Fatalf("example %d has a share %g", i, k.α)
						}
					}
					traintest.Near(t, "shares", total, 1, 1e-9)
				}
				if after > before {
					moved++
				}
			}
			if moved == 0 {
				t.Error("no extrapolation moved the dual point")
			}
		})
	}
}

// Merged active outputs keep the sum of the shares, in those with the largest.
func TestMergedCorners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, most := rapid.IntRange(1, 12).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "most")
		of, total := make([]activeOutput, n), 0.0
		for k := range of {
			of[k].α = float64(rapid.IntRange(0, 5).Draw(t, "share"))
			total += of[k].α
		}
		was := slices.Clone(of)
		activeOutputs{of}.merge(0, most)
		left, least, lost := 0, math.Inf(1), 0.0
		for k := range of {
			if total -= of[k].α; of[k].α > 0 {
				left++
				least = min(least, was[k].α)
			} else {
				lost = max(lost, was[k].α)
			}
		}
		if total != 0 || left > most || lost > least {
			t.Fatalf("%v of %v with at most %d", of, was, most)
		}
	})
}

// Few passes certify a narrow gap, with intervals that hold the optimum.
func TestNSlack(t *testing.T) {
	for name, p := range batchDuals(t) {
		t.Run(name, func(t *testing.T) {
			reference := &BCPFW{}
			best := traintest.Start(t, reference, p)
			traintest.Passes(t, reference, p, best, 200)
			traintest.Certify(t, reference, p, best)
			m := &NSlack{}
			s := traintest.Start(t, m, p)
			dual, primal := math.Inf(-1), math.Inf(1)
			for k := 0; k < 40 && !s.Done; k++ {
				estimate := m.best
				traintest.Passes(t, m, p, s, 1)
				if m.best < estimate {
					t.Fatalf("pass %d: the best dual value falls from %v to %v", s.Passes, estimate, m.best)
				}
				if want := p.Len() * (s.Passes + 1); s.OracleCalls != want { // each example once a pass, and once before the first
					t.Fatalf("pass %d: %d calls of the oracle, want %d", s.Passes, s.OracleCalls, want)
				}
				if s.Dual < dual || s.Primal > primal || s.Dual > best.Primal || best.Dual > s.Primal {
					t.Fatalf("pass %d: [%g, %g] after [%g, %g], bcpfw [%g, %g]", s.Passes, s.Dual, s.Primal, dual, primal, best.Dual, best.Primal)
				}
				dual, primal = s.Dual, s.Primal
				traintest.Near(t, "F(W)", s.Primal, traintest.Upper(t, p.Engine, s.W), 1e-6)
			}
			traintest.Certify(t, m, p, s)
			if gap := s.Gap() / s.Primal; !(gap >= 0 && gap <= 1e-3) {
				t.Errorf("relative gap %g after %d passes", gap, s.Passes)
			}
		})
	}
}

// sweepCounter counts how often it is asked whether to stop: once a sweep.
type sweepCounter struct {
	context.Context
	sweeps int
}

func (c *sweepCounter) Err() error {
	c.sweeps++
	return nil
}

// The sweeps of a pass end at the first whole sweep behind which their products are more than those of answers; without
// products of inputs there are all of them.
func TestSweepsOfAPass(t *testing.T) {
	for name, p := range map[string]*train.Problem{"dense": linearNetProblem(t, nets.EdgesTransition), "sparse": traintest.LinearProblem(25, 1, 0.1, 1)} {
		m := &NSlack{}
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 1)
		if _, err := m.ask(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if dense, has := name == "dense", m.set.answerProducts(p) == p.Data.Positions()*4; dense != has {
			t.Fatalf("%s: an answer takes %d products", name, m.set.answerProducts(p))
		}
		cells := 0
		for i := range m.active {
			if len(m.active[i]) > 1 {
				cells += len(m.set.sets[i].cells)
			}
		}
		c := &sweepCounter{Context: t.Context()}
		if err := m.solve(c, p, -1, func([]int) {}); err != nil {
			t.Fatal(err)
		}
		want := mostSweeps
		if name == "dense" { // a sweep has at most the products of all examples with several active outputs
			want = wholeSweep*(mostProducts*m.set.answerProducts(p)/max(1, cells)/wholeSweep) + 1
			if c.sweeps%wholeSweep != 1 || c.sweeps < want || c.sweeps >= mostSweeps {
				t.Errorf("dense: %d sweeps, want at least %d", c.sweeps, want)
			}
		} else if c.sweeps != want {
			t.Errorf("sparse: %d sweeps, want %d", c.sweeps, want)
		}
	}
}

// An interrupt ends a pass.
func TestNSlackStops(t *testing.T) {
	p, m := traintest.LinearProblem(30, 1, 0.1, 1), &NSlack{}
	s := traintest.Start(t, m, p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Pass(ctx, p, s); err == nil {
		t.Error("the pass went on")
	}
}

// A checkpoint whose parts do not fit is bad input.
func TestDamagedNSlack(t *testing.T) {
	for name, damage := range map[string]func(m *NSlack){
		"corners": func(m *NSlack) { m.active = m.active[1:] },
		"gaps":    func(m *NSlack) { m.gap = m.gap[1:] },
		"w":       func(m *NSlack) { m.at = m.at[1:] },
		"held":    func(m *NSlack) { m.held.w = slices.Clone(m.held.w[1:]) },
	} {
		p, m := traintest.LinearProblem(10, 1, 0.1, 1), &NSlack{}
		s := traintest.Start(t, m, p)
		traintest.Passes(t, m, p, s, 3)
		damage(m)
		if err := m.Start(t.Context(), p, s); err == nil {
			t.Errorf("%s: the method goes on", name)
		}
	}
}

// A sweep over working sets.
func BenchmarkWorkingSet(b *testing.B) {
	p := traintest.LinearProblem(300, 1, 0.1, 1)
	m := &NSlack{}
	s := traintest.Start(b, m, p)
	traintest.Passes(b, m, p, s, 3)
	for b.Loop() {
		for i := range m.active {
			m.set.visit(p, i)
		}
	}
}
