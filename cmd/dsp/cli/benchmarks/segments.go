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
	names := answerNames{max: "max", topK: "top-5", exp: "exp", samples: "10 samples"}
	var all []measure
	for _, longest := range []int{10, 50} {
		rows := func(table string) []int {
			switch table {
			case structured.Examples:
				return ones
			case segments.Rows:
				return segments.Offsets(offsets, longest)
			}
			return offsets
		}
		ends, whole := segments.Optional{Ends: true}, segments.Optional{Ends: true, Whole: true}
		for _, form := range []structured.Form{
			segments.Form(2*labels, longest, ends), segments.CountedForm(2*labels, longest, ends), segments.Form(2*labels, longest, whole),
		} {
			scored := ""
			if len(form.Parts) > 4 && form.Parts[4].Rows == segments.Rows {
				scored = " scored as a whole"
			}
			θ, part := &structured.Potentials{}, fmt.Sprintf("oracle, %s%s, %d labels, at most %d", form.Structure.Name(), scored, labels, longest)
			θ.Reshape(form, offsets, rows)
			for range sequences {
				θ.Gold = append(θ.Gold, make([]int32, length)) // segments of one position
			}
			all = append(all, oracleMeasures(part, segment.New(), drawNormal(θ, rand.New(rand.NewPCG(1, 1))), names)...)
		}
	}
	return all
}
