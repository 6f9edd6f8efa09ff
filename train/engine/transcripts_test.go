package engine_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/transcripts"
	"github.com/dsp-go/dsp/train/traintest"
)

// The loss of a line is minus the logarithm of the probability of all labelings that read as it does, by enumeration,
// and gradients match it, in full passes and in steps.
func TestTranscriptLoss(t *testing.T) {
	ctx := context.Background()
	p := traintest.TranscriptProblem(12, 0.1)
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	if !p.Partial() {
		t.Fatal("the labels of frames are known")
	}
	r := rand.New(rand.NewPCG(5, 6))
	w := traintest.DrawWeights(r, p.Scorer.Dim(), 1)
	value := func(w []float32) float64 {
		sum, worker := 0.0, p.Scorer.NewWorker()
		for i := range p.Len() {
			var batch structured.Batch
			var θ structured.Potentials
			batch.Reset(p.Data, []int{i})
			if err := worker.Score(w, &batch, &θ); err != nil {
				t.Fatal(err)
			}
			var all, some []float64
			transcripts.Frames{}.Each(&θ, 0, func(y []int32) {
				all = append(all, θ.Score(0, y))
				if slices.Equal(transcripts.Read(nil, y), p.Data.Readings[i]) {
					some = append(some, θ.Score(0, y))
				}
			})
			sum += softmax(all, 1) - softmax(some, 1)
		}
		return sum/float64(p.Len()) + p.Regulariser(w)
	}
	pass, err := p.FullPass(ctx, w, oracles.Smoothing{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	traintest.Near(t, "F(w)", pass.Primal, value(w), 1e-6)

	direction := traintest.DrawWeights(r, len(w), 1)
	const ε = 1. / 64
	at := func(ε float32) float64 {
		moved := slices.Clone(w)
		vec.Axpy(ε, direction, moved)
		return value(moved) - p.Regulariser(moved)
	}
	traintest.Near(t, "slope", vec.Dot64(pass.Grad, direction), (at(ε)-at(-ε))/(2*ε), 1e-4)

	g, loss := make([]float32, len(w)), 0.0
	for lo := 0; lo < p.Len(); lo += 5 {
		batch := []int{}
		for i := lo; i < min(lo+5, p.Len()); i++ {
			batch = append(batch, i)
		}
		st, err := p.Step(ctx, w, batch, oracles.Smoothing{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		st.Grad.AddTo(1/float32(p.Len()), g)
		loss += st.Smoothed / float64(p.Len())
	}
	traintest.NearAll(t, "gradient by steps", g, pass.Grad, 1e-5)
	traintest.Near(t, "loss by steps", loss+p.Regulariser(w), pass.Smoothed, 1e-6)
	if math.IsNaN(loss) {
		t.Error("the loss is no number")
	}
}
