package adversary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/seeds"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// relaxedNasties are those of the grid that a relaxed problem may have.
var relaxedNasties = []string{"benign", "collinear", "nearly collinear", "single", "large λ", "four", "strong", "far prior"}

// No method certifies what is not so of a relaxed objective.
func TestRelaxed(t *testing.T) {
	seed := seeds.Draw(t)
	var cells []cell
	for _, edges := range []graphs.Edges{graphs.Own, graphs.Typed, graphs.Potts} {
		s := graphs.Pairwise{Edges: edges, By: graphs.Relaxed}
		for _, loss := range []engine.Loss{engine.CRF, engine.SoftmaxMargin} {
			for _, of := range []string{"plain", "prior", "weights"} {
				for _, nasty := range relaxedNasties {
					cells = append(cells, cell{"relaxed " + s.Edges.String(), graphsOf(s, false), loss, of, nasty, seed})
				}
			}
		}
	}
	if os.Getenv("DSP_LONG") == "" {
		r := rand.New(rand.NewPCG(seed, 2))
		r.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		cells = cells[:8]
	}
	n, loose := &tally{}, 0
	for _, c := range cells {
		p := c.problem(t)
		best := newRelaxed(t, p).minimise()
		if !(best.width() <= 1e-5) {
			loose++
			t.Logf("%v: the reference is loose: [%.12g, %.12g]", c, best.lower, best.upper)
		}
		for _, j := range all {
			v := n.judge(t, c.String(), j, p, best, 30)
			if c.benign() && j.name == "lbfgs" {
				n.loose(t, c.String(), j, v, 1e-3)
			}
		}
	}
	n.log(t)
	if loose > len(cells)/5+1 {
		t.Errorf("the reference is loose on %d of %d cells", loose, len(cells))
	}
}

// On forests, the relaxed reference is the explicit one.
func TestRelaxedReference(t *testing.T) {
	for seed := range uint64(3) {
		for _, loss := range []engine.Loss{engine.CRF, engine.SoftmaxMargin} {
			c := cell{"forest", graphsOf(graphs.Pairwise{Edges: graphs.Own, By: graphs.Relaxed}, true), loss, "weights", "benign", seed}
			p := c.problem(t)
			a, b := newRelaxed(t, p).minimise(), list(t, p).minimise()
			if a.lower > b.upper || b.lower > a.upper || a.width() > 1e-9 {
				t.Errorf("%v: relaxed [%.15g, %.15g], exact [%.15g, %.15g]", c, a.lower, a.upper, b.lower, b.upper)
			}
		}
	}
}

// frustrated draws grids of two labels with one number for all edges, which a prior makes large.
func frustrated(r *rand.Rand, n, side int) *structured.Dataset {
	d := checkerboards(r, n, side, 0.1)
	if r.IntN(2) == 0 { // a diagonal closes odd cycles
		d.Graphs[0].Ends = append(d.Graphs[0].Ends, [2]int32{0, int32(side + 1)})
		edges := d.Tables[0]
		for i := range n {
			edges.Offsets[i+1] = edges.Offsets[i] + len(d.Graphs[0].Ends)
		}
	}
	return d
}

// Strong couplings of either sign: a bound that has not converged is no dual value.
func TestStrongCouplings(t *testing.T) {
	n := &tally{}
	for seed := range uint64(2) {
		for _, coupling := range []float32{-50, -8, -2, 2, 8, 50} {
			for _, side := range []int{2, 3} {
				r := rand.New(rand.NewPCG(11, seed))
				d := frustrated(r, 2, side)
				c := cell{"", nil, engine.CRF, "", "", 0}
				scorer := pottsNet(2)
				o := &engine.Objective{Scorer: scorer, Data: d, Loss: c.loss, Lambda: math.Pow(10, r.Float64()*3-2), Center: make([]float32, scorer.Dim())}
				o.Center[scorer.Dim()-1] = coupling
				p := &train.Problem{Engine: engine.NewEngine(o, 1), Seed: 1}
				best := newRelaxed(t, p).minimise()
				what := fmt.Sprintf("%d×%d Potts, coupling %g, seed %d", side, side, coupling, seed)
				if !(best.width() < 1e-6) {
					t.Logf("%s: the reference is loose: [%.12g, %.12g]", what, best.lower, best.upper)
				}
				for _, j := range pick("svrg", "lbfgs", "sdca", "casimir") {
					n.judge(t, what, j, p, best, 30)
				}
			}
		}
	}
	n.log(t)
}

// A relaxed hinge is at least the exact one. Without smoothing, its duals are made of labels and bound the exact
// optimum; with smoothing they bound the relaxed one, so that no run states an objective below them.
func TestRelaxedHinge(t *testing.T) {
	n, seeds := &tally{}, uint64(1)
	if os.Getenv("DSP_LONG") != "" {
		seeds = 8
	}
	for seed := range seeds {
		for _, nasty := range []string{"benign", "strong", "far prior"} {
			for _, edges := range []graphs.Edges{graphs.Own, graphs.Potts} {
				c := cell{"relaxed " + edges.String(), graphsOf(graphs.Pairwise{Edges: edges, By: graphs.Relaxed}, false), engine.Hinge, "prior", nasty, seed}
				p := c.problem(t)
				exact := list(t, p).minimise()
				lo, hi := math.Inf(-1), math.Inf(1)
				for _, j := range all {
					states := &seen{lower: math.Inf(-1), upper: math.Inf(1)}
					q, bounds := *p, *exact
					if q.Smoothing = traintest.Entropy; slices.Contains([]string{"bcfw", "bcpfw", "fw", "fw, harmonic", "cutting-plane", "cutting-plane, few", "n-slack"}, j.name) {
						q.Smoothing = oracles.Smoothing{}
					} else {
						bounds.upper = math.Inf(1)
					}
					n.run(t, c.String(), j, &q, &bounds, 20, states)
					lo, hi = max(lo, states.lower), min(hi, states.upper)
				}
				if lo > hi {
					t.Errorf("%v: the intervals do not overlap: dual %.12g, objective %.12g", c, lo, hi)
				}
			}
		}
	}
	n.log(t)
}
