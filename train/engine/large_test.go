package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
)

// Potentials that are finite but beyond what oracles answer for are an error that names the example. Without it the
// objective would be NaN.
func TestLargePotentialsNameTheirExample(t *testing.T) {
	net, err := sparse.NewChain(2, 0, 2, nets.EdgesNone)
	if err != nil {
		t.Fatal(err)
	}
	d := &structured.Dataset{Name: "two", Offsets: []int{0, 1, 3}, Alphabet: structured.NewAlphabet("a", "b"), Labels: []int32{0, 1, 0},
		Attributes: &structured.Sparse{Offsets: []int{0, 1, 2, 3}, Index: []int32{0, 0, 1}, Value: []float32{1, 1, 1}}}
	for _, large := range []float32{-3e30, 3e30, -3e38, 3e38} {
		w := make([]float32, net.Dim())
		w[2] = large // of attribute 1, which example 1 has
		for _, loss := range []engine.Loss{engine.Hinge, engine.CRF, engine.SoftmaxMargin} {
			e := engine.NewEngine(&engine.Objective{Scorer: net, Data: d, Loss: loss, Lambda: 1}, 1)
			pass, err := e.FullPass(t.Context(), w, oracles.Smoothing{}, nil)
			var bad *engine.NonFiniteError
			if !errors.As(err, &bad) || !strings.HasPrefix(bad.Where, "example 1 ") {
				t.Errorf("%v, weight %g: error %v, pass %+v", loss, large, err, pass)
			}
		}
	}
}
