package models

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// Streams reports whether PredictText reads such data: text with one token or example per line, without dense features beside it.
func (m *Model) Streams(data DataOptions) bool {
	s, err := m.source(data)
	f := formats.Find(s.format)
	return err == nil && (f.Tokens || f.Lines) && data.Dense == ""
}

// PredictText labels the sequences of tokens that r holds and writes them to w, in the order of the input, as
// NewColumnWriter does or NewJSONWriter. It reads, labels and writes piece by piece, in little memory, and writes what is
// complete before it waits for more input. The answers do not depend on the number of threads.
func (m *Model) PredictText(ctx context.Context, r io.Reader, name string, w io.Writer, data DataOptions, o predictions.Options,
	asJSON bool) error {
	s, err := m.source(data)
	if err != nil {
		return err
	}
	s.threads = 1
	if o.Force && !s.task.Labels {
		return structured.BadInput("--force keeps labels of tokens; %s are predicted whole", s.task.Outputs)
	}
	if err := m.allows(o); err != nil {
		return err
	}
	form := m.layout(o, asJSON)
	out := bufio.NewWriterSize(w, 1<<16)
	sequences, known := 0, 0
	var empty error
	pieces := text.NewPieces(r, name)
	if formats.Find(s.format).Lines {
		pieces = text.NewLines(r, name)
	}
	first := true
	next := func() (text.Piece, bool, error) {
		p, more, err := pieces.Next()
		if first && more && err == nil {
			err = s.refuseProse(p.Text, name)
		}
		first = false
		return p, more, err
	}
	err = host.InOrder(ctx, o.Threads, next,
		func() *labeller { return m.newLabeller(s, name, o, form) },
		(*labeller).label,
		func(l labelled) error {
			if l.empty != nil {
				empty = l.empty
				return nil
			}
			if err := predictions.WriteNumbered(out, l.text, sequences, l.numbers...); err != nil {
				return err
			}
			sequences += l.sequences
			known += l.known
			return out.Flush()
		})
	switch {
	case err == nil && sequences == 0:
		return empty
	case err == nil && known == 0 && m.Dictionary != nil && m.Config.L1 == 0: // sparse models know few attributes
		return strange(name)
	}
	return err
}

// mostQuoted is how many characters of a line a message quotes.
const mostQuoted = 60

// refuseProse returns an error if the beginning of a file with a token per line is raw text.
func (s source) refuseProse(beginning []byte, name string) error {
	var line string
	var number int
	var found bool
	switch s.format {
	case formats.Conll:
		columns, err := text.ParseColumns(s.columns)
		if err != nil {
			return nil // which the reader says
		}
		known := func(label string) bool { return s.labels != nil && s.labels.Index(label) >= 0 }
		line, number, found = text.Prose(beginning, columns, s.width, known)
	case formats.Conllu:
		line, number, found = text.ProseInConllu(beginning)
	}
	if !found {
		return nil
	}
	if letters := []rune(line); len(letters) > mostQuoted {
		line = string(letters[:mostQuoted]) + "…"
	}
	return structured.BadInput("%s:%d: %q looks like raw text, expected one token per line; --text splits raw text into sentences and tokens", name, number, line)
}

// labeller labels blocks of text. It serves one goroutine at a time.
type labeller struct {
	source   source
	name     string // of the input, for messages
	answerer *Answerer
	options  predictions.Options
	layout   predictions.Layout
}

// labelled is a block of text with its labels, formatted.
type labelled struct {
	text      []byte
	numbers   []int // where in the text to insert the numbers of the sequences
	sequences int
	known     int   // attributes
	empty     error // the error that there are no tokens
}

func (m *Model) newLabeller(s source, name string, o predictions.Options, form predictions.Layout) *labeller {
	s.inputs = inputs.Inputs{Dictionary: s.inputs.Dictionary, Edges: s.inputs.Edges} // the answerer makes the others
	return &labeller{source: s, name: name, answerer: m.NewAnswerer(), options: o, layout: form}
}

func (l *labeller) label(b text.Piece) (labelled, error) {
	s := l.source
	s.line = b.Line
	d, err := s.readFrom(bytes.NewReader(b.Text), l.name, false)
	if errors.Is(err, host.ErrNoTokens) {
		return labelled{empty: err}, nil
	}
	if err == nil && l.options.Force {
		err = text.ReadPartialLabels(d, l.answerer.predictor.model.Labels)
	}
	if err == nil {
		err = l.answerer.prepare(d)
	}
	if err != nil {
		return labelled{}, err
	}
	to := labelled{text: make([]byte, 0, 2*len(b.Text)), sequences: d.Len()}
	if d.Attributes != nil {
		to.known = len(d.Attributes.Index)
	}
	err = l.answerer.predict(d, l.options, func(i int, p *predictions.Prediction) error {
		var number int
		to.text, number = l.layout.Add(to.text, d, i, p)
		to.numbers = append(to.numbers, number)
		return nil
	})
	return to, err
}

// Answerer predicts many small data sets, one after the other, and keeps its scratch memory and caches between them. It computes on the
// CPU and serves one goroutine at a time; a model may have many.
type Answerer struct {
	words     inputs.Inputs                     // words and characters that are numbered
	extractor *features.Extractor               // of attributes of positions, or nil
	own       func(d *structured.Dataset) error // makes the task's own inputs, or nil
	predictor *predictor
}

// NewAnswerer returns an Answerer for m.
func (m *Model) NewAnswerer() *Answerer {
	a := &Answerer{words: m.Inputs, predictor: m.newPredictor()}
	a.words.Template, a.words.Own = nil, nil
	if m.Own != nil {
		a.own = m.Own.Extractor()
	}
	if m.Template != nil {
		a.extractor = m.Template.Bind(m.Dictionary)
	}
	return a
}

// Predict makes the inputs of d, which has the columns or numbers of the model's training data, labels its examples, and hands the
// predictions to yield in the order of the data. The predictions are those of Model.Predict. It stops at the first error of yield.
// Options that name labels to keep, or threads, have no effect.
func (a *Answerer) Predict(d *structured.Dataset, o predictions.Options, yield func(i int, p *predictions.Prediction) error) error {
	o.Force = false
	if err := a.prepare(d); err != nil {
		return err
	}
	if err := a.predictor.model.checkData(d); err != nil {
		return err
	}
	return a.predict(d, o, yield)
}

// prepare makes the inputs of d, unless its reader made them.
func (a *Answerer) prepare(d *structured.Dataset) error {
	if err := a.words.Apply(d, 1); err != nil {
		return err
	}
	if a.extractor != nil && d.Attributes == nil {
		if err := a.extractor.Extract(d); err != nil {
			return err
		}
	}
	if a.own != nil {
		if err := a.own(d); err != nil {
			return err
		}
	}
	return a.predictor.model.accepts(d)
}

// predict labels the examples of d, which has its inputs.
func (a *Answerer) predict(d *structured.Dataset, o predictions.Options, yield func(i int, p *predictions.Prediction) error) error {
	for _, examples := range inputs.Batches(d) {
		answers, err := a.predictor.predict(d, examples, o)
		if err != nil {
			return err
		}
		for k, i := range examples {
			if err := yield(i, &answers[k]); err != nil {
				return err
			}
		}
	}
	return nil
}
