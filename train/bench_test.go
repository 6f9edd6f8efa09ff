package train

import (
	"context"
	"testing"
)

func denseHinge(n, dim, labels, threads int) *Problem {
	o := &Objective{Scorer: &testNet{dim: dim, labels: labels}, Data: noisyChains(2, n, dim, labels), Lambda: 1 / float64(n)}
	return &Problem{Engine: NewEngine(o, threads), Smoothing: entropy, Seed: 1}
}

// A step of SVRG on one example and on eight.
func BenchmarkStep(b *testing.B) {
	for _, size := range []int{1, 8} {
		b.Run([]string{1: "1 example", 8: "8 examples"}[size], func(b *testing.B) {
			p := denseHinge(400, 15, 8, 1)
			s := entropy
			s.Mu = 0.1
			var a anchor
			w := make([]float32, p.Scorer.Dim())
			if _, err := a.drop(context.Background(), p, w, s); err != nil {
				b.Fatal(err)
			}
			p.Batch = size
			b.ReportAllocs()
			b.ResetTimer()
			_, err := a.steps(context.Background(), p, s, &Pace{Curvature: 20, a: 20}, 0, nil, p.Rand(0), b.N*size)
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkFullPass(b *testing.B) {
	p := denseHinge(400, 15, 8, 2)
	s := entropy
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
	s := &State{W: make([]float32, p.Scorer.Dim())}
	if err := m.Start(context.Background(), p, s); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := m.Pass(context.Background(), p, s); err != nil {
			b.Fatal(err)
		}
	}
}
