// Package bitext draws sentence pairs with word alignments from a small grammar and a lexicon of made-up words in two
// made-up languages. Words are ambiguous, take endings, keep company with words of the same topic, and translate to one
// word, to two or to none. The target language adds articles and auxiliaries, puts many adjectives after their noun and
// many verbs at the end, and some translations are free. Names, numbers and some other words are spelt alike.
package bitext

import (
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Options set the size and the properties of the drawn sentence pairs.
type Options struct {
	Train, Dev, Test int     // number of pairs with links
	Bitext           int     // number of pairs without links, for statistics of words
	Difficulty       float64 // 0 to 1: more ambiguous words, more words that move, more free translations
	Seed             uint64  // the same seed gives the same pairs
}

// DefaultOptions are sized for a first run of a few seconds.
func DefaultOptions() Options {
	return Options{Train: 1000, Dev: 300, Test: 300, Difficulty: 0.5, Seed: 1}
}

// Part is a set of pairs.
type Part struct {
	Name    string // train, dev, test or bitext
	Pairs   int
	Linked  bool // its file has links
	options Options
	stream  uint64
}

// Parts returns the four sets: train, dev, test and bitext.
func (o Options) Parts() []Part {
	return []Part{{"train", o.Train, true, o, 0}, {"dev", o.Dev, true, o, 1}, {"test", o.Test, true, o, 2},
		{"bitext", o.Bitext, false, o, 3}}
}

// Validate returns an error about the first field that is out of range.
func (o Options) Validate() error {
	for _, p := range o.Parts() {
		if p.Pairs < 0 {
			return structured.BadInput("sentence pairs: %d to %s, expected 0 or more", p.Pairs, p.Name)
		}
	}
	if !(o.Difficulty >= 0 && o.Difficulty <= 1) {
		return structured.BadInput("sentence pairs: difficulty %v, expected a number from 0 to 1", o.Difficulty)
	}
	return nil
}

// lexicon draws the words of both languages, which all sets share.
func (o Options) lexicon() *lexicon {
	return drawLexicon(rand.New(rand.NewPCG(o.Seed, math.MaxUint64)), o.Difficulty)
}

// draw draws the pairs one by one. A pair depends only on the seed, the difficulty, the set and its number.
func (p Part) draw(visit func(source, target []string, links []alignments.Link) error) error {
	words := p.options.lexicon()
	for i := range p.Pairs {
		w := &writer{lexicon: words, rng: rand.New(rand.NewPCG(p.options.Seed, p.stream<<32+uint64(i)))}
		source, target, links := w.pair()
		if err := visit(source, target, links); err != nil {
			return err
		}
	}
	return nil
}

// Write draws the pairs and writes them one per line: source words ||| target words and, if Linked, ||| links.
func (p Part) Write(to io.Writer) error {
	var text []byte
	return p.draw(func(source, target []string, links []alignments.Link) error {
		text = alignments.AppendPair(text[:0], source, target)
		if p.Linked {
			text = append(text, " "+alignments.Separator+" "...)
			text = alignments.AppendLinks(text, links, nil)
		}
		text = append(text, '\n')
		_, err := to.Write(text)
		return err
	})
}

// Corpus draws the pairs and returns them as a Reader would read them from the file.
func (p Part) Corpus() *alignments.Corpus {
	c := &alignments.Corpus{Name: p.File(), Offsets: []int{0}}
	_ = p.draw(func(source, target []string, links []alignments.Link) error {
		if !p.Linked {
			links = nil
		}
		c.Add(source, target, links)
		c.Lines = append(c.Lines, c.Len())
		return nil
	})
	return c
}

// File returns the name of the set's file.
func (p Part) File() string { return p.Name + ".pairs" }

// Write draws the sets and writes them into dir as train.pairs, dev.pairs, test.pairs and, if it is not empty,
// bitext.pairs.
func Write(dir string, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, p := range o.Parts() {
		if !p.Linked && p.Pairs == 0 {
			continue
		}
		if err := host.WriteFile(filepath.Join(dir, p.File()), p.Write); err != nil {
			return err
		}
	}
	return nil
}
