package synthetic

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
	"github.com/dsp-go/dsp/structured/host"
)

// TaggedText makes sentences with entity tags (persons, places, organisations, dates) out of a small grammar and names made
// of syllables. Many names of the test set were never seen before, many stand for a person here and for a place or an
// organisation there, some sentences lack their capitals, and there are slips: a task for a sequence model, with data
// that anyone can make.
type TaggedText struct {
	Train, Dev, Test int    // how many sentences
	Seed             uint64 // the same seed gives the same sentences
}

// DefaultTaggedText is sized for a first run, of seconds.
func DefaultTaggedText() TaggedText { return TaggedText{Train: 2000, Dev: 500, Test: 500, Seed: 1} }

// Validate says which field is out of range.
func (o TaggedText) Validate() error {
	for _, part := range o.parts() {
		if part.sentences < 0 {
			return structured.BadInput("tagged text: %d sentences to %s, expected 0 or more", part.sentences, part.name)
		}
	}
	return nil
}

// textPart is one of the sets.
type textPart struct {
	name      string
	sentences int
}

func (o TaggedText) parts() []textPart {
	return []textPart{{"train", o.Train}, {"dev", o.Dev}, {"test", o.Test}}
}

// WriteTaggedText draws the sentences and writes them into dir as train.conll, dev.conll and test.conll: a line a token
// with its word, part of speech and label in IOB2, separated by tabs, and an empty line after every sentence.
func WriteTaggedText(dir string, o TaggedText) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	names := drawNames(rand.New(rand.NewPCG(o.Seed, math.MaxUint64)))
	for stream, part := range o.parts() {
		err := host.WriteFile(filepath.Join(dir, part.name+".conll"), func(w io.Writer) error {
			for i := range part.sentences {
				// A generator of its own: a sentence does not depend on those before it.
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

// How often text is not as it should be.
const (
	lowerShare = 0.08 // sentences without capitals
	upperShare = 0.02 // sentences in capitals
	typoShare  = 0.01 // words with two letters exchanged
	slipShare  = 0.05 // parts of speech that are wrong, as those of a program would be
)

// drawSentence writes a sentence and spoils it a little.
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

// mistaken says which part of speech a part of speech is taken for.
var mistaken = map[string]string{"PROPN": "NOUN", "NOUN": "PROPN", "ADJ": "NOUN", "VERB": "NOUN"}

func mapWords(tokens []taggedToken, f func(string) string) {
	for i := range tokens {
		tokens[i].word = f(tokens[i].word)
	}
}

// exchanged exchanges two neighbouring letters of a word, not the first one.
func exchanged(word string, rng *rand.Rand) string {
	letters := []rune(word)
	if len(letters) < 3 || !unicode.IsLetter(letters[0]) {
		return word
	}
	i := 1 + rng.IntN(len(letters)-2)
	letters[i], letters[i+1] = letters[i+1], letters[i]
	return string(letters)
}
