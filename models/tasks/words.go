package tasks

import (
	"cmp"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured"
)

// WordsSetting is the setting of the longest sentence. Tasks and formats of text take it.
const WordsSetting = "max-words"

// anyWords is how many words a sentence has at most, unless a setting or the task says otherwise: a file without blank
// lines is one sentence.
const anyWords = 1_000_000

// mostComments is how many lines beside those of words a sentence of any length may have.
const mostComments = 10_000

// LongestSentence returns how many words a sentence has at most, given a limit; 0: what the task takes.
func (t Task) LongestSentence(limit int) int { return cmp.Or(limit, t.MostWords, anyWords) }

// words returns the words of an example: of a pair of sentences those of the longer one.
func (t Task) words(d *structured.Dataset, i int) int {
	if t.Request == Pairs && d.Table(alignments.SourceRows) != nil {
		n, m := alignments.Size(d, i)
		return max(n, m)
	}
	return d.Length(i)
}

// MostLines returns how many lines of text a sentence has at most, whose words are at most as many; 0: what the task
// takes.
func (t Task) MostLines(words int) int { return 2*t.LongestSentence(words) + mostComments }

// CheckWords refuses examples of text, all of them where there is no list, that are longer than a number of words; 0:
// what the task takes. For trees and links, memory grows with the square of the length, and time with its cube.
func (t Task) CheckWords(d *structured.Dataset, examples []int, most int) error {
	most = t.LongestSentence(most)
	check := func(i int) error {
		if n := t.words(d, i); n > most {
			return structured.BadInput("%s: a sentence of %d words, expected at most %d; --max-words %[2]d "+
				"takes it, if memory does", d.Where(i), n, most)
		}
		return nil
	}
	if examples == nil {
		for i := range d.Len() {
			if err := check(i); err != nil {
				return err
			}
		}
	}
	for _, i := range examples {
		if err := check(i); err != nil {
			return err
		}
	}
	return nil
}
