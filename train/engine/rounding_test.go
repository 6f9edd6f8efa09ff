package engine_test

import (
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// Potentials at the centre that are alike for a whole row count nothing where v_i sums to 0, and as much as they are
// where its sum is off: ⟨v_i, θ_i(c)⟩ is then their size times what the sum is off by.
func TestRowsThatAreOffAreChargedForTheCentre(t *testing.T) {
	net, err := sparse.NewChain(4, 0, 3, nets.EdgesNone)
	if err != nil {
		t.Fatal(err)
	}
	const large = 1e6
	var θ structured.Potentials
	θ.Reshape(net.Form(), []int{0, 2}, func(string) []int { return nil })
	for k := range θ.Parts {
		for j := range θ.Parts[k].Of(0) {
			θ.Parts[k].Of(0)[j] = large + float32(j%2)
		}
	}
	if got := engine.ChargeOfSums(&θ, 0.01); got < 0.01*large {
		t.Errorf("sums that are off by 0.01 are charged %g, expected at least %g", got, 0.01*large)
	}
	if got := engine.ChargeOfSums(&θ, 0); got > 1e-4 {
		t.Errorf("sums of 0 are charged %g, expected next to nothing", got)
	}
}

// The quadratic loss scores nothing at the centre, which only certificates of other losses need.
func TestQuadraticDoesNotScoreTheCentre(t *testing.T) {
	for _, loss := range []engine.Loss{engine.Quadratic, engine.CRF} {
		net, err := sparse.NewChain(40, 0, 3, nets.EdgesNone)
		if err != nil {
			t.Fatal(err)
		}
		o := &engine.Objective{Scorer: net, Data: traintest.SparseChains(1, 9, 40, 3, true), Loss: loss, Lambda: 0.1, Center: make([]float32, net.Dim())}
		e := engine.NewEngine(o, 1)
		if _, err := e.FullPass(t.Context(), make([]float32, net.Dim()), oracles.Smoothing{}, nil); err != nil {
			t.Fatal(err)
		}
		if e.ScoredCentre() != (loss == engine.CRF) {
			t.Errorf("%v: scored the centre: %v", loss, e.ScoredCentre())
		}
	}
}

// In a ball, a hinge that is 0 but for rounding is rounded up: there, longer weights need not have margins to spare. Of
// one position with two labels the largest margin in the ball is 1 − 2⁻²⁶, which float32 rounds to 1.
func TestHingeOfZeroInBallIsRoundedUp(t *testing.T) {
	const x, radius = 1 + 0x1p-13, 1 - 0x1p-13
	net, err := sparse.NewChain(1, 0, 2, nets.EdgesNone)
	if err != nil {
		t.Fatal(err)
	}
	d := &structured.Dataset{Name: "one position", Offsets: []int{0, 1}, Alphabet: structured.NewAlphabet("a", "b"), Labels: []int32{0},
		Attributes: &structured.Sparse{Offsets: []int{0, 1}, Index: []int32{0}, Value: []float32{x}}}
	w := make([]float32, net.Dim())
	w[0] = radius
	o := &engine.Objective{Scorer: net, Data: d, Loss: engine.Hinge, Radius: radius}
	upper, _, err := engine.NewEngine(o, 1).Upper(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if least := 1 - x*radius; upper < least {
		t.Errorf("the objective is %g, its least value in the ball %g", upper, least)
	}
}

// Where an entry of g is at the threshold, w is 0 and errors of g count by their squares alone. Here g = 1 + 2⁻²⁵ is
// above λ₁ = 1 and float32 rounds it to 1: with s as the share of the dual point, the bound is max over s of sa −
// max(0, sg − λ₁)²/2λ = a/g + λa²/2g².
func TestElasticBoundAtTheThreshold(t *testing.T) {
	net, err := sparse.NewChain(1, 0, 2, nets.EdgesNone)
	if err != nil {
		t.Fatal(err)
	}
	const a, g, λ = 1., 1 + 0x1p-25, 0x1p-50
	e := engine.NewEngine(&engine.Objective{Scorer: net, Data: traintest.SparseChains(1, 2, 1, 2, false), Lambda: λ, L1: 1}, 1)
	rounded := make([]float32, net.Dim())
	rounded[0] = g
	bound, of := e.ElasticBound(a, rounded)
	if most := a/g + λ*a*a/(2*g*g); bound-e.ElasticAllowance(of) > most {
		t.Errorf("the bound is %.12g less %g, in exact arithmetic %.12g", bound, e.ElasticAllowance(of), most)
	}
}
