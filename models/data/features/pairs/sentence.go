package pairs

import (
	"math/bits"
	"strings"
	"unicode"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// sentence is a sentence pair in which properties look up their values.
type sentence struct {
	n, m   int
	source words
	target words
	dice   []float64 // [n·m]
	spelt  []spelt   // [n·m]
}

// words are the words of one side.
type words struct {
	lower  []string
	runes  [][]rune
	ids    []int32 // in the statistics, −1 if unknown
	kind   []int   // word, number or punctuation
	copies []int   // how often the word occurs in the sentence
	class  []int   // of the number of sentence pairs with the word
	first  []float64
	second []float64 // the two largest coefficients with words of the other side
}

// spelt is how alike two words are spelt.
type spelt struct{ likeness, prefix int8 }

// Kinds of words.
const (
	plainWord = iota
	number
	punctuation
)

var kindNames = []string{"word", "number", "punctuation"}

// load loads a sentence pair; needs says what of it is read.
func (s *sentence) load(stats *Statistics, source, target []string, needs needs) {
	s.n, s.m = len(source), len(target)
	s.source.load(source)
	s.target.load(target)
	own := int32(0)
	if stats.has(s.source.lower, s.target.lower) {
		own = 1
	}
	s.source.count(&stats.source, own)
	s.target.count(&stats.target, own)
	s.dice = vec.Grow(s.dice, s.n*s.m)
	for i, w := range s.source.ids {
		for j, t := range s.target.ids {
			d := stats.dice(w, t, own)
			s.dice[i*s.m+j] = d
			s.source.compete(i, d)
			s.target.compete(j, d)
		}
	}
	if needs&needsSpelling == 0 {
		return
	}
	s.spelt = vec.Grow(s.spelt, s.n*s.m)
	for i, a := range s.source.runes {
		for j, b := range s.target.runes {
			s.spelt[i*s.m+j] = compare(a, b)
		}
	}
}

func (w *words) load(sentence []string) {
	n := len(sentence)
	w.lower, w.runes = vec.Grow(w.lower, n), vec.Grow(w.runes, n)
	w.kind, w.copies = vec.Grow(w.kind, n), vec.Grow(w.copies, n)
	for k, text := range sentence {
		w.lower[k] = strings.ToLower(text)
		w.runes[k] = []rune(w.lower[k])
		w.kind[k] = kindOf(w.runes[k])
	}
	for k, text := range w.lower {
		w.copies[k] = 0
		for _, other := range w.lower {
			if other == text {
				w.copies[k]++
			}
		}
	}
}

// count looks the words up in statistics; own is 1 if they counted this sentence pair, else 0.
func (w *words) count(a *side, own int32) {
	n := len(w.lower)
	w.ids, w.class = vec.Grow(w.ids, n), vec.Grow(w.class, n)
	w.first, w.second = vec.Grow(w.first, n), vec.Grow(w.second, n)
	clear(w.first)
	clear(w.second)
	for k, text := range w.lower {
		w.ids[k], w.class[k] = a.words.Index(text), 0
		if id := w.ids[k]; id >= 0 {
			w.class[k] = min(bits.Len32(uint32(max(0, a.counts[id]-own))), len(frequencyNames)-1)
		}
	}
}

// compete notes a coefficient of word k.
func (w *words) compete(k int, d float64) {
	switch {
	case d > w.first[k]:
		w.first[k], w.second[k] = d, w.first[k]
	case d > w.second[k]:
		w.second[k] = d
	}
}

// rival returns the largest coefficient of word k other than one that is d.
func (w *words) rival(k int, d float64) float64 {
	if d == w.first[k] {
		return w.second[k]
	}
	return w.first[k]
}

func kindOf(word []rune) int {
	kind := punctuation
	for _, r := range word {
		switch {
		case unicode.IsDigit(r):
			return number
		case unicode.IsLetter(r):
			kind = plainWord
		}
	}
	return kind
}

// compare compares the spelling of two words.
func compare(a, b []rune) spelt {
	prefix := 0
	for prefix < min(len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	to := spelt{prefix: int8(min(prefix, len(prefixNames)-1))}
	long, short := max(len(a), len(b)), min(len(a), len(b))
	switch {
	case prefix == long:
		to.likeness = identical
	case short < 3 || 2*short < long:
		to.likeness = tooShort
	default:
		to.likeness = int8(min(4, 5*(long-distance(a, b))/long))
	}
	return to
}

// distance returns the number of insertions, deletions and replacements of letters that turn a into b (Levenshtein
// 1966).
func distance(a, b []rune) int {
	var memory [64]int
	row := memory[:0]
	for j := range len(b) + 1 {
		row = append(row, j)
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			best := min(row[j], row[j+1]) + 1
			if x == y {
				best = min(best, diagonal)
			} else {
				best = min(best, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], best
		}
	}
	return row[len(b)]
}

// needs says what of a sentence pair is read.
type needs uint

const needsSpelling needs = 1
