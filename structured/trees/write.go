package trees

import (
	"io"
	"strconv"
	"strings"
)

// Prediction is what is written of a sentence in place of its HEAD and DEPREL.
type Prediction struct {
	Tree                    // without words: HEAD and DEPREL stay as they are in the file
	Probabilities []float32 // [n] of each word's arc, written as ArcProb= in MISC; or nil
}

// Write writes the treebank as CoNLL-U, with HEAD and DEPREL of sentence i from predict(i). All else is as it was in the
// file: comments, multiword tokens, empty nodes and the other columns. Of a file that ends its lines with "\n" and has no
// byte-order mark and no blanks in blank lines, that means the same bytes.
func (b *Treebank) Write(w io.Writer, predict func(i int) Prediction) error {
	var text []byte
	for i := range b.Len() {
		text = b.AppendBefore(text[:0], i)
		text = b.AppendWords(text, i, predict(i))
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	_, err := w.Write(b.AppendBefore(text[:0], b.Len()))
	return err
}

// AppendBefore appends the lines before the first word of sentence i: the blank line after the sentence before, comments,
// and a multiword token or empty nodes that come first. For i = Len they are those at the end of the file.
func (b *Treebank) AppendBefore(text []byte, i int) []byte {
	return append(text, b.Data.LinesBefore(b.Data.Offsets[i], true)...)
}

// AppendWords appends the lines of sentence i from its first word to its last one.
func (b *Treebank) AppendWords(text []byte, i int, p Prediction) []byte {
	from, to := b.Data.Offsets[i], b.Data.Offsets[i+1]
	for at := from; at < to; at++ {
		t := at - from
		if t > 0 {
			text = append(text, b.Data.LinesBefore(at, false)...)
		}
		for c, column := range b.Data.Columns {
			if c > 0 {
				text = append(text, '\t')
			}
			switch {
			case c == Head && p.Heads != nil:
				text = strconv.AppendInt(text, int64(p.Heads[t]), 10)
			case c == Deprel && p.Relations != nil:
				text = append(text, b.Names.Name(p.Relations[t])...)
			case c == Misc && p.Probabilities != nil:
				text = appendProbability(text, column[at], p.Probabilities[t])
			default:
				text = append(text, column[at]...)
			}
		}
		text = append(text, '\n')
	}
	return text
}

// arcProbability is the key in MISC of the probability of a word's arc.
const arcProbability = "ArcProb="

// appendProbability appends MISC with the probability of the arc, in place of one that is there.
func appendProbability(text []byte, misc string, probability float32) []byte {
	if misc != "_" {
		for item := range strings.SplitSeq(misc, "|") {
			if !strings.HasPrefix(item, arcProbability) {
				text = append(append(text, item...), '|')
			}
		}
	}
	text = append(text, arcProbability...)
	return strconv.AppendFloat(text, float64(probability), 'f', 4, 32)
}
