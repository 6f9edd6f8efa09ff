package text

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/dsp-go/dsp/structured"
)

// WordColumn is the name of the column from which word features are made.
const WordColumn = "word"

// Unknown is the name with number 0 in every vocabulary: it stands for values that are absent or too rare in training.
const Unknown = "<unknown>"

// wordFeatures compute the discrete inputs of a word.
var wordFeatures = []func(word string) string{normalForm, prefix, suffix, shape}

// BuildVocab collects the discrete inputs of a data set with text columns, one vocabulary each: the word in lower case
// with its digits as 0, its first three letters, its last three, its shape ("Xxx-dd"), and every other named column
// except the label. Of CoNLL-U only the word counts, since the other fields are annotations, which a new text lacks.
// Names seen fewer than minCount times are left out, so that training sees Unknown too. Number 0 is Unknown; the others
// are sorted from frequent to rare. Peers, of which each has its own examples, count the names of all.
func BuildVocab(d *structured.Dataset, minCount int, peers structured.Peers) ([]*structured.Alphabet, error) {
	inputs, err := discreteInputs(d)
	if err != nil {
		return nil, err
	}
	vocab := make([]*structured.Alphabet, len(inputs))
	for k, input := range inputs {
		c := newCounter()
		for t := range d.Positions() {
			c.add(input(t))
		}
		if vocab[k], err = c.vocabulary(peers, minCount); err != nil {
			return nil, err
		}
	}
	return vocab, nil
}

type counter struct {
	names *structured.Alphabet
	times []int
}

func newCounter() *counter { return &counter{names: structured.NewAlphabet()} }

func (c *counter) add(name string) {
	k := int(c.names.Intern(name))
	if k == len(c.times) {
		c.times = append(c.times, 0)
	}
	c.times[k]++
}

// vocabulary returns Unknown and the names that occur at least so many times in the examples of all peers, from
// frequent to rare.
func (c *counter) vocabulary(peers structured.Peers, least int) (*structured.Alphabet, error) {
	names, times, _, err := peers.Agree(c.names, c.times, least)
	if err != nil {
		return nil, err
	}
	order := make([]int32, 0, names.Len())
	for k := range times {
		order = append(order, int32(k))
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(names.Name(a), names.Name(b)))
	})
	vocab := structured.NewAlphabet(Unknown)
	for _, k := range order {
		vocab.Add(names.Name(k))
	}
	return vocab, nil
}

// EncodeIds sets the Ids and Vocab of d. The first vocabulary may hold words as they are written, too (AddKnown): these
// go first. Its columns must have the same names as those of the data set behind vocab.
func EncodeIds(d *structured.Dataset, vocab []*structured.Alphabet) error {
	inputs, err := discreteInputs(d)
	if err != nil {
		return err
	}
	if len(inputs) != len(vocab) {
		return structured.BadInput("%s: columns %q make %d inputs, expected %d, as in the training data", d.Name,
			d.ColumnNames, len(inputs), len(vocab))
	}
	d.Vocab = vocab
	d.Ids = make([]int32, d.Positions()*len(vocab))
	for t, word := range d.Column(WordColumn) {
		d.Ids[t*len(vocab)] = wordNumber(vocab[0], word)
	}
	for k, input := range inputs[1:] {
		for t := range d.Positions() {
			d.Ids[t*len(vocab)+k+1] = max(0, vocab[k+1].Index(input(t)))
		}
	}
	return nil
}

// discreteInputs returns one function per input, which maps a position to the input's name there.
func discreteInputs(d *structured.Dataset) ([]func(t int) string, error) {
	words, err := wordsOf(d)
	if err != nil {
		return nil, err
	}
	var inputs []func(t int) string
	for _, feature := range wordFeatures {
		inputs = append(inputs, func(t int) string { return feature(words[t]) })
	}
	if IsConllu(d.ColumnNames) {
		return inputs, nil // the other fields are annotations, like the label
	}
	for c, name := range d.ColumnNames {
		if name != WordColumn && name != LabelColumn && name != "" {
			inputs = append(inputs, func(t int) string { return d.Columns[c][t] })
		}
	}
	return inputs, nil
}

func normalForm(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return unicode.ToLower(r)
	}, word)
}

const affix = 3 // letters

func prefix(word string) string {
	letters := []rune(normalForm(word))
	return string(letters[:min(affix, len(letters))])
}

func suffix(word string) string {
	letters := []rune(normalForm(word))
	return string(letters[max(0, len(letters)-affix):])
}

// shape replaces upper case letters by X, other letters by x and digits by d, and keeps other characters. It shortens a
// run of equal characters to two, and the whole to ten.
func shape(word string) string {
	const longest = 10
	var s []rune
	for _, r := range word {
		switch {
		case unicode.IsUpper(r):
			r = 'X'
		case unicode.IsLetter(r):
			r = 'x'
		case unicode.IsDigit(r):
			r = 'd'
		}
		if n := len(s); n >= 2 && s[n-1] == r && s[n-2] == r {
			continue
		}
		if s = append(s, r); len(s) == longest {
			break
		}
	}
	return string(s)
}
