package benchmarks

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles/segment"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
)

// segmentMeasures measures every answer of the oracle of segments, without and with a loss that counts them.
func segmentMeasures() []measure {
	var all []measure
	for _, b := range segmentBatches() {
		names := answerNames{max: "max", topK: "top-5", exp: "exp", samples: "10 samples"}
		all = append(all, oracleMeasures(b.part, segment.New(), b.θ, names)...)
	}
	return all
}

// batch is what an oracle is measured on, and the part of the table that shows it.
type batch struct {
	part string
	θ    *structured.Potentials
}

// segmentBatches draws 32 sequences of 100 positions with 10 labels and segments of at most 10 and 50, of each form.
func segmentBatches() (all []batch) {
	const sequences, length, labels = 32, 100, 10
	offsets, ones := make([]int, sequences+1), make([]int, sequences+1)
	for b := range offsets {
		offsets[b], ones[b] = b*length, b
	}
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
			segments.Form(2*labels, longest, ends),
			segments.CountedForm(2*labels, longest, ends),
			segments.Form(2*labels, longest, whole),
		} {
			scored := ""
			if len(form.Parts) > 4 && form.Parts[4].Rows == segments.Rows {
				scored = " scored as a whole"
			}
			name := form.Structure.Name() + scored
			b := batch{fmt.Sprintf("oracle, %s, %d labels, at most %d", name, labels, longest), &structured.Potentials{}}
			b.θ.Reshape(form, offsets, rows)
			for range sequences {
				b.θ.Gold = append(b.θ.Gold, make([]int32, length)) // segments of one position
			}
			drawNormal(b.θ, rand.New(rand.NewPCG(1, 1)))
			all = append(all, b)
		}
	}
	return all
}
