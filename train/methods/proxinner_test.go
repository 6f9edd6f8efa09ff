package methods

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// More inner steps find a better solution of the model of a batch, and many find its minimum: no point between the
// solution and other points is better.
func TestInnerStepsSolveTheModel(t *testing.T) {
	const η, λ = 0.05, 0.02
	for _, loss := range []engine.Loss{engine.Hinge, engine.CRF, engine.SoftmaxMargin} {
		p := traintest.NetProblem(40, 0, 1)
		p.Loss, p.Lambda = loss, λ
		p.Data.Weights = slices.Repeat([]float64{1, 0.5, 2, 1}, 10)
		w0 := p.Scorer.(*traintest.Net).Glorot(3)
		batch := []int{3, 17, 20, 5}
		var values []float64
		var last []float32
		for _, steps := range []int{1, 5, 40, 400, 1200} {
			var inner innerSteps
			if err := inner.start(p); err != nil {
				t.Fatal(err)
			}
			var d engine.ScaledDescent
			d.Start(inner.Engine, w0, squaresDecay)
			if err := inner.solve(t.Context(), &d, engine.Question{Examples: batch}, η, λ, steps); err != nil {
				t.Fatal(err)
			}
			values = append(values, batchModel(t, p.Engine, &inner, w0, d.W, batch, η, λ))
			last = d.W
		}
		for k := 1; k < len(values); k++ {
			if values[k] > values[k-1]+1e-4*math.Abs(values[k-1]) {
				t.Errorf("%v: values of the model %v: more steps are worse", loss, values)
			}
		}
		if !(values[1] < values[0]-1e-6) {
			t.Errorf("%v: values of the model %v: steps beyond the first change nothing", loss, values)
		}
		// The smooth losses converge to a bound that is not tight, because the entropy of a mixture is bounded by the
		// mixture.
		var inner innerSteps
		if err := inner.start(p); err != nil {
			t.Fatal(err)
		}
		within := 1e-3
		if loss.Smooth() {
			within = 5e-2
		}
		for k := range 30 {
			v := slices.Clone(last)
			for j := range v {
				v[j] += 0.02 * float32(math.Sin(float64(7*j+k)))
			}
			if value := batchModel(t, p.Engine, &inner, w0, v, batch, η, λ); value < values[len(values)-1]*(1-within) {
				t.Errorf("%v: a point nearby has value %g, the solution %g", loss, value, values[len(values)-1])
			}
		}
	}
}

// batchModel returns the value at w of the model of a batch at w0, with the scales that the first step at w0 gives.
func batchModel(t *testing.T, whole *engine.Engine, inner *innerSteps, w0, w []float32, batch []int, η, λ float64) float64 {
	t.Helper()
	st, err := whole.Step(t.Context(), w0, batch, oracles.Smoothing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := make([]float32, len(w0))
	st.Grad.AddTo(1/float32(len(batch)), g)
	inner.moving.MoveTo(w0)
	at, err := inner.Step(t.Context(), w, batch, oracles.Smoothing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	value := at.Smoothed / float64(len(batch))
	common := math.Sqrt(vec.Norm2(g)/float64(len(g))) + vec.Floor
	for j, x := range w {
		h := math.Sqrt((math.Abs(float64(g[j])) + vec.Floor) * common) // after the first step v/(1−β) is g²
		if g[j] == 0 {                                                 // a weight without a scale stays where it is
			continue
		}
		step := float64(x) - float64(w0[j])
		value += λ/2*float64(x)*float64(x) + h/(2*η)*step*step
	}
	return value
}
