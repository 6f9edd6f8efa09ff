// Package tokens splits raw text into sentences and tokens, as it arrives.
package tokens

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Token is a piece of a text.
type Token struct {
	Text       string
	Start, End int // in characters (Unicode code points) of the text, End exclusive
}

// Splitter splits a text into its tokens, in order.
type Splitter interface {
	Split(text string) []Token
}

// Unicode splits a sentence at the word boundaries of Unicode's annex 29 and leaves out what is Invisible: words and
// numbers with the apostrophes, points and commas inside them are tokens, and so is every other sign. It joins what the
// annex separates in two cases: a run of equal points, hyphens, exclamation or question marks is one token, and so is
// an abbreviation with its point ("Mr.", "U.S."), unless that point ends the text and belongs to one word, as in "He
// works at Acme Inc.". And it separates the endings 's, 'm, 'd, 're, 've, 'll and n't, which are tokens in the usual
// English corpora.
type Unicode struct{}

func (Unicode) Split(text string) []Token {
	var all []Token
	state, at := -1, 0
	begun := 0 // where the last token begins in bytes
	for rest := text; rest != ""; {
		var word string
		word, rest, state = uniseg.FirstWordInString(rest, state)
		ends := len(text) - len(rest)
		from := at
		at += utf8.RuneCountInString(word)
		visible := strings.TrimLeftFunc(word, Invisible)
		from += utf8.RuneCountInString(word[:len(word)-len(visible)])
		first := ends - len(visible)
		if visible = strings.TrimRightFunc(visible, trails); visible == "" {
			continue
		}
		token := Token{visible, from, from + utf8.RuneCountInString(visible)}
		if last := len(all) - 1; last >= 0 && all[last].End == token.Start &&
			joins(all[last].Text, visible, strings.TrimFunc(rest, Invisible) == "") {
			all[last].Text = text[begun : first+len(visible)]
			all[last].End = token.End
			continue
		}
		begun = first
		if n := ending(visible); n > 0 {
			stem, end := visible[:len(visible)-n], visible[len(visible)-n:]
			middle := token.End - utf8.RuneCountInString(end)
			all = append(all, Token{stem, token.Start, middle})
			token = Token{end, middle, token.End}
			begun += len(stem)
		}
		all = append(all, token)
	}
	return all
}

// trails reports whether a character behind a token is no part of it. A variation selector belongs to the character
// before it, as marks do.
func trails(r rune) bool { return Invisible(r) && !unicode.Is(unicode.Mn, r) }

// Blanks splits at spaces, tabs and ends of lines alone, for text whose tokens are separated already.
type Blanks struct{}

func (Blanks) Split(text string) []Token {
	var all []Token
	at, begun, first := 0, -1, 0 // in characters; where a token begins, in bytes
	for k, r := range text + " " {
		switch blank := strings.ContainsRune(" \t\r\n", r); {
		case blank && begun >= 0:
			all, begun = append(all, Token{text[first:k], begun, at}), -1
		case !blank && begun < 0:
			begun, first = at, k
		}
		at++
	}
	return all
}

// endings are those of English words that count as words, in lower case and with a plain apostrophe.
var endings = []string{"'s", "'m", "'d", "'re", "'ve", "'ll", "n't"}

// ending returns how many bytes of a word are an ending that follows a letter; 0 if it has none.
func ending(word string) int {
	if at := strings.IndexAny(word, "'’"); at < 1 {
		return 0
	}
	plain := strings.ToLower(strings.ReplaceAll(word, "’", "'"))
	for _, end := range endings {
		stem, found := strings.CutSuffix(plain, end)
		if r, _ := utf8.DecodeLastRuneInString(stem); !found || !unicode.IsLetter(r) {
			continue
		}
		n := 0
		for range end {
			_, size := utf8.DecodeLastRuneInString(word[:len(word)-n])
			n += size
		}
		return n
	}
	return 0
}

// joins reports whether two pieces that touch are one token; last says that the second one ends the text.
func joins(before, next string, last bool) bool {
	switch {
	// one of them, or a run
	case strings.Contains(".-!?", next) && before[0] == next[0] && before[len(before)-1] == next[0]:
		return true
	case before == "'" || before == "’":
		return slices.Contains(endings, "'"+strings.ToLower(next))
	case next != ".":
		return false
	}
	return dotted(before) || !last && (abbreviation(before) != none || initial(before))
}
