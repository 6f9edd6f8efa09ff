package engine_test

import (
	"context"
	"math"
	"testing"

	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/train/engine"
)

// A false link costs 10,000, and its potential is about −10,000: float32 rounds that by 5e-4, of which the sum of both,
// almost 0, shows nothing.
func TestLargeLossesAreCharged(t *testing.T) {
	const cost = 1e4
	one := []int{0, 1}
	d := &structured.Dataset{
		Name: "a link", Offsets: []int{0, 2}, Outputs: one, Labels: []int32{0}, Costs: []float32{cost}, CostRows: matchings.PairRows,
		Tables: []*structured.Table{
			{Name: matchings.PairRows, Offsets: one, Attributes: &structured.Sparse{Offsets: one, Index: []int32{0}, Value: []float32{1.1}}},
			{Name: matchings.SourceRows, Offsets: one},
		},
	}
	net := sparse.New(matchings.Matching{}.Form(), []sparse.Part{{Attributes: 1, Weights: "pairs"}, {Bias: "unmatched"}})
	o := &engine.Objective{Scorer: net, Data: d, Loss: engine.Hinge, Lambda: 1e-9}
	e := engine.NewEngine(o, 1)
	x, w := float64(float32(1.1)), make([]float32, net.Dim())
	at := float32(-cost / x)
	for k := range 40 {
		w[0] = math.Nextafter32(at, 0) // the least weight above, then the next
		at = w[0]
		f := math.Max(0, x*float64(at)+cost) + o.Lambda/2*float64(at)*float64(at)
		upper, _, err := e.Upper(context.Background(), w)
		if err != nil {
			t.Fatal(err)
		}
		if upper < f {
			t.Errorf("weight %d, %.9g: F is %.9g, stated as %.9g", k, at, f, upper)
		}
		pass, err := e.FullPass(context.Background(), w, oracles.Smoothing{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		// the bound a + ⟨g,w⟩ + r(w) of the pass holds at w, but for what is allowed for the rounding of g
		bound := pass.Linear + float64(pass.Grad[0])*float64(at) + o.Lambda/2*float64(at)*float64(at) - pass.Rounded - 2*engine.Unit*math.Abs(float64(pass.Grad[0])*float64(at))
		if bound > f {
			t.Errorf("weight %d, %.9g: F is %.9g, at least %.9g as a pass there says", k, at, f, bound)
		}
	}
}
