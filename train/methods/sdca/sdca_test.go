package sdca

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/traintest"
)

// constrained forbids the transitions and ends that occur in no gold output.
func constrained(p *train.Problem) *train.Problem {
	y := traintest.LabelsOf(p)
	c := &chains.Constraints{Transition: make([]bool, y*y), End: make([]bool, y)}
	for i := range c.Transition {
		c.Transition[i] = true
	}
	for l := range c.End {
		c.End[l] = true
	}
	for i := range p.Len() {
		gold := p.Data.Gold(i)
		for t := 1; t < len(gold); t++ {
			c.Transition[int(gold[t-1])*y+int(gold[t])] = false
		}
		c.End[gold[len(gold)-1]] = false
	}
	p.Constraints = c
	return p
}

func sdcaProblems(t *testing.T) map[string]*train.Problem {
	return map[string]*train.Problem{
		"dense":                  traintest.NoisyProblem(60, engine.CRF, oracles.Smoothing{}, 1./60),
		"dense, shifted":         traintest.Shifted(traintest.NoisyProblem(60, engine.CRF, oracles.Smoothing{}, 0.1)),
		"dense, softmax-margin":  traintest.NoisyProblem(60, engine.SoftmaxMargin, oracles.Smoothing{}, 0.1),
		"sparse":                 traintest.AttributeProblem(t, 60, 8, 4, 0, engine.CRF, 1./60),
		"sparse, shifted":        traintest.Shifted(traintest.AttributeProblem(t, 60, 8, 4, 0, engine.CRF, 0.1)),
		"sparse, softmax-margin": traintest.Shifted(traintest.AttributeProblem(t, 60, 8, 4, 0, engine.SoftmaxMargin, 0.1)),
		"sparse, edges":          traintest.AttributeProblem(t, 60, 8, 3, 5, engine.CRF, 0.03),
		"sparse, constrained":    constrained(traintest.AttributeProblem(t, 12, 4, 5, 0, engine.CRF, 0.1)),
		"edges, constrained":     constrained(traintest.AttributeProblem(t, 12, 4, 5, 4, engine.SoftmaxMargin, 0.1)),
		"sparse, weak λ":         traintest.AttributeProblem(t, 60, 8, 4, 0, engine.CRF, 2e-3),
	}
}

// SDCA finds the optimum of L-BFGS, its certificate closes, and w matches the memory.
func TestSDCAConverges(t *testing.T) {
	ctx := context.Background()
	for name, p := range sdcaProblems(t) {
		t.Run(name, func(t *testing.T) {
			m := &SDCA{Resync: 1000}
			s := traintest.Start(t, m, p)
			dual := math.Inf(-1)
			for k := 0; k < 400 && (k == 0 || s.Gap() > 1e-5*s.Primal); k++ {
				traintest.Passes(t, m, p, s, 1)
				raw := traintest.DualOfMemory(t, p, m.w, &m.memory.u) + m.memory.meanEntropy(p.Objective)
				if margin := 1e-6 * (1 + math.Abs(raw)); raw < dual-margin || s.Primal-raw < -margin {
					t.Fatalf("pass %d: dual %.9g after %.9g, gap %g", s.Passes, raw, dual, s.Primal-raw)
				}
				dual = raw
				traintest.Certify(t, m, p, s)
			}
			t.Logf("%d passes", s.Passes)
			if rounded := s.Rounding + m.rounded; s.Gap() > 1e-5*s.Primal+rounded || rounded > 5e-5*s.Primal {
				t.Errorf("relative gap %g after %d passes, of which %g for rounding", s.Gap()/s.Primal, s.Passes, rounded/s.Primal)
			}
			f, _, err := p.Upper(ctx, s.W)
			if err != nil {
				t.Fatal(err)
			}
			traintest.Near(t, "F(W)", s.Primal, f, 1e-9)

			g, b, err := traintest.Pulled(p.Recompose(ctx, m.w, &m.memory.u))
			if err != nil {
				t.Fatal(err)
			}
			w := make([]float32, len(m.w))
			copy(w, p.Center)
			vec.Axpy(float32(-1/p.Lambda), g, w)
			if d := math.Sqrt(vec.Dist2(w, m.w) / vec.Norm2(w)); d > 1e-4 {
				t.Errorf("w is %g away from the memory's, relatively", d)
			}
			traintest.Near(t, "linear part", m.linear, b, 1e-5)
			traintest.Near(t, "entropy", m.entropy, m.memory.meanEntropy(p.Objective), 1e-6)

			reference := &quasinewton.LBFGS{}
			best := traintest.Start(t, reference, p)
			for k := 0; k < 500 && !best.Done; k++ {
				traintest.Passes(t, reference, p, best, 1)
			}
			traintest.Near(t, "optimum", s.Primal, best.Primal, 1e-5)
		})
	}
}

// No step lowers the dual, and the dual equals D computed from its definition at the memory.
func TestSDCASteps(t *testing.T) {
	for name, p := range sdcaProblems(t) {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 5} {
				m := &SDCA{}
				traintest.Start(t, m, p)
				team := newDualTeam(m, p)
				r := rand.New(rand.NewPCG(1, 1))
				before := p.DualValue(m.linear+m.entropy, m.w)
				for range 200 {
					if err := team.sweep(context.Background(), r.Perm(p.Len())[:size], size); err != nil {
						t.Fatal(err)
					}
					dual := p.DualValue(m.linear+m.entropy, m.w)
					if dual < before-1e-6*(1+math.Abs(before)) {
						t.Fatalf("the dual fell from %.9g to %.9g", before, dual)
					}
					before = dual
				}
				traintest.Near(t, "dual", before, enumeratedDual(t, m, p), 2e-5)
			}
		})
	}
}

// enumeratedDual returns D at the memory's dual potentials, by sums over all outputs of short examples.
func enumeratedDual(t *testing.T, m *SDCA, p *train.Problem) float64 {
	t.Helper()
	n, y := float64(p.Len()), traintest.LabelsOf(p)
	g, b, err := traintest.Pulled(p.Recompose(context.Background(), m.w, &m.memory.u))
	if err != nil {
		t.Fatal(err)
	}
	entropy := 0.0
	for i := range p.Len() {
		if m.memory.step[i] == 0 { // not visited
			continue
		}
		length := p.Data.Length(i)
		if length > 6 {
			entropy += p.Data.Weight(i) * m.memory.entropy[i]
			continue
		}
		var φ structured.Potentials
		var u structured.Marginals
		m.memory.φ.AsPotentials(i, length, &φ)
		u.Like(&φ)
		u.Clear()
		outputs := int(math.Pow(float64(y), float64(length)))
		labels := make([]int32, length)
		decode := func(o int) float64 {
			for s := range labels {
				labels[s] = int32(o % y)
				o /= y
			}
			return math.Exp(φ.Score(0, labels))
		}
		z := 0.0
		for o := range outputs {
			z += decode(o)
		}
		h := 0.0
		for o := range outputs {
			q := decode(o) / z
			if q > 0 {
				h -= q * math.Log(q)
				u.Add(0, labels, float32(q))
			}
		}
		for k := range u.Parts {
			if got, want := m.memory.u.Parts[k].Of(i), u.Parts[k].Of(0); !close32(got, want) {
				t.Fatalf("example %d: marginals of part %d %v, want %v", i, k, got, want)
			}
		}
		traintest.Near(t, "entropy", m.memory.entropy[i], h, 1e-5)
		entropy += p.Data.Weight(i) * h
	}
	return traintest.DualValue(p.Objective, b+entropy/n, g)
}

func close32(x, y []float32) bool {
	if len(x) != len(y) {
		return false
	}
	for i, v := range x {
		if math.Abs(float64(v-y[i])) > 1e-4 {
			return false
		}
	}
	return len(x) == len(y)
}

// The first pass moves the examples, but for a few whose every step would lower the dual, however far the scores are
// from the gold outputs by then. At the end the method stops because of rounding.
func TestSDCABeginsAndEnds(t *testing.T) {
	p := traintest.AttributeProblem(t, 200, 8, 4, 0, engine.CRF, 1e-7)
	m := &SDCA{}
	s := traintest.Start(t, m, p)
	traintest.Passes(t, m, p, s, 1)
	still := 0
	for _, η := range m.memory.step {
		if η == 0 {
			still++
		}
	}
	if still > 4 {
		t.Errorf("%d of 200 examples were not moved", still)
	}
	p = traintest.AttributeProblem(t, 60, 8, 4, 0, engine.CRF, 0.1)
	m = &SDCA{}
	s = traintest.Start(t, m, p)
	for k := 0; k < 100 && !s.Done; k++ {
		traintest.Passes(t, m, p, s, 1)
	}
	if !s.Done || s.Gap() > 1e-5*s.Primal+2*(s.Rounding+m.rounded) {
		t.Errorf("after %d passes: done %v with gap %g", s.Passes, s.Done, s.Gap())
	}
}

func TestSDCAThreads(t *testing.T) {
	for _, make := range []func() *train.Problem{
		func() *train.Problem { return traintest.AttributeProblem(t, 80, 8, 4, 0, engine.CRF, 0.02) },
		func() *train.Problem { return traintest.AttributeProblem(t, 40, 8, 3, 5, engine.SoftmaxMargin, 0.02) },
		func() *train.Problem { return traintest.NoisyProblem(60, engine.CRF, oracles.Smoothing{}, 0.02) },
	} {
		var want string
		for _, threads := range []int{1, 2, 7} {
			p := make()
			p.Engine = engine.NewEngine(p.Objective, threads)
			m := &SDCA{Resync: 3}
			s := traintest.Start(t, m, p)
			traintest.Passes(t, m, p, s, 7)
			if got := fmt.Sprint(*s); want == "" {
				want = got
			} else if got != want {
				t.Errorf("with %d threads:\n%s\nwant\n%s", threads, got, want)
			}
		}
	}
}

func TestSDCARefusals(t *testing.T) {
	net := traintest.NetProblem(10, 1, 1)
	net.Loss = engine.CRF
	partial := traintest.NoisyProblem(20, engine.CRF, traintest.Entropy, 0.1)
	traintest.Hide(partial.Data, 0.67, 3)
	for _, p := range []*train.Problem{partial, traintest.NoisyProblem(10, engine.Hinge, traintest.Entropy, 0.1), traintest.NoisyProblem(10, engine.CRF, traintest.Entropy, 0), net} {
		if err := (&SDCA{}).Start(context.Background(), p, train.NewState(make([]float32, p.Scorer.Dim()))); !structured.IsBadInput(err) {
			t.Errorf("%v, λ = %g: %v", p.Loss, p.Lambda, err)
		}
	}
}

// The shards of a sparse problem add up to its scores, with and without values and edge attributes.
func TestDualShards(t *testing.T) {
	for _, edges := range []int{0, 4} {
		for _, values := range []bool{true, false} {
			p := traintest.AttributeProblem(t, 20, 6, 3, edges, engine.CRF, 0.1)
			x := p.Data.Attributes
			for j := range x.Index { // attributes in several shards
				x.Index[j] *= rowsOfShard / 7
			}
			if !values {
				x.Value = nil
			}
			var err error
			if p.Scorer, err = sparse.NewChain(30*rowsOfShard/7, edges, 3, nets.EdgesTransition); err != nil {
				t.Fatal(err)
			}
			p.Engine = engine.NewEngine(p.Objective, 1)
			w := traintest.DrawWeights(rand.New(rand.NewPCG(1, 2)), p.Scorer.Dim(), 1)
			shards, err := newDualShards(p, 0)
			if err != nil {
				t.Fatal(err)
			}
			examples := []int{7, 2, 11}
			for _, sh := range shards {
				sh.batch.Reset(&sh.data, examples)
				if err := sh.worker.Score(w, &sh.batch, &sh.θ); err != nil {
					t.Fatal(err)
				}
			}
			var batch structured.Batch
			var want structured.Potentials
			for b, i := range examples {
				batch.Reset(p.Data, []int{i})
				if err := p.Scorer.NewWorker().Score(w, &batch, &want); err != nil {
					t.Fatal(err)
				}
				var got structured.Potentials
				got.Resize(&batch, p.Scorer.Form())
				score(shards, b, &got)
				for k := range got.Parts {
					if got, want := got.Parts[k].Values, want.Parts[k].Values; !close32(got, want) {
						t.Errorf("%d edges, values %v, example %d: scores of part %d %v, want %v", edges, values, i, k, got, want)
					}
				}
			}
			if n := len(shards[0].data.Attributes.Index); n == 0 || n == len(x.Index) {
				t.Errorf("the first of two shards has %d of %d", n, len(x.Index))
			}
		}
	}
}

// The attributes of pairs, which are many, are not copied, and their shard and the rest add up to the scores.
func TestDualShardsOfPairs(t *testing.T) {
	p := traintest.MatchingProblem(8, false, oracles.Smoothing{}, 0.1)
	shards, err := newDualShards(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	part := p.Scorer.Form().Parts[0]
	if len(shards) != 2 || shards[0].data.AttributesOf(part) != p.Data.AttributesOf(part) {
		t.Fatalf("%d shards, expected two, the first with the attributes of the data themselves", len(shards))
	}
	w := traintest.DrawWeights(rand.New(rand.NewPCG(1, 2)), p.Scorer.Dim(), 1)
	var batch structured.Batch
	for i := range p.Len() {
		for _, sh := range shards {
			sh.batch.Reset(&sh.data, []int{i})
			if err := sh.worker.Score(w, &sh.batch, &sh.θ); err != nil {
				t.Fatal(err)
			}
		}
		batch.Reset(p.Data, []int{i})
		var want, got structured.Potentials
		if err := p.Scorer.NewWorker().Score(w, &batch, &want); err != nil {
			t.Fatal(err)
		}
		got.Resize(&batch, p.Scorer.Form())
		score(shards, 0, &got)
		for k := range got.Parts {
			if got, want := got.Parts[k].Values, want.Parts[k].Values; !close32(got, want) {
				t.Errorf("example %d: scores of part %d %v, want %v", i, k, got, want)
			}
		}
	}
}

// Examples whose gaps are not large wait, even if they are above the mean, but not forever.
func TestSDCASweeps(t *testing.T) {
	m := &dualMemory{gap: []float32{1, 9, 4, 0}, age: make([]float32, 4)}
	for sweep := range 2 * (oldest + 1) {
		want := []int{1}
		if sweep%(oldest+1) == oldest {
			want = []int{0, 1, 2, 3}
		}
		if got := m.due([]int{0, 1, 2, 3}, fullPasses, false); !slices.Equal(got, want) {
			t.Errorf("sweep %d: %v, want %v", sweep, got, want)
		}
	}
	if got := m.due([]int{0, 1, 2, 3}, 0, false); len(got) != 4 {
		t.Errorf("the first pass takes %v", got)
	}
	if got := m.due([]int{0, 1, 2, 3}, fullPasses, true); len(got) != 4 {
		t.Errorf("a sweep over all takes %v", got)
	}
}

func TestSDCARecomposesItsGap(t *testing.T) {
	p, m := traintest.NoisyProblem(60, engine.CRF, oracles.Smoothing{}, 0.05), &SDCA{Resync: 1000}
	point := func() ([]float32, engine.DualPoint, float64) {
		return m.w, &m.memory.u, m.memory.meanEntropy(p.Objective)
	}
	traintest.RecomposesItsGap(t, p, m, point, func() { m.dual = 1e3 })
}

// The weights that are tried after a pass are means over the ends of passes, each of which counts half as much as the
// next; oeg, and every method on attributes alone, tries the last ones.
func TestMeanOfPasses(t *testing.T) {
	p, attributes := traintest.NoisyProblem(3, engine.CRF, oracles.Smoothing{}, 1), traintest.AttributeProblem(t, 3, 2, 2, 0, engine.CRF, 1)
	m, online, sparse := &SDCA{}, &SDCA{Online: true}, &SDCA{}
	for k, w := range []float32{1, 3, 4} {
		m.w, online.w, sparse.w = []float32{w}, []float32{w}, []float32{w}
		if got := sparse.shown(attributes)[0]; got != w {
			t.Errorf("pass %d: on attributes it tried %g, want %g", k+1, got, w)
		}
		if got, want := m.shown(p)[0], []float32{1, 2, 3}[k]; got != want || m.w[0] != w {
			t.Errorf("pass %d: tried %g, want %g; the dual point's weight %g, want %g", k+1, got, want, m.w[0], w)
		}
		if got := online.shown(p)[0]; got != w {
			t.Errorf("pass %d: oeg tried %g, want %g", k+1, got, w)
		}
	}
}

// The longest step of oeg on a smooth loss is 1, which makes a dual point the answer at w: beyond it, exponentiated
// gradient would overshoot, however often steps were accepted.
func TestOEGStepsUpToTheAnswer(t *testing.T) {
	p, m := traintest.NoisyProblem(20, engine.CRF, oracles.Smoothing{}, 1), &SDCA{Online: true}
	s := traintest.Start(t, m, p)
	traintest.Passes(t, m, p, s, 60)
	if most := slices.Max(m.memory.step); !(most > 0.9 && most <= 1) {
		t.Errorf("the longest step is %g, expected almost 1", most)
	}
}

// The examples of a step are about as long: no two of a short run are, in order, longer and then shorter, and each run
// keeps its examples.
func TestMatch(t *testing.T) {
	p := traintest.NoisyProblem(60, engine.CRF, traintest.Entropy, 0.1)
	order := rand.New(rand.NewPCG(1, 2)).Perm(p.Len())
	before := slices.Clone(order)
	match(order, p.Data)
	for lo := 0; lo < len(order); lo += 16 {
		run, was := order[lo:min(lo+16, len(order))], before[lo:min(lo+16, len(order))]
		if !slices.IsSortedFunc(run, func(i, j int) int { return p.Data.OutputLength(i) - p.Data.OutputLength(j) }) {
			t.Errorf("lengths of a run are not in order: %v", run)
		}
		if slices.Sort(was); !slices.Equal(slices.Sorted(slices.Values(run)), was) {
			t.Errorf("a run has examples %v, expected %v", run, was)
		}
	}
	if slices.Equal(order, before) {
		t.Error("all examples have one length")
	}
}
