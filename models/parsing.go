package models

import (
	"context"
	"fmt"
	"strconv"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/structured/trees/picture"
)

// parsing is the task of finding the dependency trees of sentences.
type parsing struct{}

func (parsing) layout(m *Model, o PredictOptions, asJSON bool) layout {
	if asJSON {
		return &treeJSONLayout{newJSONLayout(m.Labels, o)}
	}
	return &treeLayout{m.Labels, o}
}

func (parsing) comparison(m *Model, d *structured.Dataset, _ bool) comparison {
	names := m.Labels
	if d.Alphabet.Len() > names.Len() {
		names = d.Alphabet // the model's, then labels unknown to it
	}
	return &treeComparison{trees.NewEvaluator(names)}
}

// treeComparison compares trees.
type treeComparison struct{ evaluator *trees.Evaluator }

func (c *treeComparison) add(d *structured.Dataset, i int, y []int32) {
	c.evaluator.Add(trees.FromOutput(d.Gold(i)), trees.FromOutput(y), trees.Of(d).Punctuation(i))
}

func (c *treeComparison) report() Report { return &TreeReport{c.evaluator.Metrics()} }

// TreeReport is the Report of trees.
type TreeReport struct{ trees.Metrics }

// General implements Report.
func (r *TreeReport) General() structured.Metrics { return r.Metrics.General() }

// Text implements Report.
func (r *TreeReport) Text(ReportOptions) string { return r.Table() }

// treeLayout writes CoNLL-U: what was read, with HEAD and DEPREL as predicted. What is asked for more comes in comments and in
// the last column:
//
//   - a score and probability go before the sentence, in a line "# score probability";
//   - n-best trees become sentences of their own, each under a line "# rank score probability", rank from 0;
//   - the confidence is ArcProb=P, the probability of the word's predicted arc, and marginals are HeadProbs=h:P,h:P,… of all heads.
type treeLayout struct {
	names *structured.Alphabet
	o     PredictOptions
}

func (l *treeLayout) add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	b := trees.Of(d)
	b.Names = l.names
	text = b.AppendBefore(text, i)
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
func (l *treeLayout) sentence(text []byte, b *trees.Treebank, i int, y []int32, marginals []float32) []byte {
	p := trees.Prediction{Tree: trees.FromOutput(y)}
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

// treeJSONLayout writes an object per sentence: id, heads, relations, score, probability, and nbest, confidence [n] and marginals
// [n×n+1], the probability of each head from 0, where they are asked for.
type treeJSONLayout struct{ *jsonLayout }

func (j *treeJSONLayout) add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	text, number := appendID(text, d, i)
	text = j.tree(append(text, ','), &p.Output)
	if j.o.NBest > 0 {
		text = append(text, `,"nbest":`...)
		text = list(text, len(p.NBest), func(text []byte, k int) []byte {
			return append(j.tree(append(text, '{'), &p.NBest[k]), '}')
		})
	}
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
	return append(text, "}\n"...), number
}

// tree appends the members of an output.
func (j *treeJSONLayout) tree(text []byte, o *Output) []byte {
	t := trees.FromOutput(o.Labels)
	text = append(text, `"heads":`...)
	text = list(text, t.Len(), func(text []byte, d int) []byte { return strconv.AppendInt(text, int64(t.Heads[d]), 10) })
	text = append(text, `,"relations":`...)
	text = list(text, t.Len(), func(text []byte, d int) []byte { return append(text, j.names[t.Relations[d]]...) })
	return appendScores(text, o)
}

// What a picture of trees shows: the first sentences that are neither too short to show anything nor too long to read.
const (
	picturedTrees = 3
	fewestWords   = 5
	mostWords     = 16
)

// DrawTrees draws the predicted trees of a few sentences of d to a .svg or .png file, with the probability of each arc. If gold
// trees are known, wrong arcs stand out and the gold arcs are dashed.
func (m *Model) DrawTrees(ctx context.Context, d *structured.Dataset, path string) error {
	if m.Config.Task != "parse" {
		return structured.BadInput("%s: pictures show trees, which --task %s does not predict", path, m.Config.Task)
	}
	var few []int
	for i := range d.Len() {
		if n := d.Length(i); n >= fewestWords && n <= mostWords && len(few) < picturedTrees {
			few = append(few, i)
		}
	}
	if len(few) == 0 {
		return structured.BadInput("%s: no sentence of %d to %d words to draw", d.Name, fewestWords, mostWords)
	}
	some := d.Subset(few)
	p := picture.Picture{Title: "Predicted trees; an arc is as wide as it is probable"}
	err := m.Predict(ctx, some, PredictOptions{Confidence: true}, func(i int, prediction *Prediction) error {
		t := trees.FromOutput(prediction.Labels)
		n := t.Len()
		lo, hi := some.Offsets[i], some.Offsets[i+1]
		s := picture.Sentence{Words: some.Column("word")[lo:hi], Tags: some.Column("upos")[lo:hi], Heads: t.Heads}
		for k, head := range t.Heads {
			s.Relations = append(s.Relations, m.Labels.Name(t.Relations[k]))
			s.Certainty = append(s.Certainty, prediction.Marginals[trees.Row(n, k, head)])
		}
		if some.Labels != nil {
			gold := trees.FromOutput(some.Gold(i))
			s.GoldHeads = gold.Heads
			for _, r := range gold.Relations {
				s.GoldRelations = append(s.GoldRelations, some.Alphabet.Name(r))
			}
		}
		p.Sentences = append(p.Sentences, s)
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.Write(path); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
