package models

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"

	"github.com/dsp-go/dsp/structured"
)

// A PredictionWriter writes the predictions for the examples of a data set, one after the other.
type PredictionWriter interface {
	// Write writes the prediction of example i.
	Write(i int, p *Prediction) error
	// Close writes what is still buffered. It does not close what is written to.
	Close() error
}

// NewColumnWriter writes the data's columns with the predicted label in a last one, tab-separated, and an empty line
// after every sequence. Data without columns shows the example, the position in it from 0 and, where there is one, the
// gold label. What the predictions hold more comes as in CRF++:
//
//   - a score and probability go before the sequence, in a line "# score probability";
//   - n-best outputs become sequences of their own, each under a line "# rank score probability", rank from 0;
//   - marginals stand before the predicted label, a column "label/probability" for each label of the model.
func NewColumnWriter(w io.Writer, m *Model, d *structured.Dataset, o PredictOptions) PredictionWriter {
	return &columnWriter{bufio.NewWriterSize(w, 1<<16), m.Labels, d, o, nil}
}

type columnWriter struct {
	w      *bufio.Writer
	labels *structured.Alphabet
	data   *structured.Dataset
	o      PredictOptions
	line   []byte
}

func (c *columnWriter) Write(i int, p *Prediction) error {
	if c.o.NBest == 0 {
		c.line = c.line[:0]
		if c.o.Probability {
			c.line = append(c.line, "# "...)
			c.line = appendScore(c.line, &p.Output)
		}
		return c.sequence(i, p.Labels, p.Marginals)
	}
	for rank := range p.NBest {
		c.line = append(c.line[:0], "# "...)
		c.line = append(strconv.AppendInt(c.line, int64(rank), 10), ' ')
		c.line = appendScore(c.line, &p.NBest[rank])
		if err := c.sequence(i, p.NBest[rank].Labels, p.Marginals); err != nil {
			return err
		}
	}
	return nil
}

func appendScore(line []byte, o *Output) []byte {
	line = append(strconv.AppendFloat(line, o.Score, 'g', 9, 64), ' ')
	return append(strconv.AppendFloat(line, o.Probability, 'g', 6, 64), '\n')
}

// sequence writes the line that is there, and the sequence's lines.
func (c *columnWriter) sequence(i int, labels []int32, marginals []float32) error {
	d, y := c.data, c.labels.Len()
	for t, l := range labels {
		at := d.Offsets[i] + t
		switch {
		case d.Columns != nil:
			for _, column := range d.Columns {
				c.line = append(append(c.line, column[at]...), '\t')
			}
		default:
			c.line = append(append(c.line, d.ID(i)...), '\t')
			c.line = append(strconv.AppendInt(c.line, int64(t), 10), '\t')
			if d.Labels != nil {
				c.line = append(append(c.line, d.Alphabet.Name(d.Labels[at])...), '\t')
			}
		}
		if marginals != nil {
			for k, q := range marginals[t*y : (t+1)*y] {
				c.line = append(append(c.line, c.labels.Name(int32(k))...), '/')
				c.line = append(strconv.AppendFloat(c.line, float64(q), 'f', 6, 32), '\t')
			}
		}
		c.line = append(append(c.line, c.labels.Name(l)...), '\n')
	}
	c.line = append(c.line, '\n')
	_, err := c.w.Write(c.line)
	c.line = c.line[:0]
	return err
}

func (c *columnWriter) Close() error { return c.w.Flush() }

// NewJSONWriter writes an object a line for each example: id, labels, score, probability, and nbest and marginals
// ([T×Y], in the order of the model's labels) where the predictions have them.
func NewJSONWriter(w io.Writer, m *Model, d *structured.Dataset) PredictionWriter {
	buffered := bufio.NewWriterSize(w, 1<<16)
	return &jsonWriter{buffered, json.NewEncoder(buffered), m.Labels, d}
}

type jsonWriter struct {
	w      *bufio.Writer
	encode *json.Encoder
	labels *structured.Alphabet
	data   *structured.Dataset
}

type outputJSON struct {
	Labels      []string `json:"labels"`
	Score       float64  `json:"score"`
	Probability float64  `json:"probability"`
}

type predictionJSON struct {
	ID string `json:"id"`
	outputJSON
	NBest     []outputJSON `json:"nbest,omitempty"`
	Marginals [][]float32  `json:"marginals,omitempty"`
}

func (j *jsonWriter) output(o *Output) outputJSON {
	names := make([]string, len(o.Labels))
	for t, l := range o.Labels {
		names[t] = j.labels.Name(l)
	}
	return outputJSON{names, o.Score, o.Probability}
}

func (j *jsonWriter) Write(i int, p *Prediction) error {
	line := predictionJSON{ID: j.data.ID(i), outputJSON: j.output(&p.Output)}
	for k := range p.NBest {
		line.NBest = append(line.NBest, j.output(&p.NBest[k]))
	}
	y := j.labels.Len()
	for t := 0; t < len(p.Marginals); t += y {
		line.Marginals = append(line.Marginals, p.Marginals[t:t+y])
	}
	return j.encode.Encode(line)
}

func (j *jsonWriter) Close() error { return j.w.Flush() }
