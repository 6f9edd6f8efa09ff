package benchmarks

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles/constituent"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

// constituentMeasures measures every answer of the oracle of constituents, on 16 sentences of 20 and of 40 words with
// 20 labels.
func constituentMeasures() []measure {
	const sentences, labels = 16, 20
	names := answerNames{max: "max (CKY)", topK: "top-5", exp: "exp (inside-outside)", samples: "10 samples"}
	var all []measure
	for _, words := range []int{20, 40} {
		offsets := make([]int, sentences+1)
		for b := range offsets {
			offsets[b] = b * words * words
		}
		θ, part := &structured.Potentials{}, fmt.Sprintf("oracle, %s, %d words, %d labels", constituents.Tree{}.Name(), words, labels)
		θ.Reshape(constituents.Form(labels), offsets, func(string) []int { return offsets })
		all = append(all, oracleMeasures(part, constituent.New(), drawNormal(θ, rand.New(rand.NewPCG(1, 1))), names)...)
	}
	return all
}
