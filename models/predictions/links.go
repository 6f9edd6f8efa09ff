package predictions

import (
	"math"
	"strconv"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/structured"
)

// linkLayout writes the links of each sentence pair in one line, in Pharaoh format: source-target, words counted from 0. More fields
// are separated by |||:
//
//   - the score follows the links: links ||| score;
//   - n-best alignments become a line each: rank ||| links ||| score, rank from 0, which begins again for every pair;
//   - with confidences, a link is followed by its margin: 0-1:0.83;
//   - margins, of every source word with every target word, are the last field of the (first) line of a pair.
type linkLayout struct{ o Options }

// Links is the layout of links as lines of text.
func Links(o Options) Layout { return &linkLayout{o} }

func (l *linkLayout) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	n, m := alignments.Size(d, i)
	if l.o.NBest == 0 {
		return append(l.line(text, &p.Output, p.Margins, n, m, l.o.Probability, l.o.Marginals), '\n'), -1
	}
	for rank := range p.NBest {
		text = l.separate(strconv.AppendInt(text, int64(rank), 10))
		text = append(l.line(text, &p.NBest[rank], p.Margins, n, m, true, l.o.Marginals && rank == 0), '\n')
	}
	return text, -1
}

func (l *linkLayout) separate(text []byte) []byte {
	return append(append(append(text, ' '), alignments.Separator...), ' ')
}

// line appends an output, with its score and with all margins on request.
func (l *linkLayout) line(text []byte, o *Output, margins []float32, n, m int, score, all bool) []byte {
	links := alignments.OfOutput(o.Labels)
	var own []float32
	if l.o.Confidence {
		own = of(links, margins, m)
	}
	text = alignments.AppendLinks(text, links, own)
	if score {
		text = strconv.AppendFloat(l.separate(text), o.Score, 'g', 9, 64)
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

// linkJSONLayout writes an object per sentence pair: id, links [[source, target], …], score, and nbest [{links, score}, …], link_margins
// (of the predicted links) and margins [n][m] (of every source word with every target word) where they are asked for. An infinite
// margin, of a link that no output has or all have, is null.
type linkJSONLayout struct{ o Options }

// LinksJSON is the layout of links as an object per line.
func LinksJSON(o Options) Layout { return &linkJSONLayout{o} }

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
	if j.o.Confidence {
		own := of(alignments.OfOutput(p.Labels), p.Margins, m)
		text = append(text, `,"link_margins":`...)
		text = list(text, len(own), func(text []byte, k int) []byte { return appendFinite(text, own[k]) })
	}
	if j.o.Marginals {
		text = append(text, `,"margins":`...)
		text = list(text, n, func(text []byte, i int) []byte {
			return list(text, m, func(text []byte, j int) []byte { return appendFinite(text, p.Margins[i*m+j]) })
		})
	}
	return append(text, "}\n"...), number
}

// output appends the members of an output.
func (j *linkJSONLayout) output(text []byte, o *Output) []byte {
	links := alignments.OfOutput(o.Labels)
	text = append(text, `"links":`...)
	text = list(text, len(links), func(text []byte, k int) []byte {
		text = strconv.AppendInt(append(text, '['), int64(links[k].Source), 10)
		return append(strconv.AppendInt(append(text, ','), int64(links[k].Target), 10), ']')
	})
	return strconv.AppendFloat(append(text, `,"score":`...), o.Score, 'g', -1, 64)
}

// appendFinite appends a number, and null for one that is infinite.
func appendFinite(text []byte, x float32) []byte {
	if math.IsInf(float64(x), 0) {
		return append(text, "null"...)
	}
	return appendFloat(text, x)
}
