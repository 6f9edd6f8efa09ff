// Package tokens splits raw text into tokens.
package tokens

import (
	"strings"
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

// Unicode splits at the word boundaries of Unicode's annex 29 and leaves out white space: words and numbers with the apostrophes, points
// and commas inside them are tokens, and so is every other sign.
type Unicode struct{}

// Split implements Splitter.
func (Unicode) Split(text string) []Token {
	var all []Token
	state, at := -1, 0
	for rest := text; rest != ""; {
		var word string
		word, rest, state = uniseg.FirstWordInString(rest, state)
		n := utf8.RuneCountInString(word)
		if strings.TrimSpace(word) != "" {
			all = append(all, Token{word, at, at + n})
		}
		at += n
	}
	return all
}
