package models

import (
	"strconv"

	"github.com/dsp-go/dsp/structured"
)

// columnLayout is that of NewColumnWriter.
type columnLayout struct {
	labels *structured.Alphabet
	o      PredictOptions
}

func (c *columnLayout) add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	if c.o.NBest == 0 {
		if c.o.Probability {
			text = appendScore(append(text, "# "...), &p.Output)
		}
		return c.sequence(text, d, i, p.Labels, p.Marginals), -1
	}
	for rank := range p.NBest {
		text = append(strconv.AppendInt(append(text, "# "...), int64(rank), 10), ' ')
		text = appendScore(text, &p.NBest[rank])
		text = c.sequence(text, d, i, p.NBest[rank].Labels, p.Marginals)
	}
	return text, -1
}

func appendScore(text []byte, o *Output) []byte {
	text = append(strconv.AppendFloat(text, o.Score, 'g', 9, 64), ' ')
	return append(strconv.AppendFloat(text, o.Probability, 'g', 6, 64), '\n')
}

// sequence appends the lines of a sequence and an empty one.
func (c *columnLayout) sequence(text []byte, d *structured.Dataset, i int, labels []int32, marginals []float32) []byte {
	y := c.labels.Len()
	for t, l := range labels {
		text = c.position(text, d, i, d.Offsets[i]+t)
		if c.o.Marginals {
			for k, q := range marginals[t*y : (t+1)*y] {
				text = append(append(text, c.labels.Name(int32(k))...), '/')
				text = append(strconv.AppendFloat(text, float64(q), 'f', 6, 32), '\t')
			}
		}
		if c.o.Confidence {
			text = append(strconv.AppendFloat(text, float64(marginals[t*y+int(l)]), 'f', 6, 32), '\t')
		}
		text = append(append(text, c.labels.Name(l)...), '\n')
	}
	return append(text, '\n')
}

// position appends what the data say of a position of example i.
func (c *columnLayout) position(text []byte, d *structured.Dataset, i, at int) []byte {
	switch {
	case d.Columns != nil:
		for _, column := range d.Columns {
			text = append(append(text, column[at]...), '\t')
		}
	case d.Attributes == nil:
		text = append(append(text, d.ID(i)...), '\t')
		text = append(strconv.AppendInt(text, int64(at-d.Offsets[i]), 10), '\t')
		if d.Labels != nil {
			text = append(append(text, d.Alphabet.Name(d.Labels[at])...), '\t')
		}
	}
	return text
}
