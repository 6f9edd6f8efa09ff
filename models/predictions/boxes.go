package predictions

import (
	"math"
	"strconv"

	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// boxResults writes one array in COCO's format of results, an object per line: image_id, category_id, bbox and score,
// and
//
//   - with n-best boxes a line for each, best first;
//   - with a confidence, or a score, the probability of the box as probability;
//   - with an entropy that of the distribution of the candidates;
//   - with marginals the probabilities of all candidates as marginals, in the line of the best box.
type boxResults struct{ o Options }

// Results is the layout of boxes in COCO's format of results.
func Results(o Options) Layout { return &boxResults{o} }

func (l *boxResults) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	if i == 0 {
		text = append(text, "[\n"...)
	}
	outputs := []Output{p.Output}
	if l.o.NBest > 0 {
		outputs = p.NBest
	}
	s := localisation.Of(d)
	for k := range outputs {
		o := &outputs[k]
		text = strconv.AppendInt(append(text, `{"image_id":`...), s.Images[i].ID, 10)
		text = strconv.AppendInt(append(text, `,"category_id":`...), s.ClassID, 10)
		text = appendBox(append(text, `,"bbox":`...), s.Annotated(i, o.Labels))
		text = strconv.AppendFloat(append(text, `,"score":`...), o.Score, 'g', -1, 64)
		switch {
		case l.o.Confidence:
			text = appendProbability(text, float64(p.Marginals[o.Labels[0]]))
		case l.o.Probability:
			text = appendProbability(text, o.Probability)
		}
		if l.o.Entropy {
			text = strconv.AppendFloat(append(text, `,"entropy":`...), p.Entropy, 'g', -1, 64)
		}
		if l.o.Marginals && k == 0 {
			text = appendMarginals(text, p)
		}
		text = append(appendBound(text, p), '}')
		if k < len(outputs)-1 || i < d.Len()-1 {
			text = append(text, ',')
		}
		text = append(text, '\n')
	}
	if i == d.Len()-1 {
		text = append(text, "]\n"...)
	}
	return text, -1
}

// boxJSON writes an object per image: id, box, score, probability if there are sums over outputs, bound if the search
// was cut short, iou if the object is known, and nbest, confidence and marginals where they are asked for.
type boxJSON struct{ o Options }

// BoxJSON is the layout of boxes as an object per line.
func BoxJSON(o Options) Layout { return &boxJSON{o} }

func (j *boxJSON) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	s := localisation.Of(d)
	text, number := appendID(text, d, i)
	text = j.output(append(text, ','), s, i, &p.Output)
	text = appendBound(text, p)
	if t := s.Images[i].Gold; t != nil {
		text = strconv.AppendFloat(append(text, `,"iou":`...), t.Box.IoU(s.Box(i, p.Labels)), 'g', -1, 64)
	}
	if j.o.NBest > 0 {
		text = append(text, `,"nbest":`...)
		text = list(text, len(p.NBest), func(text []byte, k int) []byte {
			return append(j.output(append(text, '{'), s, i, &p.NBest[k]), '}')
		})
	}
	text = appendQuestions(text, j.o, p, func(text []byte, y []int32) []byte { return appendBox(text, s.Annotated(i, y)) })
	if j.o.Confidence {
		text = appendFloat(append(text, `,"confidence":`...), p.Marginals[p.Labels[0]])
	}
	if j.o.Marginals {
		text = appendMarginals(text, p)
	}
	if !math.IsNaN(p.Probability) && (j.o.Probability || j.o.NBest > 0) || p.Marginals != nil {
		text = appendUncalibrated(text, j.o)
	}
	return append(text, "}\n"...), number
}

// output appends the members of an output.
func (j *boxJSON) output(text []byte, s *localisation.Set, i int, o *Output) []byte {
	text = appendBox(append(text, `"box":`...), s.Annotated(i, o.Labels))
	text = strconv.AppendFloat(append(text, `,"score":`...), o.Score, 'g', -1, 64)
	if j.o.Probability || j.o.NBest > 0 {
		text = appendProbability(text, o.Probability)
	}
	return text
}

func appendBox(text []byte, b boxes.Box) []byte {
	corner := [4]float64{b.X, b.Y, b.Width, b.Height}
	return list(text, 4, func(text []byte, k int) []byte { return strconv.AppendFloat(text, corner[k], 'g', -1, 64) })
}

// appendProbability appends a probability, unless there is none.
func appendProbability(text []byte, p float64) []byte {
	if math.IsNaN(p) {
		return text
	}
	return strconv.AppendFloat(append(text, `,"probability":`...), p, 'g', -1, 64)
}

// appendMarginals appends the probabilities of all candidates.
func appendMarginals(text []byte, p *Prediction) []byte {
	return list(append(text, `,"marginals":`...), len(p.Marginals), func(text []byte, k int) []byte {
		return appendFloat(text, p.Marginals[k])
	})
}

// appendBound appends the upper bound of the scores of an answer that may not be the best.
func appendBound(text []byte, p *Prediction) []byte {
	if p.Bound == nil {
		return text
	}
	if math.IsInf(*p.Bound, 1) {
		return append(text, `,"bound":null`...)
	}
	return strconv.AppendFloat(append(text, `,"bound":`...), *p.Bound, 'g', -1, 64)
}
