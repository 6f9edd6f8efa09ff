package sentences

import (
	_ "embed"
	"math/rand/v2"
	"sort"
	"strings"
)

// Common English words of 3 to 12 letters a to z, roughly from the most to the least frequent.
//
//go:embed words.txt
var wordsText string

// English returns the built-in list of common English words, roughly from the most to the least frequent.
func English() []string { return strings.Fields(wordsText) }

// WordSampler draws words with probability ∝ 1/(rank + flat): Zipf's law with a flattened head.
type WordSampler struct {
	words []string
	cum   []float64 // [len(words)] cumulative weights
}

func NewWordSampler(words []string) *WordSampler {
	const flat = 30
	s := &WordSampler{words: words, cum: make([]float64, len(words))}
	sum := 0.0
	for i := range words {
		sum += 1 / float64(i+flat)
		s.cum[i] = sum
	}
	return s
}

func (s *WordSampler) Draw(rng *rand.Rand) string {
	u := rng.Float64() * s.cum[len(s.cum)-1]
	return s.words[min(sort.SearchFloat64s(s.cum, u), len(s.words)-1)]
}
