package train_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// everyLabelling has all labelings of chains of a length, with one input that is x everywhere: without a reason to
// prefer a label.
func everyLabelling(labels, length int, x float32) *structured.Dataset {
	d := &structured.Dataset{Name: "every labelling", Dim: 1, Offsets: []int{0}, Alphabet: structured.NewAlphabet()}
	for l := range labels {
		d.Alphabet.Add(fmt.Sprint(l))
	}
	all := int(math.Pow(float64(labels), float64(length)))
	for k := range all {
		for range length {
			d.Labels, d.Features = append(d.Labels, int32(k%labels)), append(d.Features, x)
			k /= labels
		}
		d.Offsets = append(d.Offsets, len(d.Labels))
	}
	return d
}

// Every label has the same prior weight for an input far from zero, and no label is better than another: the prior is
// the optimum. From weights of 0, where all potentials are 0, the certificate must not be above it: an answer whose
// entries sum to 1 but for a rounding would be paid with potentials of a million.
func TestInputsFarFromZero(t *testing.T) {
	for _, soft := range []bool{false, true} {
		for length := 1; length <= 2 && (length == 1 || !soft); length++ {
			for labels := 2; labels <= 12; labels++ {
				for _, prior := range []float32{1, -1} {
					data := everyLabelling(labels, length, 1e6)
					scorer, err := nets.New(nets.Config{Net: "linear"}, graph.Input{Dim: 1}, labels)
					if err != nil {
						t.Fatal(err)
					}
					o := &engine.Objective{Scorer: scorer, Data: data, Loss: engine.CRF, Lambda: 100, Center: make([]float32, scorer.Dim())}
					for j := range o.Center {
						o.Center[j] = prior
					}
					zero, optimum := make([]float32, scorer.Dim()), float64(length)*math.Log(float64(labels))
					if soft { // each label is as likely as any other, in the mean
						targets := engine.NewMemory(o)
						q, total := make([]float64, labels), 0.0
						for l := range q {
							q[l] = rand.ExpFloat64()
							total += q[l]
						}
						for i := range labels {
							for l := range q {
								targets.Parts[0].Of(i)[(l+i)%labels] = float32(q[l] / total)
							}
						}
						engine.BalanceTargets(scorer.Form(), &targets.Marginals)
						o.Completion, o.Soft = targets, true
						excess := -1.0
						for _, x := range targets.Parts[0].Of(0) {
							excess += float64(x)
						}
						optimum -= float64(prior) * 1e6 * excess // no more than that
					}
					e := engine.NewEngine(o, 1)
					pass, err := e.FullPass(t.Context(), zero, oracles.Smoothing{}, nil)
					if err != nil {
						t.Fatal(err)
					}
					var c train.Certificate
					if err := c.Record(t.Context(), e, zero, pass); err != nil {
						t.Fatal(err)
					}
					if !(c.Dual() <= optimum) || !(c.Dual() >= optimum*(1-1e-3)) {
						t.Errorf("soft %v, %d labels, length %d, prior %v: dual %.9g, the optimum is %.9g", soft, labels, length, prior, c.Dual(), optimum)
					}
				}
			}
		}
	}
}
