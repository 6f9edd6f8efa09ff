package text

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"github.com/dsp-go/dsp/structured"
)

// placeholders stand in the label column of files whose labels are unknown.
var placeholders = []string{"_", "-", "--", "?", "O", "o", "X", "x", "*", ".", "NULL", "None", "none", "null"}

// mostLooked is how many lines Prose looks at.
const mostLooked = 100

// Prose looks at the beginning of text that should have a token per line, in columns without tabs, and reports whether
// it is rather raw text; if so, line is its first one and number that line's, from 1. columns are those of the file,
// width how many the training data has, 0 if unknown; known reports whether the model knows a label.
//
// Columns are never raw text if there are tabs, if a line has a single word, or if any label is known or a placeholder.
// Otherwise lines of unequal length are raw text, and so are lines of a wrong length or with the label column full of
// different words in lower case, or lines of a wrong length full of words in capitals; labels that the model does not
// know are in capitals, have a prefix such as B-, or come back. Lines that start with # are left out, unless comments,
// those of Conll.Comments, say that they are tokens.
func Prose(text []byte, columns Columns, width int, comments string,
	known func(label string) bool) (line string, number int, found bool) {
	if len(columns.fields) == 0 {
		columns, _ = ParseColumns(DefaultColumns)
	}
	var lines [][]string
	n, c := 0, Conll{Comments: comments}
	for raw := range bytes.Lines(text) {
		n++
		content := strings.TrimRight(string(raw), blanks+"\n")
		if said, comment := c.byHand(content); comment || !said && strings.HasPrefix(content, hash) {
			continue
		}
		if !IsBlank(content) && !docStart(content) {
			fields := splitBlanks(content)
			if strings.Contains(content, "\t") || len(fields) < 2 {
				return "", 0, false
			}
			if lines = append(lines, fields); number == 0 {
				line, number = strings.TrimSpace(content), n
			}
		}
		if len(lines) == mostLooked {
			break
		}
	}
	if len(lines) == 0 {
		return "", 0, false
	}
	count := len(lines[0])
	narrowest, labeled := columns.minWidth(), columns.Has(LabelColumn)
	switch {
	case slices.ContainsFunc(lines, func(fields []string) bool { return len(fields) != count }):
		last := func(fields []string) bool { return wordLike(fields[len(fields)-1]) }
		return line, number, slices.ContainsFunc(lines, last) || shouted(lines)
	case labeled && (count == narrowest-1 || count == width-1):
		return line, number, len(lines) == 1 && endsSentence(lines[0][count-1])
	case count < narrowest || width > 0 && count != width:
		return line, number, wordLike(lines[0][count-1]) || shouted(lines)
	case !labeled:
		return line, number, len(lines) == 1 && endsSentence(lines[0][count-1])
	}
	at := slices.Index(columns.names(count), LabelColumn)
	different := map[string]bool{}
	for _, fields := range lines {
		label := fields[at]
		for part := range strings.SplitSeq(label, "|") {
			if known(part) || slices.Contains(placeholders, part) {
				return "", 0, false
			}
		}
		if !wordLike(label) {
			return "", 0, false
		}
		different[label] = true
	}
	return line, number, len(lines) <= 3 || 4*len(different) > 3*len(lines)
}

// ProseInConllu is Prose for text that should be CoNLL-U: a line of words that is neither a comment nor has tabs, and
// not ten columns, either, nor a word with labels behind it.
func ProseInConllu(text []byte) (line string, number int, found bool) {
	for raw := range bytes.Lines(text) {
		number++
		if IsBlank(bytes.TrimRight(raw, "\r\n")) || raw[0] == '#' {
			continue
		}
		fields := splitBlanks(strings.TrimSuffix(string(raw), "\n"))
		prose := bytes.IndexByte(raw, '\t') < 0 && len(fields) > 1 && len(fields) != len(conlluColumns) &&
			slices.ContainsFunc(fields[1:], wordLike)
		return string(bytes.TrimSpace(raw)), number, prose
	}
	return "", 0, false
}

// splitBlanks returns the parts of a line between blanks.
func splitBlanks(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(blanks, r) })
}

// mostQuoted is how many characters of a line a message quotes.
const mostQuoted = 60

// NoProse is the refusal of a file of tokens that Prose or ProseInConllu takes for raw text, because of this line.
func NoProse(name string, number int, line string) error {
	if opensTree(splitBlanks(line)) {
		return structured.BadInput("%s:%d: %.60q opens a tree in brackets, expected one token per line; "+
			"models of --task constituency read trees", name, number, line)
	}
	if letters := []rune(line); len(letters) > mostQuoted {
		line = string(letters[:mostQuoted]) + "…"
	}
	return structured.BadInput("%s:%d: %q looks like raw text, expected one token per line; "+
		"--text splits raw text into sentences and tokens", name, number, line)
}

// wordLike reports whether a field is rather a word of a text than a label: it has a letter in lower case or without
// case, no prefix of an entity tag, and no sign that labels are made with.
func wordLike(field string) bool {
	if prefix, _, ok := strings.Cut(field, "-"); ok && len(prefix) == 1 {
		return false
	}
	return !strings.ContainsAny(field, "_:|=+") && strings.ContainsFunc(field, func(r rune) bool {
		return unicode.IsLetter(r) && !unicode.IsUpper(r)
	}) ||
		endsSentence(field)
}

// shouted reports whether lines are rather text in capitals than columns: three words a line or more, of which three
// quarters have nothing but letters, and are no tags that many know.
func shouted(lines [][]string) bool {
	words, all := 0, 0
	for _, fields := range lines {
		all += len(fields)
		for _, field := range fields {
			letters := strings.TrimRight(field, ".,:;!?")
			isWord := !strings.ContainsFunc(letters, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
			if isWord && !knownTags()[field] && !slices.Contains(placeholders, field) || wordLike(field) {
				words++
			}
		}
	}
	return all >= 3*len(lines) && 4*words >= 3*all
}

// opensTree reports whether a line begins as a tree in brackets does, with two brackets and at most one label between
// them.
func opensTree(fields []string) bool {
	if len(fields) == 0 || fields[0][0] != '(' {
		return false
	}
	return strings.IndexByte(fields[0][1:], '(') >= 0 || len(fields) > 1 && len(fields[1]) > 1 && fields[1][0] == '('
}

// endsSentence reports whether a field is a word with a sign behind it that ends sentences.
func endsSentence(field string) bool {
	word := strings.TrimRight(field, ".!?…。！？")
	return word != field && strings.ContainsFunc(word, unicode.IsLetter)
}
