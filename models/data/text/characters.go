package text

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// longestWord is how many characters of a word EncodeCharacters keeps at most: of longer ones, such as addresses of web
// pages, the first half and the last half of that many.
const longestWord = 32

// BuildCharacters collects the characters of the words of a data set. Characters seen fewer than minCount times are
// left out, so that training sees Unknown too. Number 0 is Unknown; the others are sorted from frequent to rare. Peers,
// of which each has its own examples, count those of all.
func BuildCharacters(d *structured.Dataset, minCount int, peers structured.Peers) (*structured.Alphabet, error) {
	words, err := wordsOf(d)
	if err != nil {
		return nil, err
	}
	c := newCounter()
	for _, word := range words {
		for _, r := range word {
			c.add(string(r))
		}
	}
	return c.vocabulary(peers, minCount)
}

// EncodeCharacters sets d.Characters to the characters of the words, numbered by vocab.
func EncodeCharacters(d *structured.Dataset, vocab *structured.Alphabet) error {
	words, err := wordsOf(d)
	if err != nil {
		return err
	}
	number := map[rune]int32{}
	for id, name := range vocab.Names() {
		if r := []rune(name); len(r) == 1 {
			number[r[0]] = int32(id)
		}
	}
	s := &structured.Segments{Offsets: make([]int, 1, len(words)+1), Ids: []int32{}, Vocab: vocab}
	for _, word := range words {
		start := len(s.Ids)
		for _, r := range word {
			s.Ids = append(s.Ids, number[r])
		}
		if n := len(s.Ids) - start; n > longestWord {
			const half = longestWord / 2
			s.Ids = slices.Delete(s.Ids, start+half, start+n-half)
		}
		s.Offsets = append(s.Offsets, len(s.Ids))
	}
	d.Characters = s
	return nil
}

func wordsOf(d *structured.Dataset) ([]string, error) {
	words := d.Column(WordColumn)
	if words == nil {
		return nil, structured.BadInput("%s: word features need a column named %s, found %q", d.Name,
			WordColumn, d.ColumnNames)
	}
	return words, nil
}
