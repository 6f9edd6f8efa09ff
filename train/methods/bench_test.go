package methods

import (
	"context"
	"testing"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

func denseHinge(n, dim, labels, threads int) *train.Problem {
	o := &engine.Objective{Scorer: &traintest.Net{Inputs: dim, Labels: labels}, Data: traintest.NoisyChains(2, n, dim, labels), Lambda: 1 / float64(n)}
	return &train.Problem{Engine: engine.NewEngine(o, threads), Smoothing: traintest.Entropy, Seed: 1}
}

// An SVRG step on one example and on eight.
func BenchmarkStep(b *testing.B) {
	for _, size := range []int{1, 8} {
		b.Run([]string{1: "1 example", 8: "8 examples"}[size], func(b *testing.B) {
			p := denseHinge(400, 15, 8, 1)
			s := traintest.Entropy
			s.Mu = 0.1
			var a anchor
			w := make([]float32, p.Scorer.Dim())
			if _, err := a.place(context.Background(), p, w, s); err != nil {
				b.Fatal(err)
			}
			p.Batch = size
			b.ReportAllocs()
			b.ResetTimer()
			_, err := a.steps(context.Background(), p, s, &Pace{Curvature: 20, a: 20}, nil, 0, nil, p.Rand(0), b.N*size)
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkFullPass(b *testing.B) {
	p := denseHinge(400, 15, 8, 2)
	s := traintest.Entropy
	s.Mu = 0.1
	w := make([]float32, p.Scorer.Dim())
	for b.Loop() {
		if _, err := p.FullPass(context.Background(), w, s, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCasimirPass(b *testing.B) {
	p := denseHinge(400, 15, 8, 2)
	m := &Casimir{}
	s := train.NewState(make([]float32, p.Scorer.Dim()))
	if err := m.Start(context.Background(), p, s); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := m.Pass(context.Background(), p, s); err != nil {
			b.Fatal(err)
		}
	}
}
