package benchmarks

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles/segment"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
)

// segmentMeasures measures every answer of the oracle of segments, without and with a loss that counts them, on 32 sequences of 100
// positions with 10 labels and segments of at most 10 and 50.
func segmentMeasures() []measure {
	const sequences, length, labels = 32, 100, 10
	offsets, ones := make([]int, sequences+1), make([]int, sequences+1)
	for b := range offsets {
		offsets[b], ones[b] = b*length, b
	}
	rows := func(table string) []int {
		if table == structured.Examples {
			return ones
		}
		return offsets
	}
	names := answerNames{max: "max", topK: "top-5", exp: "exp", samples: "10 samples"}
	var all []measure
	for _, longest := range []int{10, 50} {
		for _, form := range []structured.Form{segments.Form(2*labels, longest, true), segments.CountedForm(2*labels, longest, true)} {
			θ, part := &structured.Potentials{}, fmt.Sprintf("oracle, %s, %d labels, at most %d", form.Structure.Name(), labels, longest)
			θ.Reshape(form, offsets, rows)
			for range sequences {
				θ.Gold = append(θ.Gold, make([]int32, length)) // segments of one position
			}
			all = append(all, oracleMeasures(part, segment.New(), drawNormal(θ, rand.New(rand.NewPCG(1, 1))), names)...)
		}
	}
	return all
}
