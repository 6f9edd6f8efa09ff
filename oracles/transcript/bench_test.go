package transcript

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// drawn draws lines of a length that read strings of so many symbols.
func drawn(lines, frames, labels, symbols int) (θ, conditioned *structured.Potentials) {
	r := rand.New(rand.NewPCG(1, 2))
	offsets := []int{0}
	for range lines {
		offsets = append(offsets, offsets[len(offsets)-1]+frames)
	}
	θ, conditioned = new(structured.Potentials), new(structured.Potentials)
	θ.Reshape(transcripts.Form(labels-1), offsets, func(string) []int { return offsets })
	for i := range θ.Parts[0].Values {
		θ.Parts[0].Values[i] = float32(3 * r.NormFloat64())
	}
	conditioned.Copy(θ)
	for b := range lines {
		reading := make([]int32, symbols)
		for k := range reading {
			reading[k] = int32(r.IntN(labels - 1))
		}
		transcripts.Frames{}.Restrict(conditioned, b, structured.Gold{Reading: reading})
	}
	return θ, conditioned
}

// What a step of training asks about a line, and what a prediction does.
func BenchmarkOracle(b *testing.B) {
	for _, size := range []struct{ frames, labels, symbols int }{{40, 28, 10}, {100, 28, 30}, {500, 80, 100}} {
		θ, conditioned := drawn(32, size.frames, size.labels, size.symbols)
		name := fmt.Sprintf("T=%d,Y=%d,L=%d/", size.frames, size.labels, size.symbols)
		o, value := New(), make([]float64, θ.Len())
		var u structured.Marginals
		perLine := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*θ.Len()), "µs/line")
		}
		for _, k := range []struct {
			name string
			run  func()
		}{
			{"any string", func() { o.Exp(θ, 1, value, &u) }}, {"one string", func() { o.Exp(conditioned, 1, value, &u) }},
			{"greedy", func() { o.Greedy(θ, 0, 1) }}, {"beam 10", func() { o.Beam(θ, 0, 1, 10, 1) }},
		} {
			b.Run(name+k.name, func(b *testing.B) {
				for b.Loop() {
					k.run()
				}
				if k.name == "any string" || k.name == "one string" {
					perLine(b)
				}
			})
		}
	}
}
