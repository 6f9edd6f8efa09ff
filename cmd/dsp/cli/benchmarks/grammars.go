package benchmarks

import (
	"fmt"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles/pcfg"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	grammars "github.com/dsp-go/dsp/structured/pcfg"
)

// grammarMeasures measures every answer of the oracle of grammars, on 4 sentences of 8 and of 16 words with 10
// nonterminals and 20 preterminals.
func grammarMeasures() []measure {
	const sentences, nonterminals, preterminals = 4, 10, 20
	names := answerNames{max: "max (CKY)", topK: "top-5", exp: "exp (inside-outside)", samples: "10 samples"}
	var all []measure
	for _, words := range []int{8, 16} {
		positions, spans := make([]int, sentences+1), make([]int, sentences+1)
		for b := range positions {
			positions[b], spans[b] = b*words, b*words*words
		}
		θ, part := &structured.Potentials{}, fmt.Sprintf("oracle, %s, %d words, %d nonterminals", grammars.Tree{}.Name(), words, nonterminals)
		θ.Reshape(grammars.Form(nonterminals, preterminals, false), spans, func(table string) []int {
			if table == constituents.SpanRows {
				return spans
			}
			return positions
		})
		all = append(all, oracleMeasures(part, pcfg.New(), drawNormal(θ, rand.New(rand.NewPCG(1, 1))), names)...)
	}
	return all
}
