package predictions

import (
	"math"
	"strconv"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured"
)

// linkLayout writes the links of each sentence pair in one line, in Pharaoh format: source-target, words counted
// from 0. More fields are separated by |||:
//
//   - the score follows the links, and the probability where there is one: links ||| score ||| probability;
//   - n-best alignments become a line each: rank ||| links ||| score, rank from 0, which begins again for every pair;
//   - with confidences, a link is followed by its margin, or by its probability where there are some: 0-1:0.83;
//   - margins or probabilities, of every source word with every target word, are the last field of the (first) line of
//     a pair.
type linkLayout struct {
	of alignments.Outputs
	o  Options
}

// Links is the layout of links as lines of text.
func Links(of alignments.Outputs, o Options) Layout { return &linkLayout{of, o} }

func (l *linkLayout) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	n, m := alignments.Size(d, i)
	text = appendEntropy(text, l.o, p)
	if l.o.NBest == 0 {
		return append(l.line(text, &p.Output, p.perLink(), n, m, l.o.Probability, l.o.Marginals), '\n'), -1
	}
	for rank := range p.NBest {
		text = l.separate(strconv.AppendInt(text, int64(rank), 10))
		text = append(l.line(text, &p.NBest[rank], p.perLink(), n, m, true, l.o.Marginals && rank == 0), '\n')
	}
	return text, -1
}

func (l *linkLayout) separate(text []byte) []byte {
	return append(append(append(text, ' '), alignments.Separator...), ' ')
}

// perLink returns the margin of each link, or its probability where the structure has sums.
func (p *Prediction) perLink() []float32 {
	if p.Margins != nil {
		return p.Margins
	}
	return p.Marginals
}

// line appends an output, with its score and with all margins on request.
func (l *linkLayout) line(text []byte, o *Output, margins []float32, n, m int, score, all bool) []byte {
	links := l.of.Links(o.Labels)
	var own []float32
	if l.o.Confidence {
		own = of(links, margins, m)
	}
	text = alignments.AppendLinks(text, links, own)
	if score {
		text = strconv.AppendFloat(l.separate(text), o.Score, 'g', 9, 64)
		if !math.IsNaN(o.Probability) {
			text = strconv.AppendFloat(l.separate(text), o.Probability, 'g', 6, 64)
		}
	}
	if all {
		every := make([]alignments.Link, n*m)
		for k := range every {
			every[k] = alignments.Link{Source: int32(k / m), Target: int32(k % m), Sure: true}
		}
		text = alignments.AppendLinks(l.separate(text), every, margins)
	}
	return text
}

// of returns the margins of some links.
func of(links []alignments.Link, margins []float32, m int) []float32 {
	own := make([]float32, len(links))
	for k, link := range links {
		own[k] = margins[int(link.Source)*m+int(link.Target)]
	}
	return own
}

// linkJSONLayout writes an object per sentence pair: id, links [[source, target], …], score, and nbest [{links, score},
// …], link_margins (of the predicted links) and margins [n][m] (of every source word with every target word) where they
// are asked for; these are link_probabilities and marginals where there are sums. An infinite margin, of a link that no
// output has or all have, is null.
type linkJSONLayout struct {
	of alignments.Outputs
	o  Options
}

// LinksJSON is the layout of links as an object per line.
func LinksJSON(of alignments.Outputs, o Options) Layout { return &linkJSONLayout{of, o} }

func (j *linkJSONLayout) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	n, m := alignments.Size(d, i)
	text, number := appendID(text, d, i)
	text = j.output(append(text, ','), &p.Output)
	if j.o.NBest > 0 {
		text = append(text, `,"nbest":`...)
		text = list(text, len(p.NBest), func(text []byte, k int) []byte {
			return append(j.output(append(text, '{'), &p.NBest[k]), '}')
		})
	}
	text = appendQuestions(text, j.o, p, j.links)
	own, every := `,"link_margins":`, `,"margins":`
	if p.Margins == nil {
		own, every = `,"link_probabilities":`, `,"marginals":`
	}
	values := p.perLink()
	if j.o.Confidence {
		chosen := of(j.of.Links(p.Labels), values, m)
		text = append(text, own...)
		text = list(text, len(chosen), func(text []byte, k int) []byte { return appendFinite(text, chosen[k]) })
	}
	if j.o.Marginals {
		text = append(text, every...)
		text = list(text, n, func(text []byte, i int) []byte {
			return list(text, m, func(text []byte, j int) []byte { return appendFinite(text, values[i*m+j]) })
		})
	}
	return append(appendUncalibrated(text, j.o), "}\n"...), number
}

// output appends the members of an output.
func (j *linkJSONLayout) output(text []byte, o *Output) []byte {
	return appendScores(j.links(append(text, `"links":`...), o.Labels), o)
}

// links appends the links of an output.
func (j *linkJSONLayout) links(text []byte, y []int32) []byte {
	links := j.of.Links(y)
	return list(text, len(links), func(text []byte, k int) []byte {
		text = strconv.AppendInt(append(text, '['), int64(links[k].Source), 10)
		return append(strconv.AppendInt(append(text, ','), int64(links[k].Target), 10), ']')
	})
}

// appendFinite appends a number, and null for one that is infinite.
func appendFinite(text []byte, x float32) []byte {
	if math.IsInf(float64(x), 0) {
		return append(text, "null"...)
	}
	return appendFloat(text, x)
}
