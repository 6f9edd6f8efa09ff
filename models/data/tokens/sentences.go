package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Limits of a sentence. A longer one is cut behind a token, so that text without points, such as a log, stays readable
// in little memory.
const (
	maxTokens = 1000
	maxBytes  = 1 << 16
)

// ahead is how many bytes behind maxBytes are looked at.
const ahead = 1 << 10

// Sentence is a sentence of a text.
type Sentence struct {
	Start  int     // of its first token in characters of the whole text
	Tokens []Token // at least one; they count characters of the whole text, too
}

// Rules say how a text is split.
type Rules struct {
	Splitter Splitter
	Lines    bool // every line ends a paragraph, not only an empty one
	Whole    bool // a paragraph is one sentence
}

// Split splits a text into sentences: at empty lines, and within the paragraphs between them at the sentence boundaries
// of Unicode's annex 29, except where an abbreviation goes before the boundary. A line may go on in the next one; its
// end is no more than a space. Text without tokens gives no sentences.
func (r Rules) Split(text string) []Sentence {
	var all []Sentence
	at := 0
	for text != "" {
		end := r.paragraph(text)
		all = r.paragraphs(all, text[:end], at)
		at += utf8.RuneCountInString(text[:end])
		text = text[end:]
	}
	return all
}

// paragraph returns where the first paragraph of a text ends: behind its empty line.
func (r Rules) paragraph(text string) int {
	for from := 0; ; {
		k := strings.IndexByte(text[from:], '\n')
		if k < 0 {
			return len(text)
		}
		line := text[from : from+k]
		if from += k + 1; r.Lines || strings.TrimFunc(line, Invisible) == "" {
			return from
		}
	}
}

// spaces are the ends of lines as the annex sees them within a paragraph.
var spaces = strings.NewReplacer("\n", " ", "\r", " ")

// paragraphs appends the sentences of a paragraph that begins at character at.
func (r Rules) paragraphs(all []Sentence, text string, at int) []Sentence {
	text = spaces.Replace(text)
	if r.Whole {
		return r.sentence(all, text, at)
	}
	for text != "" {
		end := sentenceEnd(text)
		all = r.sentence(all, text[:end], at)
		at += utf8.RuneCountInString(text[:end])
		text = text[end:]
	}
	return all
}

// sentenceEnd returns where the first sentence of a paragraph ends, behind the space that follows it.
func sentenceEnd(text string) int {
	text = text[:wholeRunes(text, maxBytes+ahead)]
	end, state := 0, -1
	for rest := text; rest != ""; {
		var piece string
		piece, rest, state = uniseg.FirstSentenceInString(rest, state)
		end += len(piece)
		if end >= maxBytes {
			return cutAt(text, maxBytes)
		}
		if rest == "" || strings.TrimFunc(piece, Invisible) != "" && !goesOn(text[:end], rest) {
			break
		}
	}
	return end
}

// cutAt returns the end of the last space within the first limit bytes, or if there is none that of the last whole
// character.
func cutAt(text string, limit int) int {
	limit = wholeRunes(text, limit)
	if limit == len(text) {
		return limit
	}
	if k := strings.LastIndexFunc(text[:limit], unicode.IsSpace); k > 0 {
		_, size := utf8.DecodeRuneInString(text[k:])
		return k + size
	}
	return limit
}

// wholeRunes returns how many of the first limit bytes of a text are whole characters.
func wholeRunes(text string, limit int) int {
	if len(text) <= limit {
		return len(text)
	}
	for limit > 1 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return limit
}

// sentence appends a sentence that begins at character at, in pieces if it has too many tokens.
func (r Rules) sentence(all []Sentence, text string, at int) []Sentence {
	found := r.Splitter.Split(text)
	for t := range found {
		found[t].Start += at
		found[t].End += at
	}
	for len(found) > 0 {
		n := min(len(found), maxTokens)
		all = append(all, Sentence{found[0].Start, found[:n:n]})
		found = found[n:]
	}
	return all
}
