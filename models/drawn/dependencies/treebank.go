// Package dependencies generates treebanks: sentences with dependency trees from a small grammar. The attachment of
// prepositional phrases, relative clauses, coordinations and adverbial clauses depends on the words, some words can be
// nouns or verbs, and some tags are wrong, so that no parser can be perfect.
package dependencies

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/dsp-go/dsp/models/data/treebank"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Options set the size and the properties of the generated treebank.
type Options struct {
	Train, Dev, Test int     // number of sentences
	Extraposition    float64 // share of the extraposable phrases that are extraposed, which makes trees non-projective
	Seed             uint64  // the same seed gives the same sentences
}

// DefaultOptions are sized for a first run of a few seconds.
func DefaultOptions() Options {
	return Options{Train: 2000, Dev: 500, Test: 500, Extraposition: 0.1, Seed: 1}
}

// mistagShare is the share of words with the wrong tag, among words that can be nouns or verbs.
const mistagShare = 0.2

// Part is a set of sentences.
type Part struct {
	Name      string // train, dev or test
	Sentences int
	options   Options
	stream    uint64
}

// Parts returns the three sets.
func (o Options) Parts() []Part {
	return []Part{{"train", o.Train, o, 0}, {"dev", o.Dev, o, 1}, {"test", o.Test, o, 2}}
}

// Validate returns an error about the first field that is out of range.
func (o Options) Validate() error {
	for _, p := range o.Parts() {
		if p.Sentences < 0 {
			return structured.BadInput("treebank: %d sentences to %s, expected 0 or more", p.Sentences, p.Name)
		}
	}
	if !(o.Extraposition >= 0 && o.Extraposition <= 1) || math.IsNaN(o.Extraposition) {
		return structured.BadInput("treebank: extraposition %v, expected a share from 0 to 1", o.Extraposition)
	}
	return nil
}

// Sentence draws sentence i. It depends only on the seed, the rate of extraposition, the set and i.
func (p Part) Sentence(i int) Sentence {
	w := &writer{
		rng:        rand.New(rand.NewPCG(p.options.Seed, p.stream<<32+uint64(i))),
		extraposed: p.options.Extraposition, imperfection: mistagShare,
	}
	return w.sentence()
}

// Write draws the sentences and writes them in CoNLL-U.
func (p Part) Write(w io.Writer) error {
	var text []byte
	for i := range p.Sentences {
		text = p.Sentence(i).appendConllu(text[:0], p.Name+"-"+strconv.Itoa(i+1))
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// Treebank draws the sentences and returns them as Reader would read them from a file. Names are the known relations;
// nil means those that occur, sorted.
func (p Part) Treebank(names *structured.Alphabet) (*treebank.Treebank, error) {
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		return nil, err
	}
	return treebank.Reader{Names: names}.Read(&text, p.Name+".conllu")
}

// Write draws the three sets and writes them into dir as train.conllu, dev.conllu and test.conllu.
func Write(dir string, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, p := range o.Parts() {
		if err := host.WriteFile(filepath.Join(dir, p.Name+".conllu"), p.Write); err != nil {
			return err
		}
	}
	return nil
}

// homographs are the words that can be nouns or verbs.
var homographs = sync.OnceValue(func() map[string]bool {
	uses := map[string]int{} // 1: a noun, 2: a verb, 3: both
	for class, words := range lexicon() {
		use := 0
		switch {
		case verbSites[class] != nil || class == "speech" || class == "control":
			use = 2
		case nounSites[class] != nil || class == "day" || class == "unit":
			use = 1
		}
		for _, e := range words {
			uses[e.lemma] |= use
		}
	}
	both := map[string]bool{}
	for lemma, use := range uses {
		both[lemma] = use == 3
	}
	return both
})
