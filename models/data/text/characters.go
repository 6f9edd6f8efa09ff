package text

import (
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// longestWord is how many characters of a word EncodeCharacters keeps at most: of longer ones, such as addresses of web pages, the
// first half and the last half of that many.
const longestWord = 32

// BuildCharacters collects the characters of the words of a data set. Characters seen fewer than minCount times are left out, so that
// training sees Unknown too. Number 0 is Unknown; the others are sorted from frequent to rare. Processes that have read the text of their own examples alone count those of all.
func BuildCharacters(d *structured.Dataset, minCount int) (*structured.Alphabet, error) {
	words, err := wordsOf(d.Readable())
	if err != nil {
		return nil, err
	}
	c := newCounter()
	for _, word := range words {
		for _, r := range word {
			c.add(string(r))
		}
	}
	return c.vocabulary(d, minCount)
}

// EncodeCharacters sets d.Characters to the characters of the words, numbered by vocab. Processes that have read the text of their own examples alone tell each other their numbers.
func EncodeCharacters(d *structured.Dataset, vocab *structured.Alphabet) error {
	own := d.Readable()
	words, err := wordsOf(own)
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
	if own == d {
		return nil
	}
	return tellCharacters(d)
}

// tellCharacters completes the characters of d, of which this process has those of its own words.
func tellCharacters(d *structured.Dataset) error {
	own, lengths := d.Characters, make([]int32, d.Positions())
	mine := ownPositions(d, lengths, 1)
	for t := range mine {
		mine[t] = int32(own.Offsets[t+1] - own.Offsets[t])
	}
	if err := structured.AllGatherNumbers(d.Share, lengths, mine); err != nil {
		return err
	}
	all := &structured.Segments{Offsets: make([]int, 1, len(lengths)+1), Vocab: own.Vocab}
	for t, n := range lengths {
		all.Offsets = append(all.Offsets, all.Offsets[t]+int(n))
	}
	all.Ids = make([]int32, all.Offsets[len(lengths)])
	to := all.Ids[all.Offsets[d.Offsets[d.Share.First]]:all.Offsets[d.Offsets[d.Share.Last]]]
	copy(to, own.Ids)
	d.Characters = all
	return structured.AllGatherNumbers(d.Share, all.Ids, to)
}

// wordsOf returns the column of words.
func wordsOf(d *structured.Dataset) ([]string, error) {
	words := d.Column(WordColumn)
	if words == nil {
		return nil, structured.BadInput("%s: word features need a column named %s, found %q", d.Name, WordColumn, d.ColumnNames)
	}
	return words, nil
}
