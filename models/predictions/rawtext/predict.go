package rawtext

import (
	"context"
	"io"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Options say how text is split and what is written.
type Options struct {
	predictions.Options
	Rules  tokens.Rules
	JSON   bool // an object per sentence
	Inline bool // the text with its entities marked, or with every token marked if the labels are no entity tags
	Whole  bool // read the whole text before predicting, as a GPU needs; of several ranks, each predicts a part of it
}

// Predict labels the sentences of r, whose name is for messages, and writes them to w: words with their labels in
// columns, CoNLL-U, entities, objects, or the text itself with marks. It reads, labels and writes paragraph by
// paragraph, in little memory, and writes what is complete before it waits for more text. The answers do not depend on
// the number of threads.
func (r *Reader) Predict(ctx context.Context, in io.Reader, name string, w io.Writer, o Options) error {
	if o.Inline && r.trees {
		return structured.BadInput("--inline marks labels in the text; --task %s predicts %s", r.model.Config.Task,
			tasks.Of(&r.model.Config).Outputs)
	}
	if err := r.model.CheckEntities(o.Options); err != nil {
		return err
	}
	next := tokens.NewChunks(in, name, o.Rules).Next
	if o.Whole {
		next = inParts(next, r.model.Ranks().Size())
	}
	_, err := models.Stream(ctx, r.model.Ranks(), o.Threads, w, next,
		func() *labeller { return r.newLabeller(ctx, name, o) }, (*labeller).label)
	return err
}

// inParts returns all chunks as so many, or fewer.
func inParts(chunks func() (tokens.Chunk, bool, error), parts int) func() (tokens.Chunk, bool, error) {
	var all []tokens.Chunk
	read, next := false, 0
	return func() (tokens.Chunk, bool, error) {
		for !read {
			p, more, err := chunks()
			if err != nil {
				return p, false, err
			}
			if read = !more; more {
				all = append(all, p)
			}
		}
		if parts = min(parts, len(all)); next == parts {
			return tokens.Chunk{}, false, nil
		}
		some := all[len(all)*next/parts : len(all)*(next+1)/parts]
		next++
		part := some[0]
		var text strings.Builder
		for _, p := range some {
			text.WriteString(p.Text)
		}
		part.Text = text.String()
		return part, true, nil
	}
}

// labeller labels chunks of text. It serves one goroutine at a time.
type labeller struct {
	*Reader
	name    string
	options Options
	predict answer
	layout  predictions.Layout
	tags    *chains.Entities // of marks, or nil for labels that are no entity tags
}

// answer predicts the examples of a data set without inputs.
type answer func(d *structured.Dataset, o predictions.Options, yield func(i int, p *predictions.Prediction) error) error

func (r *Reader) newLabeller(ctx context.Context, name string, o Options) *labeller {
	l := &labeller{Reader: r, name: name, options: o, predict: r.model.NewAnswerer().Predict}
	if alone := r.model.Alone(); o.Whole {
		l.predict = func(d *structured.Dataset, o predictions.Options, yield func(i int,
			p *predictions.Prediction) error) error {
			if err := r.model.MakeInputs(d, o.Threads); err != nil {
				return err
			}
			return alone.Predict(ctx, d, o, yield)
		}
	}
	l.layout = r.model.Layout(o.Options, o.JSON)
	if o.JSON {
		l.layout = predictions.WithTokens(l.layout)
	}
	if chains.EntityTags(r.model.Labels) {
		l.tags = chains.NewEntities(r.model.Labels)
	}
	return l
}

func (l *labeller) label(p tokens.Chunk) (models.Answered, error) {
	all := l.options.Rules.Split(p.Text)
	to := models.Answered{Examples: len(all)}
	var marks []predictions.Mark
	if len(all) > 0 {
		d, err := l.dataset(all, []rune(p.Text), p.Start, l.name)
		if err != nil {
			return models.Answered{}, err
		}
		shown := l.shown(d)
		err = l.predict(d, l.options.Options, func(i int, prediction *predictions.Prediction) error {
			if l.options.Inline {
				marks = l.mark(marks, all[i], prediction.Labels)
				return nil
			}
			to.Add(l.layout, shown, i, prediction)
			return nil
		})
		if err != nil {
			return models.Answered{}, err
		}
	}
	if l.options.Inline {
		to.Text = predictions.Inline(nil, p.Text, marks)
	}
	return to, nil
}

// shown returns the data with the columns that predictions show: all of a tree, and of tags the words and what taggers
// made.
func (l *labeller) shown(d *structured.Dataset) *structured.Dataset {
	if l.trees {
		return d
	}
	s := *d
	s.Columns, s.ColumnNames = nil, nil
	for k, name := range d.ColumnNames {
		if name == text.WordColumn || l.columns[k].Read {
			s.Columns, s.ColumnNames = append(s.Columns, d.Columns[k]), append(s.ColumnNames, name)
		}
	}
	return &s
}

// mark appends the marks of a sentence with these labels.
func (l *labeller) mark(marks []predictions.Mark, s tokens.Sentence, labels []int32) []predictions.Mark {
	if l.tags == nil {
		for t, token := range s.Tokens {
			marks = append(marks, predictions.Mark{Start: token.Start, End: token.End, Name: l.model.Labels.Name(labels[t])})
		}
		return marks
	}
	for _, e := range l.tags.Of(nil, labels) {
		marks = append(marks, predictions.Mark{Start: s.Tokens[e.First].Start, End: s.Tokens[e.Last].End,
			Name: l.tags.Types().Name(e.Type)})
	}
	return marks
}

// Read reads a whole text as data for the model, with its inputs.
func (r *Reader) Read(in io.Reader, name string, rules tokens.Rules) (*structured.Dataset, error) {
	l := r.newLabeller(context.Background(), name, Options{Rules: rules})
	whole, err := io.ReadAll(in)
	if err != nil {
		return nil, structured.BadInput("%s: %w", name, err)
	}
	all := rules.Split(string(whole))
	if len(all) == 0 {
		return nil, structured.BadInput("%s: %w, expected text", name, host.ErrNoTokens)
	}
	d, err := l.dataset(all, []rune(string(whole)), 0, l.name)
	if err != nil {
		return nil, err
	}
	return d, r.model.MakeInputs(d, 0)
}
