package adversary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// Chains of many positions whose label may not change have two outputs, and recurrences that add up all their roundings.
func TestLongChains(t *testing.T) {
	n := &tally{}
	for _, length := range []int{200, 20000} {
		for seed := range uint64(3) {
			r := rand.New(rand.NewPCG(8, seed))
			d := &structured.Dataset{Name: "long chains", Dim: 2, Offsets: []int{0}, Alphabet: alphabet(2)}
			for i := range 4 {
				drift := r.NormFloat64() / float64(length)
				for range length {
					d.Labels = append(d.Labels, int32(i%2))
					d.Features = append(d.Features, float32(r.NormFloat64()*math.Pow(float64(length), -0.5)+drift), float32(r.ExpFloat64()))
				}
				d.Offsets = append(d.Offsets, len(d.Labels))
			}
			never := &chains.Constraints{Start: make([]bool, 2), End: make([]bool, 2), Transition: []bool{false, true, true, false}}
			for _, loss := range []engine.Loss{engine.CRF, engine.Hinge, engine.SoftmaxMargin} {
				scorer := must(nets.New(nets.Config{Net: "linear"}, graph.Input{Dim: d.Dim}, 2))
				for _, λ := range []float64{1, 1e4} {
					o := &engine.Objective{Scorer: scorer, Data: d, Loss: loss, Lambda: λ, Constraints: never}
					p := &train.Problem{Engine: engine.NewEngine(o, 1), Seed: 1}
					x := objectiveOf(p)
					jacobian := jacobians(t, p)
					for i := range p.Len() {
						var batch structured.Batch
						batch.Reset(d, []int{i})
						u := &structured.Marginals{}
						u.Resize(&batch, scorer.Form())
						gold := batch.GoldOf(0)
						other := make([]int32, length)
						for k := range other {
							other[k] = 1 - gold.Output[k]
						}
						u.Clear()
						u.Add(0, other, 1)
						u.Add(0, gold.Output, -1)
						row, b := make([]float64, x.dim()), 0.0
						at := 0
						for k := range u.Parts {
							for _, v := range u.Parts[k].Of(0) {
								for _, s := range jacobian[i][at].slopes {
									row[s.j] += float64(v) * s.x
								}
								at++
							}
						}
						if loss.Augments() {
							b = p.Task.Loss(other, gold)
						}
						x.blocks = append(x.blocks, block{κ: 1 / float64(p.Len()), a: [][]float64{make([]float64, x.dim()), row}, b: []float64{0, b}})
					}
					best := x.minimise()
					what := fmt.Sprintf("chains of %d, %v, λ = %g, seed %d", length, loss, λ, seed)
					if !(best.width() < 1e-8) {
						t.Errorf("%s: the reference is loose: [%.12g, %.12g]", what, best.lower, best.upper)
					}
					for _, j := range pick("lbfgs", "svrg", "sdca", "bcfw", "oeg") {
						v := n.run(t, what, j, withMu(p), best, 12, &seen{lower: math.Inf(-1), upper: math.Inf(1), exact: x})
						t.Logf("%s; %s: gap %.2g, rounding %.2g, %v", what, j.name, v.gap, v.rounded, best)
					}
				}
			}
		}
	}
	n.log(t)
}
