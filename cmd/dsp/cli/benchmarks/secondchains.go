package benchmarks

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// secondMeasures measures every answer of the oracle of second-order chains on 16 sequences of 50 positions with 9 and
// with 17 labels, where labels follow each other as in some outputs of that length.
func secondMeasures() []measure {
	const sequences, length = 16, 50
	var all []measure
	for _, labels := range []int{9, 17} {
		r := rand.New(rand.NewPCG(1, 1))
		steps := chains.NewSteps(labels, func(yield func(y []int32) bool) {
			for y := make([]int32, length); ; {
				for t := range y {
					y[t] = r.Int32N(int32(labels))
				}
				if r.IntN(2*labels*labels) == 0 || !yield(y) {
					return
				}
			}
		})
		offsets := make([]int, sequences+1)
		for b := range offsets {
			offsets[b] = b * length
		}
		θ := &structured.Potentials{}
		θ.Reshape(chains.SecondForm(steps), offsets, func(string) []int { return offsets })
		all = append(all, oracleMeasures(fmt.Sprintf("oracle, second-order chain, %d labels", labels), chain.NewSecond(), drawNormal(θ, r),
			answerNames{max: "max", topK: "top-5", exp: "exp", samples: "10 samples"})...)
	}
	return all
}
