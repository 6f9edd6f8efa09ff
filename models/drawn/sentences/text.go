// Package sentences generates training data that anyone can reproduce from a seed: sentences with entity tags, drawn
// from a small grammar and made-up names. It also holds the list of common English words.
package sentences

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// TaggedText generates sentences with entity tags (persons, places, organisations, dates) from a small grammar and
// names made of syllables. Many names of the test set do not occur in training, many names are ambiguous between a
// person, a place and an organisation, some sentences lack capitals, and some words have typos. That makes it a task
// for a sequence model, on data that anyone can generate.
type TaggedText struct {
	Train, Dev, Test int    // number of sentences
	Seed             uint64 // the same seed gives the same sentences
}

// DefaultTaggedText is sized for a first run of a few seconds.
func DefaultTaggedText() TaggedText { return TaggedText{Train: 2000, Dev: 500, Test: 500, Seed: 1} }

// validate returns an error about the first field that is out of range.
func (o TaggedText) validate() error {
	for _, part := range o.parts() {
		if part.sentences < 0 {
			return structured.BadInput("tagged text: %d sentences to %s, expected 0 or more", part.sentences, part.name)
		}
	}
	return nil
}

// textPart is one of the three sets.
type textPart struct {
	name      string
	sentences int
}

func (o TaggedText) parts() []textPart {
	return []textPart{{"train", o.Train}, {"dev", o.Dev}, {"test", o.Test}}
}

// WriteTaggedText draws the sentences and writes them into dir as train.conll, dev.conll and test.conll: one line per
// token with its word, part of speech and IOB2 label, separated by tabs, and an empty line after every sentence.
func WriteTaggedText(dir string, o TaggedText) error {
	if err := o.validate(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	names := drawNames(rand.New(rand.NewPCG(o.Seed, math.MaxUint64)))
	for stream, part := range o.parts() {
		err := host.WriteFile(filepath.Join(dir, part.name+".conll"), func(w io.Writer) error {
			for i := range part.sentences {
				// Each sentence has its own generator, so that it does not depend on the sentences before it.
				rng := rand.New(rand.NewPCG(o.Seed, uint64(stream)<<32+uint64(i)))
				if err := writeTagged(w, drawSentence(names, rng)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func writeTagged(w io.Writer, sentence []taggedToken) error {
	for _, t := range sentence {
		if _, err := fmt.Fprintf(w, "%s\t%s\t%s\n", t.word, t.pos, t.label); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// Shares of irregular text.
const (
	lowerShare = 0.08 // sentences without capitals
	upperShare = 0.02 // sentences in capitals
	typoShare  = 0.01 // words with two letters swapped
	slipShare  = 0.05 // wrong parts of speech, as a tagger would make
)

// drawSentence draws a sentence and adds irregularities.
func drawSentence(names map[string]*WordSampler, rng *rand.Rand) []taggedToken {
	w := &sentenceWriter{grammar: sentenceGrammar(), names: names, rng: rng, label: "O"}
	w.write("text")
	for i := range w.tokens {
		t := &w.tokens[i]
		if rng.Float64() < typoShare {
			t.word = exchanged(t.word, rng)
		}
		if other := mistaken[t.pos]; other != "" && rng.Float64() < slipShare {
			t.pos = other
		}
	}
	w.tokens[0].word = capitalised(w.tokens[0].word)
	switch u := rng.Float64(); {
	case u < lowerShare:
		mapWords(w.tokens, strings.ToLower)
	case u < lowerShare+upperShare:
		mapWords(w.tokens, strings.ToUpper)
	}
	return w.tokens
}

// mistaken maps a part of speech to the one that it is mistaken for.
var mistaken = map[string]string{"PROPN": "NOUN", "NOUN": "PROPN", "ADJ": "NOUN", "VERB": "NOUN"}

func mapWords(tokens []taggedToken, f func(string) string) {
	for i := range tokens {
		tokens[i].word = f(tokens[i].word)
	}
}

// exchanged swaps two neighbouring letters of a word, never the first one.
func exchanged(word string, rng *rand.Rand) string {
	letters := []rune(word)
	if len(letters) < 3 || !unicode.IsLetter(letters[0]) {
		return word
	}
	i := 1 + rng.IntN(len(letters)-2)
	letters[i], letters[i+1] = letters[i+1], letters[i]
	return string(letters)
}
