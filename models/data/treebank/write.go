package treebank

import (
	"io"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured/trees"
)

// Prediction replaces HEAD and DEPREL of a sentence in the output.
type Prediction struct {
	trees.Tree              // a tree without words keeps HEAD and DEPREL of the file
	Probabilities []float32 // [n] of each word's arc, written as ArcProb= in MISC; or nil

	// HeadProbabilities [n·n] are those of all arcs, in the row order of a SpanningTree's potentials, written as
	// HeadProbs=h:P,h:P,… in MISC; or nil.
	HeadProbabilities []float32
}

// Write writes the treebank as CoNLL-U, with HEAD and DEPREL of sentence i from predict(i). It reproduces the rest of
// the file: comments, multiword tokens, empty nodes and the other columns. The bytes are identical if the file ends its
// lines with "\n" and has no byte-order mark and no white space in blank lines.
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

// AppendBefore appends the lines before the first word of sentence i: the blank line after the previous sentence,
// comments, and a leading multiword token or empty nodes. For i = Len it appends the lines at the end of the file.
func (b *Treebank) AppendBefore(text []byte, i int) []byte {
	return append(text, b.Data.LinesBefore(b.Data.Offsets[i], true)...)
}

// AppendWords appends the lines of sentence i from its first to its last word.
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
			case c == Misc && (p.Probabilities != nil || p.Heads != nil && p.HeadProbabilities != nil):
				text = p.appendMisc(text, column[at], t)
			default:
				text = append(text, column[at]...)
			}
		}
		text = append(text, '\n')
	}
	return text
}

// Keys in MISC for the probability of a word's arc, and for those of all its possible arcs.
const (
	arcProbability    = "ArcProb="
	headProbabilities = "HeadProbs="
)

// appendMisc appends MISC of word t, from 0, with the probabilities of p, which replace those that misc has.
func (p *Prediction) appendMisc(text []byte, misc string, t int) []byte {
	if misc != "_" {
		for item := range strings.SplitSeq(misc, "|") {
			if !strings.HasPrefix(item, arcProbability) && !strings.HasPrefix(item, headProbabilities) {
				text = append(append(text, item...), '|')
			}
		}
	}
	n := len(p.Heads)
	if p.Probabilities != nil {
		text = append(text, arcProbability...)
		text = strconv.AppendFloat(text, float64(p.Probabilities[t]), 'f', 4, 32)
		if p.HeadProbabilities != nil {
			text = append(text, '|')
		}
	}
	if p.HeadProbabilities == nil {
		return text
	}
	text = append(text, headProbabilities...)
	for head := range n + 1 {
		if head == t+1 {
			continue
		}
		text = append(strconv.AppendInt(text, int64(head), 10), ':')
		text = strconv.AppendFloat(text, float64(p.HeadProbabilities[trees.Row(n, t, int32(head))]), 'f', 4, 32)
		text = append(text, ',')
	}
	return text[:len(text)-1]
}
