package predictions

import (
	"math"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// columnLayout is the layout of models.NewColumnWriter.
type columnLayout struct {
	labels *structured.Alphabet
	o      Options
}

// Columns is the layout of labels in columns.
func Columns(labels *structured.Alphabet, o Options) Layout { return &columnLayout{labels, o} }

func (c *columnLayout) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	shares := p.Marginals
	if p.Margins != nil {
		shares = p.Margins
	}
	if d.Layout != nil {
		text = c.linesBefore(text, d, d.Offsets[i], true)
	}
	switch {
	case c.o.NBest > 0:
		for rank := range p.NBest {
			if rank > 0 {
				text = append(text, '\n')
			}
			text = append(strconv.AppendInt(append(text, "# "...), int64(rank), 10), ' ')
			text = appendScore(text, &p.NBest[rank])
			text = c.sequence(text, d, i, p.NBest[rank].Labels, shares)
		}
	case c.o.Probability:
		text = appendScore(append(text, "# "...), &p.Output)
		fallthrough
	default:
		text = c.sequence(text, d, i, p.Labels, shares)
	}
	switch {
	case d.Layout == nil:
		text = append(text, '\n')
	case i == d.Len()-1:
		text = c.linesBefore(text, d, d.Positions(), true)
	}
	return text, -1
}

// linesBefore appends the lines of the file that stood before a position, with as many columns as those of tokens have.
func (c *columnLayout) linesBefore(text []byte, d *structured.Dataset, at int, first bool) []byte {
	columns := len(d.Columns) + 1
	if c.o.Marginals {
		columns += c.labels.Len()
	}
	if c.o.Confidence {
		columns++
	}
	for line := range strings.Lines(d.LinesBefore(at, first)) {
		line = strings.TrimSuffix(line, "\n")
		text = append(text, line...)
		if line != "" && line[0] != '#' {
			for range columns - d.Layout.Count(line) {
				text = append(append(text, d.Layout.Separator), d.Layout.Filler...)
			}
		}
		text = append(text, '\n')
	}
	return text
}

// appendScore appends the score of an output and, if it has one, its probability.
func appendScore(text []byte, o *Output) []byte {
	text = strconv.AppendFloat(text, o.Score, 'g', 9, 64)
	if !math.IsNaN(o.Probability) {
		text = strconv.AppendFloat(append(text, ' '), o.Probability, 'g', 6, 64)
	}
	return append(text, '\n')
}

// sequence appends the lines of a sequence. marginals are probabilities or margins.
func (c *columnLayout) sequence(text []byte, d *structured.Dataset, i int, labels []int32, marginals []float32) []byte {
	y, separator := c.labels.Len(), separator(d)
	for t, l := range labels {
		at := d.Offsets[i] + t
		if t > 0 && d.Layout != nil {
			text = c.linesBefore(text, d, at, false)
		}
		text = c.position(text, d, i, at)
		if c.o.Marginals {
			for k, q := range marginals[t*y : (t+1)*y] {
				text = append(append(text, c.labels.Name(int32(k))...), '/')
				text = append(strconv.AppendFloat(text, float64(q), 'f', 6, 32), separator)
			}
		}
		if c.o.Confidence {
			text = append(strconv.AppendFloat(text, float64(marginals[t*y+int(l)]), 'f', 6, 32), separator)
		}
		text = append(append(text, c.labels.Name(l)...), '\n')
	}
	return text
}

// position appends the columns of a position of example i.
func (c *columnLayout) position(text []byte, d *structured.Dataset, i, at int) []byte {
	separator := separator(d)
	switch {
	case d.Columns != nil:
		for _, column := range d.Columns {
			text = append(append(text, column[at]...), separator)
		}
	case d.Attributes == nil:
		text = append(append(text, d.ID(i)...), separator)
		text = append(strconv.AppendInt(text, int64(at-d.Offsets[i]), 10), separator)
		if d.Labels != nil {
			text = append(append(text, d.Alphabet.Name(d.Labels[at])...), separator)
		}
	}
	return text
}

// separator returns the separator of columns: that of the file, or a tab.
func separator(d *structured.Dataset) byte {
	if d.Layout != nil {
		return d.Layout.Separator
	}
	return '\t'
}
