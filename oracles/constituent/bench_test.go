package constituent

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

// What a step of training and a prediction ask about a batch of sentences.
func BenchmarkOracle(b *testing.B) {
	for _, size := range []struct{ words, labels int }{{10, 10}, {25, 10}, {60, 30}} {
		θ := drawn(16, size.words, size.labels)
		o, value, y := New(), make([]float64, θ.Len()), make([]int32, θ.OutputSize())
		var u structured.Marginals
		for name, run := range map[string]func(){"exp": func() { o.Exp(θ, 1, value, &u) },
			"max": func() { o.Max(θ, y, value) }} {
			b.Run(fmt.Sprintf("n=%d,R=%d/%s", size.words, size.labels, name), func(b *testing.B) {
				for b.Loop() {
					run()
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*θ.Len()), "µs/sentence")
			})
		}
	}
}

// drawn draws sentences of a length.
func drawn(sentences, words, labels int) *structured.Potentials {
	r, offsets := rand.New(rand.NewPCG(1, 2)), []int{0}
	for range sentences {
		offsets = append(offsets, offsets[len(offsets)-1]+words*words)
	}
	θ := new(structured.Potentials)
	θ.Reshape(constituents.Form(labels), offsets, func(string) []int { return offsets })
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(r.NormFloat64())
		}
	}
	return θ
}
