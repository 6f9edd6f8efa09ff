package adversary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/record"
	"github.com/dsp-go/dsp/train/traintest"
)

// nothing is known of an optimum but that F ≥ 0.
func nothing() *enclosure { return &enclosure{lower: 0, upper: math.Inf(1)} }

// pick returns the methods with the given names.
func pick(names ...string) (some []judged) {
	for _, name := range names {
		for _, j := range all {
			if j.name == name {
				some = append(some, j)
			}
		}
	}
	return some
}

// checkerboards draws n grids whose labels alternate, but for wrong ones, with noisy inputs and Potts edges.
func checkerboards(r *rand.Rand, n, side int, wrong float64) *structured.Dataset {
	g := &structured.Graph{}
	for v := range int32(side * side) {
		if int(v)%side+1 < side {
			g.Ends = append(g.Ends, [2]int32{v, v + 1})
		}
		if int(v)+side < side*side {
			g.Ends = append(g.Ends, [2]int32{v, v + int32(side)})
		}
	}
	edges := &structured.Table{Name: structured.Edges, Offsets: []int{0}}
	d := &structured.Dataset{Name: "checkerboards", Offsets: []int{0}, Dim: 2, Alphabet: alphabet(2), Tables: []*structured.Table{edges}}
	for range n {
		for v := range side * side {
			label := int32(v/side+v%side) % 2
			if r.Float64() < wrong {
				label = 1 - label
			}
			d.Labels = append(d.Labels, label)
			d.Features = append(d.Features, float32(r.NormFloat64()+float64(label)-0.5), float32(r.NormFloat64()))
		}
		d.Graphs, d.Offsets = append(d.Graphs, g), append(d.Offsets, len(d.Labels))
		edges.Offsets = append(edges.Offsets, edges.Offsets[len(edges.Offsets)-1]+len(g.Ends))
	}
	return d
}

// pottsNet scores graphs of two labels and the same number for all edges, with relaxed inference.
func pottsNet(inputs int) *nets.Net {
	out := nets.Output{Form: graphs.Pairwise{Edges: graphs.Potts, By: graphs.Relaxed}.Form(2, 0)}
	return must(nets.Make(nets.Config{Net: "linear"}, graph.Input{Dim: inputs}, out))
}

// Relaxed crfs on checkerboards couple neighbours strongly and negatively, so that bounds converge slowly. No method
// contradicts itself, or another one: intervals overlap. (The relaxed reference of relaxed_test.go judges smaller
// grids.)
func TestCheckerboards(t *testing.T) {
	d := checkerboards(rand.New(rand.NewPCG(1, 2)), 6, 12, 0.02)
	scorer, n := pottsNet(2), &tally{}
	for _, prior := range []bool{false, true} {
		lo, hi := math.Inf(-1), math.Inf(1)
		for _, j := range pick("svrg", "lbfgs", "sdca") {
			o := &engine.Objective{Scorer: scorer, Data: d, Loss: engine.CRF, Lambda: 0.01 / 6}
			if prior {
				o.Center = traintest.DrawWeights(rand.New(rand.NewPCG(3, 4)), scorer.Dim(), 1)
				for at := range o.Center {
					o.Center[at] *= 10
				}
			}
			p := &train.Problem{Engine: engine.NewEngine(o, 2), Smoothing: traintest.Entropy, Seed: 1}
			what := fmt.Sprintf("six checkerboards, prior %v", prior)
			s := n.runs
			last := &seen{lower: math.Inf(-1), upper: math.Inf(1)}
			n.run(t, what, j, p, nothing(), 30, last)
			if n.runs == s {
				t.Errorf("%s; %s refuses", what, j.name)
			}
			lo, hi = max(lo, last.lower), min(hi, last.upper)
			t.Logf("%s; %s: [%.10g, %.10g]", what, j.name, last.lower, last.upper)
		}
		if lo > hi {
			t.Errorf("prior %v: the intervals do not overlap: dual %.10g, objective %.10g", prior, lo, hi)
		}
	}
	n.log(t)
}

// Prior weights ±M of two nearly collinear columns, with a strong regulariser.
func TestFarPriors(t *testing.T) {
	n := &tally{}
	for _, m := range []float64{1e2, 1e4, 1e6} {
		for _, loss := range []engine.Loss{engine.CRF, engine.Hinge} {
			for seed := range uint64(3) {
				r := rand.New(rand.NewPCG(5, seed))
				const labels, examples = 3, 8
				d := chainsOf(r, examples, labels)
				d.Dim = 2
				for range d.Positions() {
					x := r.NormFloat64()
					d.Features = append(d.Features, float32(x), float32(x+1e-4*r.NormFloat64()))
				}
				scorer := must(nets.New(nets.Config{Net: "linear"}, graph.Input{Dim: 2}, labels))
				o := &engine.Objective{Scorer: scorer, Data: d, Loss: loss, Lambda: 100. / examples, Center: make([]float32, scorer.Dim())}
				for l := range labels {
					c := float32(m * r.NormFloat64())
					o.Center[l], o.Center[labels+l] = c, -c
				}
				p := &train.Problem{Engine: engine.NewEngine(o, 1), Smoothing: traintest.Entropy, Seed: 1}
				best := list(t, p).minimise()
				what := fmt.Sprintf("two nearly collinear columns, priors of ±%g, %v, seed %d", m, loss, seed)
				if !(best.width() < 1e-6) {
					t.Errorf("%s: the reference is loose: [%.12g, %.12g]", what, best.lower, best.upper)
				}
				for _, j := range pick("lbfgs", "svrg", "saga", "casimir", "sdca", "bcfw", "bcpfw") {
					n.judge(t, what, j, p, best, 40)
				}
			}
		}
	}
	n.log(t)
}

// Entropies with a small μ divide potentials of far priors by it: 1e6/1e-6 is more than exponentials of sums in float64
// bear, and marginals of arcs are off, in the memory of saga, too.
func TestFarPriorsWithLittleSmoothing(t *testing.T) {
	n := &tally{}
	for seed := range uint64(4) {
		for _, c := range grid(seed) {
			if c.structure != "projective trees" || c.loss != engine.Hinge || c.terms != "plain" || c.nasty != "far prior" {
				continue
			}
			p := c.problem(t)
			best := list(t, p).minimise()
			for _, μ := range []float64{1e-6, 1e-8} {
				p.Smoothing = traintest.Entropy
				p.Smoothing.Mu = μ
				for _, j := range pick("lbfgs", "svrg", "agm", "casimir", "saga") {
					j.on = nil // keeps μ
					n.judge(t, fmt.Sprintf("%v, μ = %g", c, μ), j, p, best, 12)
				}
			}
		}
	}
	n.log(t)
	if n.runs < 32 {
		t.Errorf("%d runs", n.runs)
	}
}

// A crf with 1,000 labels sums so many terms that their roundings count.
func TestManyLabels(t *testing.T) {
	n := &tally{}
	const labels, attributes, examples = 1000, 1, 4 // a chain's marginals have a million transitions, even without steps
	for seed := range uint64(1) {
		r := rand.New(rand.NewPCG(6, seed))
		d := &structured.Dataset{Name: "many labels", Offsets: []int{0}, Alphabet: alphabet(labels)}
		for range examples {
			d.Labels, d.Offsets = append(d.Labels, r.Int32N(labels)), append(d.Offsets, len(d.Labels)+1)
		}
		d.Attributes = attributesOf(r, rowsOf(r, examples, attributes, func([][]float32) {}))
		scorer := must(sparse.NewChain(attributes, 0, labels, nets.EdgesNone))
		for _, C := range []float64{1} {
			o := &engine.Objective{Scorer: scorer, Data: d, Loss: engine.CRF, Lambda: C / examples}
			p := &train.Problem{Engine: engine.NewEngine(o, 1), Seed: 1}
			x := newWide(d, labels, attributes, o.Lambda)
			best := x.minimise()
			what := fmt.Sprintf("1,000 labels, C = %g, seed %d", C, seed)
			if !(best.width() < 1e-9) {
				t.Errorf("%s: the reference is loose: [%.12g, %.12g]", what, best.lower, best.upper)
			}
			for _, j := range pick("svrg", "lbfgs", "sdca") {
				n.loose(t, what, j, n.judge(t, what, j, p, best, 6), 1e-3)
			}
		}
	}
	n.log(t)
}

// bcfw with λ₁ on one example and on four: its duals are bounds, and it arrives.
func TestFrankWolfeWithL1(t *testing.T) {
	n := &tally{}
	for seed := range uint64(4) {
		for _, c := range []struct {
			examples int
			C, L1    float64
			scale    float32 // of the inputs
			gap      float64
		}{{1, 1, 0.1, 1, 2e-2}, {1, 0.1, 0.3, 1, 2e-2}, {1, 10, 1, 1, 2e-2}, {4, 0.01, 2, 1, 1e-3}, {4, 1, 0.1, 1, 2e-2}, {4, 0.01, 2, 10, 0.2}} {
			r := rand.New(rand.NewPCG(7, seed))
			scorer, d := denseChains(r, c.examples, func(rows [][]float32) {
				for _, row := range rows {
					for j := range row {
						row[j] *= c.scale
					}
				}
			})
			o := &engine.Objective{Scorer: scorer, Data: d, Loss: engine.Hinge, Lambda: c.C / float64(c.examples), L1: c.L1 / float64(c.examples)}
			p := &train.Problem{Engine: engine.NewEngine(o, 1), Seed: 1}
			best := list(t, p).minimise()
			what := fmt.Sprintf("%d examples, C = %g, C1 = %g, inputs times %g, seed %d", c.examples, c.C, c.L1, c.scale, seed)
			for _, j := range pick("bcfw", "bcpfw") {
				n.loose(t, what, j, n.judge(t, what, j, p, best, 300), c.gap)
			}
		}
	}
	n.log(t)
}

// What the command line prints of a run is what its state says: a Trainer's records of certified runs are bounds.
func TestRecords(t *testing.T) {
	for _, c := range grid(3) {
		if c.structure != "chain" || c.nasty != "benign" || c.terms == "tangent" {
			continue
		}
		p := c.problem(t)
		best := list(t, p).minimise()
		for _, j := range all {
			q := j.of(p)
			if q == nil {
				continue
			}
			m := j.make()
			if train.CheckTerms(m, q.Objective, false) != nil || m.Start(t.Context(), q, train.NewState(make([]float32, q.Scorer.Dim()))) != nil {
				continue
			}
			h := &record.History{}
			s := train.NewState(make([]float32, q.Scorer.Dim()))
			if _, err := (&train.Trainer{Problem: q, Method: j.make(), Passes: 12, Recorders: []record.Recorder{h}}).Run(t.Context(), s); err != nil {
				t.Errorf("%v; %s: %v", c, j.name, err)
			}
			for _, at := range h.Records {
				if float64(at.Dual) > best.upper || float64(at.Objective) < best.lower || float64(at.Objective)-float64(at.Gap) > best.upper {
					t.Errorf("%v; %s: pass %d: dual %.12g, objective %.12g, gap %.12g, the optimum is in [%.12g, %.12g]", c, j.name, at.Pass, float64(at.Dual),
						float64(at.Objective), float64(at.Gap), best.lower, best.upper)
					break
				}
			}
		}
	}
}
