package models

import (
	"cmp"

	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// mostWords is how many words a sentence has at most, unless a setting or the task says otherwise: a file without blank lines is one sentence.
const mostWords = 1_000_000

// checkWords refuses examples of text, all of them where there is no list, that are longer than a number of words; 0: what the task takes. For trees and links,
// memory grows with the square of the length, and time with its cube.
func checkWords(t tasks.Task, d *structured.Dataset, examples []int, most int) error {
	most = cmp.Or(most, t.MostWords, mostWords)
	check := func(i int) error {
		if n := d.Length(i); n > most {
			return structured.BadInput("%s: a sentence of %d words, expected at most %d; --max-words %[2]d takes it, if memory does", d.Where(i), n, most)
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
