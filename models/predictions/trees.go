package predictions

import (
	"strconv"

	"github.com/dsp-go/dsp/models/data/treebank"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// treeLayout writes CoNLL-U: what was read, with HEAD and DEPREL as predicted. What is asked for more comes in comments
// and in the last column:
//
//   - the entropy goes before the sentence, in a line "# entropy E";
//   - a score and probability go before the sentence, in a line "# score probability";
//   - n-best trees become sentences of their own, each under a line "# rank score probability", rank from 0;
//   - the confidence is ArcProb=P, the probability of the word's predicted arc, and marginals are HeadProbs=h:P,h:P,…
//     of all heads.
type treeLayout struct {
	names *structured.Alphabet
	o     Options
}

// TreeColumns is the layout of trees in CoNLL-U.
func TreeColumns(names *structured.Alphabet, o Options) Layout { return &treeLayout{names, o} }

func (l *treeLayout) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	b := treebank.Of(d)
	b.Names = l.names
	text = appendEntropy(b.AppendBefore(text, i), l.o, p)
	switch {
	case l.o.NBest > 0:
		for rank := range p.NBest {
			if rank > 0 {
				text = append(text, '\n')
			}
			text = append(strconv.AppendInt(append(text, "# "...), int64(rank), 10), ' ')
			text = l.sentence(appendScore(text, &p.NBest[rank]), b, i, p.NBest[rank].Labels, p.Marginals)
		}
	case l.o.Probability:
		text = appendScore(append(text, "# "...), &p.Output)
		fallthrough
	default:
		text = l.sentence(text, b, i, p.Labels, p.Marginals)
	}
	if i == b.Len()-1 {
		text = b.AppendBefore(text, b.Len())
	}
	return text, -1
}

// sentence appends the words of sentence i with a tree.
func (l *treeLayout) sentence(text []byte, b *treebank.Treebank, i int, y []int32, marginals []float32) []byte {
	p := treebank.Prediction{Tree: trees.FromOutput(y)}
	n := p.Len()
	if l.o.Confidence {
		p.Probabilities = make([]float32, n)
		for d, head := range p.Heads {
			p.Probabilities[d] = marginals[trees.Row(n, d, head)]
		}
	}
	if l.o.Marginals {
		p.HeadProbabilities = marginals
	}
	return b.AppendWords(text, i, p)
}

// treeJSONLayout writes an object per sentence: id, heads, relations, score, probability, and nbest, confidence [n] and
// marginals [n×n+1], the probability of each head from 0, where they are asked for.
type treeJSONLayout struct{ *jsonLayout }

// TreeJSON is the layout of trees as an object per line.
func TreeJSON(names *structured.Alphabet, o Options) Layout {
	return &treeJSONLayout{newJSONLayout(names, o)}
}

func (j *treeJSONLayout) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	text, number := appendID(text, d, i)
	text = j.tree(append(text, ','), &p.Output)
	if j.o.NBest > 0 {
		text = append(text, `,"nbest":`...)
		text = list(text, len(p.NBest), func(text []byte, k int) []byte {
			return append(j.tree(append(text, '{'), &p.NBest[k]), '}')
		})
	}
	text = appendQuestions(text, j.o, p, func(text []byte, y []int32) []byte {
		return append(j.arcs(append(text, '{'), y), '}')
	})
	n := len(p.Labels) / 2
	if j.o.Confidence {
		text = append(text, `,"confidence":`...)
		text = list(text, n, func(text []byte, d int) []byte {
			return appendFloat(text, p.Marginals[trees.Row(n, d, p.Labels[d])])
		})
	}
	if j.o.Marginals {
		text = append(text, `,"marginals":`...)
		text = list(text, n, func(text []byte, d int) []byte {
			return list(text, n+1, func(text []byte, head int) []byte {
				if head == d+1 {
					return append(text, '0')
				}
				return appendFloat(text, p.Marginals[trees.Row(n, d, int32(head))])
			})
		})
	}
	return j.end(text), number
}

// tree appends the members of an output.
func (j *treeJSONLayout) tree(text []byte, o *Output) []byte {
	return appendScores(j.arcs(text, o.Labels), o)
}

// arcs appends the heads and relations of a tree.
func (j *treeJSONLayout) arcs(text []byte, y []int32) []byte {
	t := trees.FromOutput(y)
	text = append(text, `"heads":`...)
	text = list(text, t.Len(), func(text []byte, d int) []byte { return strconv.AppendInt(text, int64(t.Heads[d]), 10) })
	text = append(text, `,"relations":`...)
	return list(text, t.Len(), func(text []byte, d int) []byte { return append(text, j.names[t.Relations[d]]...) })
}
