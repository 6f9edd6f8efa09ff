package predictions

import (
	"strconv"

	"github.com/dsp-go/dsp/models/data/brackets"
	"github.com/dsp-go/dsp/structured"
)

// bracketLayout writes a tree in brackets per line. What is asked for more comes in lines before it that begin with #:
// the entropy, a score and probability, or of n-best trees the rank, score and probability of each. With the
// confidence, a line "# label first last probability" follows for each constituent, whose words count from 1.
type bracketLayout struct {
	names *structured.Alphabet
	o     Options
}

// Brackets is the layout of trees of constituents in brackets.
func Brackets(names *structured.Alphabet, o Options) Layout { return &bracketLayout{names, o} }

func (l *bracketLayout) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	text = appendEntropy(text, l.o, p)
	switch {
	case l.o.NBest > 0:
		for rank := range p.NBest {
			text = append(strconv.AppendInt(append(text, "# "...), int64(rank), 10), ' ')
			text = l.tree(appendScore(text, &p.NBest[rank]), d, i, p.NBest[rank].Labels)
		}
		return text, -1
	case l.o.Probability:
		text = appendScore(append(text, "# "...), &p.Output)
	}
	if l.o.Confidence || l.o.Marginals {
		for _, c := range constituentsOf(d, i, p.Labels) {
			text = append(append(text, "# "...), l.names.Name(c.label)...)
			text = strconv.AppendInt(append(text, ' '), int64(c.first+1), 10)
			text = strconv.AppendInt(append(text, ' '), int64(c.last+1), 10)
			text = append(appendFloat(append(text, ' '), c.probability(p, l.names)), '\n')
		}
	}
	return l.tree(text, d, i, p.Labels), -1
}

func (l *bracketLayout) tree(text []byte, d *structured.Dataset, i int, y []int32) []byte {
	return append(appendBrackets(text, d, i, y, l.names), '\n')
}

// appendBrackets appends the tree of an output for sentence i.
func appendBrackets(text []byte, d *structured.Dataset, i int, y []int32, names *structured.Alphabet) []byte {
	words, tags := brackets.WordsOf(d, i)
	if tree := brackets.FromOutput(y, words, tags, names); tree != nil {
		text = tree.Append(text)
	}
	return text
}

// constituent is one of an output, whose words count from 0.
type constituent struct {
	first, last int
	label       int32
	row         int
}

// constituentsOf lists the constituents of an output for sentence i, by their first words, the longest first.
func constituentsOf(d *structured.Dataset, i int, y []int32) (all []constituent) {
	n := d.Length(i)
	for first := range n {
		for last := n - 1; last >= first; last-- {
			if row := first*n + last; y[row] != 0 {
				all = append(all, constituent{first, last, y[row] - 1, row})
			}
		}
	}
	return all
}

// probability returns that of the constituent with its label.
func (c constituent) probability(p *Prediction, names *structured.Alphabet) float32 {
	return p.Relations[c.row*(names.Len()+1)+1+int(c.label)]
}

// bracketJSONLayout writes an object per sentence: id, tree (in brackets), score, probability, and nbest and
// constituents (each with label, first and last word, counted from 0, and probability) where they are asked for.
type bracketJSONLayout struct {
	*jsonLayout
	alphabet *structured.Alphabet
}

// BracketJSON is the layout of trees of constituents as an object per line.
func BracketJSON(names *structured.Alphabet, o Options) Layout {
	return &bracketJSONLayout{newJSONLayout(names, o), names}
}

func (j *bracketJSONLayout) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	text, number := appendID(text, d, i)
	tree := func(text []byte, y []int32) []byte {
		return append(append(text, `"tree":`...), quoted(string(appendBrackets(nil, d, i, y, j.alphabet)))...)
	}
	text = appendScores(tree(append(text, ','), p.Labels), &p.Output)
	if j.o.NBest > 0 {
		text = append(text, `,"nbest":`...)
		text = list(text, len(p.NBest), func(text []byte, k int) []byte {
			return append(appendScores(tree(append(text, '{'), p.NBest[k].Labels), &p.NBest[k]), '}')
		})
	}
	text = appendQuestions(text, j.o, p, func(text []byte, y []int32) []byte {
		return append(tree(append(text, '{'), y), '}')
	})
	if j.o.Confidence || j.o.Marginals {
		all := constituentsOf(d, i, p.Labels)
		text = append(text, `,"constituents":`...)
		text = list(text, len(all), func(text []byte, k int) []byte {
			c := all[k]
			text = append(append(text, `{"label":`...), j.names[c.label]...)
			text = strconv.AppendInt(append(text, `,"first":`...), int64(c.first), 10)
			text = strconv.AppendInt(append(text, `,"last":`...), int64(c.last), 10)
			return append(appendFloat(append(text, `,"probability":`...), c.probability(p, j.alphabet)), '}')
		})
	}
	return j.end(text), number
}
