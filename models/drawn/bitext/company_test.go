package bitext

import (
	"math/rand/v2"
	"testing"
)

// Words keep company: words of a topic come more often when they are drawn for it, whichever it is, and as often as
// they do in all when none is asked for.
func TestWordsKeepCompany(t *testing.T) {
	w := &writer{lexicon: (Options{Difficulty: 1, Seed: 1}).lexicon(), rng: rand.New(rand.NewPCG(1, 1))}
	const draws = 1000
	share := func(topic, of int) float64 {
		n := 0
		for range draws {
			if w.draw(w.nouns, topic).topic == of {
				n++
			}
		}
		return float64(n) / draws
	}
	for topic := 1; topic <= topics; topic++ {
		alone := 0.0
		for k, e := range w.nouns {
			if e.topic == topic {
				alone += 1 / float64(k+4)
			}
		}
		all := 0.0
		for k := range w.nouns {
			all += 1 / float64(k+4)
		}
		if alone /= all; alone == 0 {
			continue
		}
		if got := share(topic, topic); got < 5*alone {
			t.Errorf("of words for topic %d a share of %.2f is of it, of all words %.2f", topic, got, alone)
		}
		if got := share(0, topic); got > alone+0.06 || got < alone-0.06 {
			t.Errorf("of words for no topic a share of %.2f is of topic %d, expected %.2f", got, topic, alone)
		}
	}
}
