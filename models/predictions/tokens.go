package predictions

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/dsp-go/dsp/structured"
)

// WithTokens is a layout of objects whose tokens come from raw text: JSON with the members offsets, [begin, end] of
// each token in characters of the text, and words.
func WithTokens(l Layout) Layout { return &tokenLayout{l} }

type tokenLayout struct{ of Layout }

// Add implements Layout. The words and their ranges are those of d.
func (l *tokenLayout) Add(to []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	to, number := l.of.Add(to, d, i, p)
	words, lo := d.Column("word"), d.Offsets[i]
	to = bytes.TrimSuffix(to, []byte("}\n"))
	to = list(append(to, `,"offsets":`...), d.Length(i), func(to []byte, t int) []byte {
		r := d.Ranges[lo+t]
		to = append(strconv.AppendInt(append(to, '['), r[0], 10), ',')
		return append(strconv.AppendInt(to, r[1], 10), ']')
	})
	to = list(append(to, `,"words":`...), d.Length(i), func(to []byte, t int) []byte {
		return append(to, quoted(words[lo+t])...)
	})
	return append(to, "}\n"...), number
}

// Mark is a part of a text, in characters from its beginning, and what it is.
type Mark struct {
	Start, End int // End exclusive
	Name       string
}

// Inline appends a text with marks, which are in order and do not overlap: [part](name). A backslash goes before the
// brackets and backslashes that the text has itself, and before those and parentheses in names.
func Inline(to []byte, text string, marks []Mark) []byte {
	at := 0
	for _, r := range text {
		to, marks = closeMark(to, marks, at)
		if len(marks) > 0 && marks[0].Start == at {
			to = append(to, '[')
		}
		if r == '[' || r == ']' || r == '\\' {
			to = append(to, '\\')
		}
		to = append(to, string(r)...)
		at++
	}
	to, _ = closeMark(to, marks, at)
	return to
}

// closeMark ends the first mark if it ends at a character.
func closeMark(to []byte, marks []Mark, at int) ([]byte, []Mark) {
	if len(marks) == 0 || marks[0].End != at {
		return to, marks
	}
	to = append(to, "]("...)
	for _, r := range marks[0].Name {
		if slices.Contains([]rune(`[]()\`), r) {
			to = append(to, '\\')
		}
		to = append(to, string(r)...)
	}
	return append(to, ')'), marks[1:]
}
