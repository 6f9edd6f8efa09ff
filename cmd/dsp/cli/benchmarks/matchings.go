package benchmarks

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/matching"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/structured/monotone"
)

// matchingMeasures measures every answer of the oracle of matchings, and all max-marginals, on 64 examples of 20 by 20
// items and on 4 of 100 by 100.
func matchingMeasures() []measure {
	var all []measure
	for _, s := range []matchings.Matching{{}, {Complete: true}} {
		for _, size := range []struct{ items, examples int }{{20, 64}, {100, 4}} {
			part := fmt.Sprintf("oracle, %s, %d by %d items", s.Name(), size.items, size.items)
			θ, o := randomPairs(s.Resize, size.examples, size.items), matching.New()
			all = append(all, oracleMeasures(part, o, θ, answerNames{max: "max (Jonker-Volgenant)", topK: "top-5 (BMMF)"})...)
			y, value := make([]int32, θ.OutputSize()), make([]float64, θ.Len())
			var m oracles.MaxMarginals
			all = append(all, measure{part, "max-marginals", θ.Len(), 0, func() error { o.MaxMarginals(θ, y, value, &m); return nil }, θ})
		}
	}
	return all
}

// alignmentMeasures measures every answer of the oracles of monotone alignments, on 64 examples of 20 by 20 items and on
// 16 of 100 by 100; with moves on as many of 10 by 10 and of 30 by 30, as their oracle is a chart.
func alignmentMeasures() []measure {
	names := answerNames{max: "max (time warping)", topK: "top-5", l2: "ℓ₂ on the top 5", exp: "exp and marginals", samples: "10 samples"}
	var all []measure
	for _, of := range []struct {
		structure    monotone.Alignment
		small, large int // items
	}{{monotone.Alignment{}, 20, 100}, {monotone.Alignment{Moves: true}, 10, 30}} {
		for _, size := range []struct{ items, examples int }{{of.small, 64}, {of.large, 16}} {
			part := fmt.Sprintf("oracle, %s, %d by %d items", of.structure.Name(), size.items, size.items)
			potentials := randomPairs(of.structure.Resize, size.examples, size.items)
			all = append(all, oracleMeasures(part, registry.Of(of.structure).Oracle(), potentials, names)...)
		}
	}
	return all
}

// randomPairs draws the potentials of a batch of examples with as many source as target items.
func randomPairs(resize func(θ *structured.Potentials, sources, targets []int), examples, items int) *structured.Potentials {
	sizes := make([]int, examples)
	for b := range sizes {
		sizes[b] = items
	}
	θ := &structured.Potentials{}
	resize(θ, sizes, sizes)
	return drawNormal(θ, rand.New(rand.NewPCG(1, 1)))
}
