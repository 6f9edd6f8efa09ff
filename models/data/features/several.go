package features

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The marks of a word's ends in n-grams.
const (
	wordStart = "<"
	wordEnd   = ">"
)

// ngrams yields the different pieces of a word of 2 to n letters, where the marks < and > before and after the word
// count as letters. The mark alone is not a piece, and neither is the whole word with both marks.
func ngrams(cell string, n int, yield func(piece string)) {
	if cell == "" {
		return
	}
	text := wordStart + cell + wordEnd
	ends := make([]int, 0, len(text)) // where each letter ends
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
		ends = append(ends, i)
	}
	start := 0
	for at, end := range ends {
		for k := at + 1; k < min(at+n, len(ends)); k++ {
			if piece := text[start:ends[k]]; len(piece) < len(text) && strings.Index(text, piece) == start {
				yield(piece)
			}
		}
		start = end
	}
}

// each yields the different values that a cell lists between | signs, as the features of CoNLL-U are.
func each(cell string, _ int, yield func(value string)) {
	values := strings.Split(cell, "|")
	for i, value := range values {
		if value != "" && !slices.Contains(values[:i], value) {
			yield(value)
		}
	}
}
