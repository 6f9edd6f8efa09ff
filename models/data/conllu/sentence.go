// Package conllu reads and writes documents in CoNLL-U, the format of Universal Dependencies: sentences with their
// words, the tokens of the text that the words are parts of, and all lines around them.
package conllu

import (
	"slices"
	"strconv"
	"strings"
)

// The fields of a word, in the order of the columns.
const (
	ID = iota
	Form
	Lemma
	UPOS
	XPOS
	Feats
	Head
	Deprel
	Deps
	Misc
	FieldCount
)

// FieldNames are the names of the columns.
var FieldNames = [FieldCount]string{"id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"}

// Empty stands for a field that is not given.
const Empty = "_"

// Word is a syntactic word.
type Word struct {
	Fields [FieldCount]string // ID is not used: words are numbered by their place
	After  []string           // the lines of empty nodes after the word
}

// Token is a token of the text: a word, or several words that are written as one.
type Token struct {
	Form        string
	Misc        string
	First, Last int  // its words, from 0, Last inclusive
	Multi       bool // it has a line of its own: 1-2
}

// SpaceAfter reports whether white space follows the token in its text.
func (t *Token) SpaceAfter() bool { return Value(t.Misc, "SpaceAfter") != "No" }

type Sentence struct {
	Line     int // of its first word in its file, from 1
	Comments []string
	Before   []string // the lines of empty nodes before the first word
	Words    []Word
	Tokens   []Token // they cover the words in order
}

// Comment returns the value of a comment "# key = value"; false if there is none.
func (s *Sentence) Comment(key string) (string, bool) {
	for _, line := range s.Comments {
		name, value, ok := strings.Cut(strings.TrimLeft(line, "# "), "=")
		if ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// Begins reports whether the sentence begins a paragraph or a document.
func (s *Sentence) Begins() bool {
	return slices.ContainsFunc(s.Comments, func(line string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(line, "# "), " ")
		return name == "newpar" || name == "newdoc"
	})
}

// Text returns the sentence as it is written, without white space at its end.
func (s *Sentence) Text() string {
	var text strings.Builder
	for k := range s.Tokens {
		text.WriteString(s.Tokens[k].Form)
		if k+1 < len(s.Tokens) && s.Tokens[k].SpaceAfter() {
			text.WriteByte(' ')
		}
	}
	return text.String()
}

// Append appends the sentence as CoNLL-U, with the empty line that ends it.
func (s *Sentence) Append(to []byte) []byte {
	lines := func(all []string) {
		for _, line := range all {
			to = append(append(to, line...), '\n')
		}
	}
	lines(s.Comments)
	lines(s.Before)
	next := 0
	for k := range s.Words {
		for ; next < len(s.Tokens) && s.Tokens[next].First == k; next++ {
			if t := &s.Tokens[next]; t.Multi {
				to = append(strconv.AppendInt(to, int64(t.First+1), 10), '-')
				to = append(strconv.AppendInt(to, int64(t.Last+1), 10), '\t')
				to = append(append(to, t.Form...), "\t_\t_\t_\t_\t_\t_\t_\t"...)
				to = append(append(to, t.Misc...), '\n')
			}
		}
		to = strconv.AppendInt(to, int64(k+1), 10)
		for _, field := range s.Words[k].Fields[Form:] {
			to = append(append(to, '\t'), field...)
		}
		to = append(to, '\n')
		lines(s.Words[k].After)
	}
	return append(to, '\n')
}

// Value returns the value of a key in a list "key=value|key=value" such as FEATS and MISC; empty if the list lacks the
// key.
func Value(list, key string) string {
	for item := range strings.SplitSeq(list, "|") {
		if value, ok := strings.CutPrefix(item, key); ok && value != "" && value[0] == '=' {
			return value[1:]
		}
	}
	return ""
}
