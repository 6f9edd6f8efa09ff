// Package characters turns text into chains of characters, whose labels say where tokens and sentences end, and back:
// what it takes to learn from a treebank how its text is split.
package characters

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dsp-go/dsp/models/data/tokens"
)

// The labels of a visible character.
const (
	Inside            = "inside"             // the token goes on
	End               = "end"                // it ends its token
	SentenceEnd       = "sentence"           // it ends its sentence, too
	Multiword         = "multiword"          // it ends a token of several words
	MultiwordSentence = "multiword-sentence" // and its sentence
)

// Paragraph is a piece of text that no sentence crosses the ends of.
type Paragraph struct {
	Text  string
	Start int // in characters (code points) of the whole text
}

// Paragraphs splits a text at its empty lines or, with lines, at the end of every line. Paragraphs without visible
// characters are left out.
func Paragraphs(text string, lines bool) []Paragraph {
	var all []Paragraph
	from, at := 0, 0
	add := func(to int) {
		if p := text[from:to]; strings.IndexFunc(p, visible) >= 0 {
			all = append(all, Paragraph{p, at})
		}
		at += utf8.RuneCountInString(text[from:to])
		from = to
	}
	for line := 0; line < len(text); {
		end := strings.IndexByte(text[line:], '\n')
		if end < 0 {
			break
		}
		end += line + 1
		if lines || strings.IndexFunc(text[line:end], visible) < 0 {
			add(end)
		}
		line = end
	}
	add(len(text))
	return all
}

// visible reports whether a character has a shape. The others that are no white space belong to the token of a visible
// one beside them.
func visible(r rune) bool { return !tokens.Invisible(r) }

// Columns are the columns that labels are learned from, one row for each visible character of a paragraph.
var Columns = []string{"before", "after", "gap", "word", "next", "previous", "left", "right", "whole"}

// reach is how many characters the columns before and after have at most, and longest how many the columns of words
// have.
const (
	reach   = 12
	longest = 40
)

// none stands for what is not there.
const none = "_"

// place is a visible character.
type place struct {
	at, end    int // in bytes of the paragraph
	from, to   int // with the invisible characters that belong to it
	first, len int // the word around it that white space ends: its first place, and how many it has
}

// places returns the visible characters of a paragraph. The invisible ones that are no white space belong to the
// visible one before them in their word, or else to the next one of the word; those of a word without visible ones
// belong to the word before it or, at the beginning, to the next one.
func places(text string) []place {
	var all []place
	first := 0
	waiting, end := -1, 0 // where invisible characters begin and end that no visible one came before
	close := func() {
		for k := first; k < len(all); k++ {
			all[k].first, all[k].len = first, len(all)-first
		}
		if first = len(all); waiting >= 0 && first > 0 {
			all[first-1].to, waiting = end, -1
		}
	}
	for at, r := range text {
		_, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case visible(r):
			p := place{at: at, end: at + size, from: at, to: at + size}
			if waiting >= 0 {
				p.from, waiting = waiting, -1
			}
			all = append(all, p)
		case unicode.IsSpace(r):
			close()
		case len(all) > first:
			all[len(all)-1].to = at + size
		default:
			if end = at + size; waiting < 0 {
				waiting = at
			}
		}
	}
	close()
	return all
}

// Rows returns the columns of a paragraph: before and after hold the characters of the word around a character, up to
// and with it, and behind it; gap says whether the word goes on behind it (none), white space follows, or the paragraph
// ends. At the end of a word, word, next and previous hold it and its neighbours; whole holds it everywhere. Left and
// right are the letters, or the digits, nearest to the end of before and to the beginning of after, but for one sign:
// well and known of "well-|known", and of "well|-known".
func Rows(text string) [][]string {
	all := places(text)
	columns := make([][]string, len(Columns))
	for c := range columns {
		columns[c] = make([]string, len(all))
	}
	word := func(k int) string { // that has the place k
		if k < 0 || k >= len(all) {
			return none
		}
		first := all[k].first
		return text[all[first].at:all[min(first+all[k].len, first+longest)-1].end]
	}
	for k, p := range all {
		last := p.first + p.len - 1
		columns[0][k] = text[all[max(p.first, k+1-reach)].at:p.end]
		for _, c := range columns[1:8] {
			c[k] = none
		}
		columns[6][k] = lastRun(columns[0][k])
		if columns[8][k] = word(k); k > p.first {
			columns[8][k] = columns[8][k-1] // the same string
		}
		if k < last {
			columns[1][k] = text[p.end:all[min(last, k+reach)].end]
			columns[7][k] = firstRun(columns[1][k])
			continue
		}
		columns[2][k] = "space"
		if last == len(all)-1 {
			columns[2][k] = "end"
		}
		columns[3][k], columns[4][k], columns[5][k] = word(k), word(k+1), word(p.first-1)
	}
	return columns
}

// Kinds of characters that make runs.
const (
	sign = iota
	letter
	digit
)

func kindOf(r rune) int {
	switch {
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	}
	return sign
}

// firstRun returns the letters, or the digits, that a text begins with, behind one sign at most.
func firstRun(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	if kindOf(r) == sign {
		text = text[size:]
		r, _ = utf8.DecodeRuneInString(text)
	}
	kind := kindOf(r)
	if kind == sign {
		return none
	}
	if end := strings.IndexFunc(text, func(r rune) bool { return kindOf(r) != kind }); end >= 0 {
		text = text[:end]
	}
	return text
}

// lastRun returns the letters, or the digits, that a text ends with, before one sign at most.
func lastRun(text string) string {
	r, size := utf8.DecodeLastRuneInString(text)
	if kindOf(r) == sign {
		text = text[:len(text)-size]
		r, _ = utf8.DecodeLastRuneInString(text)
	}
	kind := kindOf(r)
	if kind == sign {
		return none
	}
	if at := strings.LastIndexFunc(text, func(r rune) bool { return kindOf(r) != kind }); at >= 0 {
		_, size := utf8.DecodeRuneInString(text[at:])
		text = text[at+size:]
	}
	return text
}

// Token is a token of a text.
type Token struct {
	Form       string // as function Form makes it
	Start, End int    // in characters of the whole text, End exclusive
	Multiword  bool
	SpaceAfter bool // white space follows, or the paragraph ends
}

// Given returns labels of text that is split already: white space separates its tokens, and the paragraph is a
// sentence. Tokens are of several words where the labels predicted say so; nil: none is.
func (p Paragraph) Given(predicted []string) []string {
	all := places(p.Text)
	labels := make([]string, len(all))
	for k := range all {
		several := predicted != nil && (predicted[k] == Multiword || predicted[k] == MultiwordSentence)
		switch ends := k == all[k].first+all[k].len-1; {
		case !ends:
			labels[k] = Inside
		case several:
			labels[k] = Multiword
		default:
			labels[k] = End
		}
	}
	return labels
}

// OneSentence returns labels that have the tokens of those predicted, and no end of a sentence within the paragraph.
func OneSentence(predicted []string) []string {
	labels := slices.Clone(predicted)
	for k, label := range labels {
		switch label {
		case SentenceEnd:
			labels[k] = End
		case MultiwordSentence:
			labels[k] = Multiword
		}
	}
	return labels
}

// Sentences returns the sentences that the labels of its visible characters make of a paragraph. The last character
// ends its sentence, whatever its label.
func (p Paragraph) Sentences(labels []string) [][]Token {
	all := places(p.Text)
	var sentences [][]Token
	var current []Token
	first, counted, count := 0, 0, p.Start // characters before byte counted
	characters := func(at int) int {
		count += utf8.RuneCountInString(p.Text[counted:at])
		counted = at
		return count
	}
	for k := range all {
		label, last := labels[k], k == len(all)-1
		if label == Inside && !last {
			continue
		}
		form := Form(p.Text[all[first].from:all[k].to])
		start := characters(all[first].from)
		current = append(current, Token{
			Form: form, Start: start, End: characters(all[k].to), Multiword: label == Multiword || label == MultiwordSentence,
			SpaceAfter: last || all[k+1].first != all[k].first,
		})
		first = k + 1
		if last || label == SentenceEnd || label == MultiwordSentence {
			sentences = append(sentences, current)
			current = nil
		}
	}
	return sentences
}
