package models

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Answered is a chunk of input with its predictions, as text.
type Answered struct {
	Text     []byte
	Numbers  []int // where in the text to insert the numbers of the examples; a negative place is nowhere
	Examples int
	Known    int // attributes that the model knows
	Remarks  remarks.List
	Empty    string   // why there are no examples
	Bad      []string // why examples among these are left out
}

// add adds the prediction for example i of d in a layout.
func (a *Answered) Add(l predictions.Layout, d *structured.Dataset, i int, p *predictions.Prediction) {
	var number int
	a.Text, number = l.Add(a.Text, d, i, p)
	a.Numbers = append(a.Numbers, number)
}

// Stream answers chunks of input as they come, on several threads (0: all cores), each of which has a worker of its
// own, and writes the answers in order; it writes what is complete before it waits for more input. Ranks share the
// work: rank 0 alone calls next. It returns the sums over all chunks, without text, and the last reason for an empty
// one.
func Stream[P, W any](ctx context.Context, on *Ranks, threads int, w io.Writer, next func() (P, bool, error),
	worker func() W, answer func(W, P) (Answered, error)) (sum Answered, err error) {
	return streamFrom(ctx, on, 0, threads, w, next, worker, answer)
}

// streamFrom is Stream whose first example has a number.
func streamFrom[P, W any](ctx context.Context, on *Ranks, number, threads int, w io.Writer,
	next func() (P, bool, error), worker func() W, answer func(W, P) (Answered, error)) (sum Answered, err error) {
	out := bufio.NewWriterSize(w, 1<<16)
	err = InOrder(ctx, on, threads, next, worker, answer, func(a Answered) error {
		if a.Empty != "" {
			sum.Empty = a.Empty
		}
		if err := predictions.WriteNumbered(out, a.Text, number+sum.Examples, a.Numbers...); err != nil {
			return err
		}
		sum.Examples += a.Examples
		sum.Known += a.Known
		sum.Bad = append(sum.Bad, a.Bad...)
		sum.Remarks.Add(a.Remarks...)
		return out.Flush()
	})
	return sum, err
}

// Print predicts data and writes the predictions to w in their Layout.
func (m *Model) Print(ctx context.Context, d *structured.Dataset, w io.Writer, o predictions.Options,
	asJSON bool) error {
	if err := cmp.Or(predictions.CheckInto(d, o), m.checkReplaced(d, o)); err != nil {
		return err
	}
	if o.Scheme == "" && chains.EntityTags(m.Labels) {
		o = m.writing(predictions.NotationIn(d, o), o)
	}
	out, layout, text, number := bufio.NewWriterSize(w, 1<<16), m.Layout(o, asJSON), []byte(nil), 0
	err := m.Predict(ctx, d, o, func(i int, p *predictions.Prediction) error {
		text, number = layout.Add(text[:0], d, i, p)
		return predictions.WriteNumbered(out, text, i, number)
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// Layout is how the predictions of the model are written: with JSON as one object per line for each example, and else
// the data's columns with the predicted label in a last one, or what the task has in their place.
//
// Columns are separated as in their file, and what stood between its tokens (blank lines, comments, marks between
// documents) comes in its place; all else has tabs, and an empty line after every sequence. Attributes have a column
// for the gold label only, where there is one; other data without columns shows the example, the position in it from 0
// and, where there is one, the gold label. What o asks for more comes as in CRF++:
//
//   - a score and probability go before the sequence, in a line "# score probability";
//   - the entropy goes before the sequence, too, in a line "# entropy E";
//   - n-best outputs become sequences of their own, each under a line "# rank score probability", rank from 0;
//   - marginals stand before the predicted label, a column "label/probability" for each label of the model, and so does
//     the confidence, which is the predicted label's probability alone; labels that cuts find have margins in their place.
//
// Objects have id, labels, score, probability, and nbest, confidence ([T]), marginals ([T×Y], in the order of the
// model's labels), entropy, samples (each as labels) and spans where o asks for them; for labels that cuts find,
// label_margins and margins; and calibrated, false, for a model whose probabilities are not (Uncalibrated).
func (m *Model) Layout(o predictions.Options, asJSON bool) predictions.Layout {
	o.Uncalibrated = m.Uncalibrated()
	if chains.EntityTags(m.Labels) {
		o = m.writing(chains.Notation{}, o)
	}
	if printing := tasks.Of(&m.Config).Printing; printing != nil {
		printing(&m.Config, &o)
	}
	return tasks.Of(&m.Config).Layout(m.Labels, o, asJSON)
}

// PrintText predicts the text that r names, file by file and chunk by chunk as it arrives, and writes the predictions
// to w as Print does. Of several ranks, rank 0 alone needs the files. It does nothing where data must be read whole:
// those that are no text, and those for a device or of which all decide on each part.
func (m *Model) PrintText(ctx context.Context, r Request, w io.Writer, o predictions.Options,
	asJSON bool) (arrives bool, err error) {
	s, err := m.source(r)
	if err != nil || !m.arrives(s, o) {
		return false, err
	}
	files := ""
	if m.leads() {
		if files, err = formats.Expand("input", r.Path, s.Format); err != nil {
			return true, err
		}
	}
	if files, err = ofFirst(ctx, m.ranks, files); err != nil {
		return true, err
	}
	examples := 0
	for _, path := range formats.Files(files) {
		n, err := m.printFile(ctx, path, s, w, o, asJSON, examples)
		if err != nil {
			return true, err
		}
		examples += n
	}
	return true, nil
}

// arrives reports whether PrintText predicts what a source reads.
func (m *Model) arrives(s source, o predictions.Options) bool {
	return s.streams() && m.home().arrives() && (o.Decode != predictions.EntityF1 || o.EntityThreshold > 0)
}

// printFile is PrintText of one of several files, whose first example has a number. Of several ranks, rank 0 alone
// opens it.
func (m *Model) printFile(ctx context.Context, path string, s source, w io.Writer, o predictions.Options, asJSON bool,
	number int) (n int, err error) {
	var in io.ReadCloser
	if m.leads() {
		if in, err = host.Open(path); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, in.Close()) }()
	}
	s.Path = host.NameOf(path)
	return m.predictText(ctx, in, w, s, o, asJSON, number)
}

// streams reports whether PredictText reads such data: text with one token or example per line, without dense features
// beside it.
func (s *source) streams() bool {
	f := formats.Find(s.Format)
	return (f.Tokens || f.Lines) && s.Dense == ""
}

// PredictText labels the sequences of tokens that in holds and writes them to w, in the order of the input, in
// their Layout; the path of r is for messages. It reads, labels and writes chunk by chunk, in little memory, and writes
// what is complete before it waits for more input. The answers do not depend on the number of threads.
func (m *Model) PredictText(ctx context.Context, in io.Reader, w io.Writer, r Request, o predictions.Options,
	asJSON bool) error {
	s, err := m.source(r)
	if err == nil {
		_, err = m.predictText(ctx, in, w, s, o, asJSON, 0)
	}
	return err
}

// predictText is PredictText whose first example has a number. It returns how many examples there are.
func (m *Model) predictText(ctx context.Context, in io.Reader, w io.Writer, s source, o predictions.Options,
	asJSON bool, number int) (int, error) {
	name, say, check := s.Path, s.Remarks, s.check // check is of what is read first
	s.Threads, s.Remarks, s.check = 1, nil, nil
	if o.Force {
		if err := s.keeps(o.Asker); err != nil {
			return 0, err
		}
		s.Labels = s.keepsLabels()
	}
	if err := m.allows(o); err != nil {
		return 0, err
	}
	chunks := text.NewChunks(in, name, s.Comments)
	chunks.Most = s.task.MostLines(s.MaxWords)
	switch f := formats.Find(s.Format); {
	case f.Lines:
		chunks = text.NewLines(in, name)
	case f.Numbered: // a token takes hundreds of bytes, so a chunk would have few
		chunks.Size = 8 * text.ChunkSize
	}
	s.leaveInputs() // answerers make the others
	s.survey = text.SurveyOf(s.labels)
	first, notation := true, chains.Notation{}
	next := func() (labelled, bool, error) {
		p, more, err := chunks.Next()
		if first && more && err == nil {
			if !say.Skips() {
				err = s.refuseProse(p.Text, name)
			}
			if f := formats.Find(s.Format); err == nil && f.Tokens {
				d, wrong := s.readFrom(bytes.NewReader(p.Text), name) // an error comes again, with its line
				if wrong == nil && f.Columns {
					err = cmp.Or(check(d, say), m.checkReplaced(d, o))
				}
				if wrong == nil && o.Scheme == "" && chains.EntityTags(m.Labels) {
					notation = predictions.NotationIn(d, o)
				}
			}
		}
		first = false
		return labelled{p, notation}, more, err
	}
	worker := func() *labeller {
		return &labeller{
			Answerer: m.NewAnswerer(), options: o, form: m.Layout(o, asJSON), skip: say.Skips(), asJSON: asJSON,
		}
	}
	sum, err := streamFrom(ctx, m.ranks, number, o.Threads, w, next, worker,
		func(l *labeller, p labelled) (Answered, error) {
			if p.In != l.in {
				l.in, l.options = p.In, m.writing(p.In, o)
				l.form = m.Layout(l.options, asJSON)
			}
			return l.label(s, p.Chunk)
		})
	say.LeftOut(sum.Bad...)
	say.Add(sum.Remarks...)
	switch {
	case err == nil && len(sum.Bad) > 0 && len(sum.Bad) == sum.Examples:
		err = remarks.AllBad(name, sum.Bad[0])
	case err == nil && sum.Examples == 0 && sum.Empty != "":
		err = structured.BadInput("%s", sum.Empty)
	case err == nil && m.knowsNone(sum.Known):
		err = strange(name)
	}
	return sum.Examples, err
}

// labelled is a chunk of text, and the notation of tags in its file.
type labelled struct {
	text.Chunk
	In chains.Notation
}

// labeller labels chunks of text. It serves one goroutine at a time.
type labeller struct {
	*Answerer
	options predictions.Options
	form    predictions.Layout
	in      chains.Notation // of the file that these are for
	asJSON  bool
	skip    bool // bad examples are left out
	written int  // the bytes that the last chunk's predictions took, for the next one
}

func (l *labeller) label(s source, chunk text.Chunk) (Answered, error) {
	a, o := l.Answerer, l.options
	s.line, s.Remarks = chunk.Line, remarks.New(false)
	d, err := s.readFrom(text.InMemory(chunk.Text), s.Path)
	if errors.Is(err, host.ErrNoTokens) {
		none := Answered{Empty: err.Error()}
		if chunk.Line > 1 && predictions.CopiesLines(l.form) && len(bytes.TrimSpace(chunk.Text)) > 0 {
			none.Text = append(bytes.TrimRight(chunk.Text, "\r\n"), '\n') // comments at the end of the file
		}
		return none, nil
	}
	if err == nil && o.Force {
		err = s.keep(d)
	}
	if err != nil && l.skip && structured.IsBadInput(err) {
		return l.labelGood(s, chunk, err)
	}
	if err != nil {
		return Answered{}, err
	}
	if err := a.makeInputs(d); err != nil {
		return Answered{}, a.predictor.model.adviseTagger(err, d)
	}
	if err := predictions.CheckInto(d, o); err != nil {
		return Answered{}, err
	}
	to := Answered{Text: make([]byte, 0, l.written+l.written/8), Examples: d.Len(), Known: knownAttributes(d)}
	to.Remarks = s.Remarks.Made()
	err = a.predict(d, o, func(i int, p *predictions.Prediction) error {
		to.Add(l.form, d, i, p)
		return nil
	})
	l.written = len(to.Text)
	return to, err
}

// labelGood labels the good examples of a chunk, which cannot be read as a whole because of err. A bad one leaves as
// many lines as it has.
func (l *labeller) labelGood(s source, chunk text.Chunk, err error) (Answered, error) {
	first, second, several := chunk.Halves(formats.Find(s.Format).Lines)
	if !several {
		to := Answered{Examples: 1, Bad: []string{err.Error()}, Numbers: []int{-1}}
		if l.asJSON {
			to.Text, to.Numbers[0] = predictions.LeftOutJSON(err.Error())
		} else {
			to.Text = predictions.LeftOut(l.form, chunk.Text, layoutOf(s.Format))
		}
		return to, nil
	}
	var to Answered
	for _, half := range []text.Chunk{first, second} {
		a, err := l.label(s, half)
		if err != nil {
			return a, err
		}
		if a.Empty != "" && !l.asJSON { // comments alone
			a.Text = predictions.LeftOut(l.form, half.Text, layoutOf(s.Format))
		}
		for _, at := range a.Numbers {
			if at >= 0 {
				at += len(to.Text)
			}
			to.Numbers = append(to.Numbers, at)
		}
		to.Text = append(to.Text, a.Text...)
		to.Examples, to.Known, to.Bad = to.Examples+a.Examples, to.Known+a.Known, append(to.Bad, a.Bad...)
		to.Remarks.Add(a.Remarks...)
	}
	return to, nil
}

// layoutOf returns how lines of a format of columns are copied; nil for other formats, which predictions do not copy.
func layoutOf(format string) *structured.Layout {
	switch format {
	case formats.Conll:
		return &structured.Layout{Separator: ' ', Filler: "O"}
	case formats.Conllu:
		return &structured.Layout{Separator: '\t', Filler: "_"}
	}
	return nil
}

// refuseProse returns an error if the beginning of a file with a token per line is raw text.
func (s source) refuseProse(beginning []byte, name string) error {
	var line string
	var number int
	var found bool
	switch s.Format {
	case formats.Conll:
		columns, err := text.ParseColumns(s.Columns)
		if err != nil {
			return nil // which the reader says
		}
		if err := text.CheckText(name, beginning); err != nil {
			return err
		}
		known := func(label string) bool { return s.labels != nil && s.labels.Index(label) >= 0 }
		line, number, found = text.Prose(beginning, columns, s.width, s.Comments, known)
	case formats.Conllu:
		line, number, found = text.ProseInConllu(beginning)
	}
	if !found {
		return nil
	}
	return text.NoProse(name, number, line)
}
