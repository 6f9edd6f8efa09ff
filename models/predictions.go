package models

import (
	"bufio"
	"io"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// A PredictionWriter writes the predictions for the examples of a data set, one after the other.
type PredictionWriter interface {
	// Write writes the prediction for example i.
	Write(i int, p *predictions.Prediction) error
	// Close flushes. It does not close the underlying writer.
	Close() error
}

// newColumnWriter writes the data's columns with the predicted label in a last one. Those of a file in columns are
// separated as there, and what stood between its tokens (blank lines, comments, marks between documents) comes in its
// place; all else has tabs, and an empty line after every sequence. Attributes have a column for the gold label only,
// where there is one; other data without columns shows the example, the position in it from 0 and, where there is one,
// the gold label. What o asks for more comes as in CRF++:
//
//   - a score and probability go before the sequence, in a line "# score probability";
//   - the entropy goes before the sequence, too, in a line "# entropy E";
//   - n-best outputs become sequences of their own, each under a line "# rank score probability", rank from 0;
//   - marginals stand before the predicted label, a column "label/probability" for each label of the model, and so does
//     the confidence, which is the predicted label's probability alone; labels that cuts find have margins in their place.
func newColumnWriter(w io.Writer, m *Model, d *structured.Dataset, o predictions.Options) PredictionWriter {
	return newWriter(w, d, m.layout(o, false))
}

// newJSONWriter writes one object per line for each example: id, labels, score, probability, and nbest, confidence
// ([T]), marginals ([T×Y], in the order of the model's labels), entropy, samples (each as labels) and spans where o
// asks for them; for labels that cuts find, label_margins and margins; and calibrated, false, for a model whose
// probabilities are not (Uncalibrated).
func newJSONWriter(w io.Writer, m *Model, d *structured.Dataset, o predictions.Options) PredictionWriter {
	return newWriter(w, d, m.layout(o, true))
}

func (m *Model) layout(o predictions.Options, asJSON bool) predictions.Layout {
	o.Uncalibrated = m.Uncalibrated()
	if chains.EntityTags(m.Labels) {
		o = m.writing(chains.Notation{}, o)
	}
	if printing := tasks.Of(&m.Config).Printing; printing != nil {
		printing(&m.Config, &o)
	}
	return tasks.Of(&m.Config).Layout(m.Labels, o, asJSON)
}

// Layout is the layout of newColumnWriter or newJSONWriter.
func (m *Model) Layout(o predictions.Options, asJSON bool) predictions.Layout {
	return m.layout(o, asJSON)
}

// JSONLayout is the layout of newJSONWriter.
func (m *Model) JSONLayout(o predictions.Options) predictions.Layout { return m.layout(o, true) }

// layoutWriter writes in a layout.
type layoutWriter struct {
	w      *bufio.Writer
	data   *structured.Dataset
	layout predictions.Layout
	text   []byte
}

func newWriter(w io.Writer, d *structured.Dataset, l predictions.Layout) *layoutWriter {
	return &layoutWriter{w: bufio.NewWriterSize(w, 1<<16), data: d, layout: l}
}

func (l *layoutWriter) Write(i int, p *predictions.Prediction) error {
	text, number := l.layout.Add(l.text[:0], l.data, i, p)
	l.text = text
	return predictions.WriteNumbered(l.w, text, i, number)
}

func (l *layoutWriter) Close() error { return l.w.Flush() }
