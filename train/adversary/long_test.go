package adversary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// Long chains without steps are their positions, of which the reference knows the optimum. A prior gives each position
// large potentials, alike for both labels, so that sums over a chain need logarithms: their recurrences carry what
// thousands of positions add up. Certificates hold, and are close.
func TestLongChains(t *testing.T) {
	n := &tally{}
	for _, length := range []int{300, 20000} {
		for _, apart := range []float64{0, 1000} {
			r := rand.New(rand.NewPCG(8, uint64(length)))
			const labels, attributes = 2, 4
			d := &structured.Dataset{Name: "long", Offsets: []int{0, length}, Alphabet: alphabet(labels)}
			x := &structured.Sparse{Offsets: []int{0}}
			for range length {
				gold := r.Int32N(labels)
				d.Labels = append(d.Labels, gold)
				a := 1 + r.Int32N(attributes-1)
				if r.IntN(2) == 0 {
					a = 1 + gold
				}
				x.Index = append(x.Index, 0, a)
				x.Value = append(x.Value, float32(apart*r.Float64()), 1)
				x.Offsets = append(x.Offsets, len(x.Index))
			}
			d.Attributes = x
			scorer := must(sparse.NewChain(attributes, 0, labels, nets.EdgesNone))
			o := &engine.Objective{Scorer: scorer, Data: d, Loss: engine.CRF, Lambda: 0.1 * float64(length), Center: make([]float32, scorer.Dim())}
			for l := range labels {
				o.Center[l] = 1 // of attribute 0
			}
			p := &train.Problem{Engine: engine.NewEngine(o, 1), Seed: 1}

			positions := *d // the mean over these is F/length, and the centre moves no probability
			positions.Offsets = nil
			for t := range length + 1 {
				positions.Offsets = append(positions.Offsets, t)
			}
			best := newWide(&positions, labels, attributes, o.Lambda/float64(length)).minimise()
			best.lower, best.upper = best.lower*float64(length), best.upper*float64(length)
			what := fmt.Sprintf("%d positions, %g apart", length, apart)
			if !(best.width() < 1e-6*best.upper) {
				t.Errorf("%s: the reference is loose: [%.12g, %.12g]", what, best.lower, best.upper)
			}
			for _, j := range pick("lbfgs", "svrg", "sdca", "saga") {
				states := &seen{lower: math.Inf(-1), upper: math.Inf(1), start: o.Center}
				v := n.run(t, what, j, p, best, 10, states)
				t.Logf("%s; %s: [%.9g, %.9g], rounding %.2g", what, j.name, states.lower, states.upper, v.rounded)
				if !(v.rounded <= 0.01) {
					t.Errorf("%s; %s: rounding takes %.3g of the objective", what, j.name, v.rounded)
				}
			}
		}
	}
	n.log(t)
	if n.runs < 16 {
		t.Errorf("%d runs", n.runs)
	}
}
