package pcfg

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

// Small draws the form of a few sentences that are small enough to enumerate, with at most three nonterminals and
// preterminals each, and rules that they share or of their own. Some sentences are empty.
func Small(r *rand.Rand) *structured.Potentials {
	nonterminals, preterminals := 1+r.IntN(3), 1+r.IntN(3)
	most, trees := 1, preterminals // trees over so many words, but for their shapes
	for most < 5 && trees*nonterminals*preterminals <= 60 {
		most, trees = most+1, trees*nonterminals*preterminals
	}
	words, pairs, examples := []int{0}, []int{0}, []int{0}
	for b := range 1 + r.IntN(3) {
		n := r.IntN(most + 1)
		words, pairs, examples = append(words, words[b]+n), append(pairs, pairs[b]+n*n), append(examples, b+1)
	}
	θ := new(structured.Potentials)
	θ.Reshape(Form(nonterminals, preterminals, r.IntN(2) == 0), pairs, func(table string) []int {
		switch table {
		case constituents.SpanRows:
			return pairs
		case structured.Examples:
			return examples
		}
		return words
	})
	return θ
}
