package models

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// tagger is a model whose labels fill a column of the data of another.
type tagger struct {
	column string // by name, or by number from 0
	model  *Model
	reads  []inputs.Column
}

// TagFirst has models of words label the words of data before m makes its inputs: of files, of raw text and of
// requests. Their labels fill the columns whose names are the keys, in place of what was there; the empty key is as in
// TaggedColumn. It replaces earlier taggers.
func (m *Model) TagFirst(by map[string]*Model) error {
	m.taggers = nil
	for given, of := range by {
		column, err := m.TaggedColumn(given)
		if err != nil {
			return err
		}
		if m.Tags(column) {
			return structured.BadInput("--tagger: two models label column %s; name the column of each with --tagger COLUMN=MODEL", column)
		}
		t := tagger{column: column, model: of}
		if t.reads, err = of.Columns(&of.Config, of.Width); err != nil {
			return err
		}
		task, words, others := tasks.Of(&of.Config), false, []string(nil)
		if formats.Find(of.Config.Format).Columns {
			words, others = read(t.reads)
		}
		switch {
		case !task.Labels:
			return structured.BadInput("--tagger %s: --task %s predicts %s, not labels of words", column, of.Config.Task, task.Outputs)
		case !words || of.Given(of.Dim) > 0:
			return structured.BadInput("--tagger %s: the tagger does not read words alone", column)
		case len(others) > 0:
			return structured.BadInput("--tagger: the tagger of column %s reads column %s itself; a tagger reads words alone", column, strings.Join(others, ", "))
		}
		m.taggers = append(m.taggers, t)
	}
	slices.SortFunc(m.taggers, func(a, b tagger) int { return strings.Compare(a.column, b.column) })
	return nil
}

// ParseTagger parses what --tagger takes: [COLUMN=]MODEL.
func ParseTagger(value string) (column, path string) {
	if column, path, named := strings.Cut(value, "="); named {
		return column, path
	}
	return "", value
}

// TaggedColumn returns the column that a tagger of m fills which was given for a column. The empty one stands for upos
// of trees, and else for the only column that m reads beside the words. A column that m does not read is bad input.
func (m *Model) TaggedColumn(given string) (string, error) {
	others, err := m.ReadBesideWords()
	if err != nil {
		return "", err
	}
	trees := formats.Find(tasks.Of(&m.Config).FileFormat).Trees && !tasks.Of(&m.Config).Labels
	switch {
	case len(others) == 0:
		return "", structured.BadInput("--tagger: the model reads words alone")
	case given == "" && trees && slices.Contains(others, "upos"):
		return "upos", nil
	case given == "" && len(others) == 1:
		return others[0], nil
	case !slices.Contains(others, given):
		return "", structured.BadInput("--tagger: %q is not a column that the model misses; say which with --tagger COLUMN=MODEL: %s", given, strings.Join(others, ", "))
	}
	return given, nil
}

// ReadBesideWords returns the columns that the model reads beside the words, by name or by number; none for a model
// that reads no words in columns.
func (m *Model) ReadBesideWords() ([]string, error) {
	columns, err := m.Columns(&m.Config, m.Width)
	if err != nil {
		return nil, err
	}
	words, others := read(columns)
	if !words {
		return nil, nil
	}
	return others, nil
}

// read returns whether a model reads words, and the other columns that it reads.
func read(columns []inputs.Column) (words bool, others []string) {
	for k, c := range columns {
		switch {
		case c.Name == text.WordColumn:
			words = true
		case c.Read && c.Name == "":
			others = append(others, strconv.Itoa(k))
		case c.Read:
			others = append(others, c.Name)
		}
	}
	return words, others
}

// Tags reports whether a tagger labels a column first.
func (m *Model) Tags(column string) bool {
	return slices.ContainsFunc(m.taggers, func(t tagger) bool { return t.column == column })
}

// adviseTagger adds to an error that a tagger may make the columns that m reads and d lacks; d is nil where it could
// not be read.
func (m *Model) adviseTagger(err error, d *structured.Dataset) error {
	others, wrong := m.ReadBesideWords()
	if wrong != nil || !structured.IsBadInput(err) {
		return err
	}
	var lacks, named []string // without a tagger
	for _, column := range others {
		if m.Tags(column) {
			continue
		}
		if named = append(named, column); d != nil && !slices.Contains(d.ColumnNames, column) {
			lacks = append(lacks, column)
		}
	}
	narrow := new(text.NarrowError)
	switch {
	case len(lacks) > 0:
		return structured.BadInput("%w; --tagger MODEL predicts it from the words (%s)", err, strings.Join(lacks, ", "))
	case !errors.As(err, &narrow) || narrow.Found == 1 && len(others) == 0:
		return err
	case narrow.Found >= narrow.Least:
		return structured.BadInput("%w; if what is named is there, say so with --columns %s", err, cmp.Or(m.Config.Columns, text.DefaultColumns))
	case narrow.Found > 1:
		cure := "; if the file has others, say with --columns which, as in --columns " + text.DefaultColumns
		if len(named) > 0 {
			cure += ", and with --tagger MODEL what predicts " + strings.Join(named, ", ")
		}
		return structured.BadInput("%w%s", err, cure)
	case len(named) > 0:
		return structured.BadInput("%w; if there are words alone, give --columns word=0 and --tagger MODEL, which predicts %s", err, strings.Join(named, ", "))
	}
	return structured.BadInput("%w; if there are words alone, give --columns word=0", err)
}

// MakeInputs labels the words of d by the taggers, and makes the inputs of m, on several threads (0: all cores).
func (m *Model) MakeInputs(d *structured.Dataset, threads int) error {
	if err := m.tag(d, threads); err != nil {
		return err
	}
	return m.Inputs.Apply(d, host.Threads(threads))
}

// tag fills the columns of taggers.
func (m *Model) tag(d *structured.Dataset, threads int) error {
	for _, t := range m.taggers {
		err := t.fill(d, func(of *structured.Dataset, yield func(int, *predictions.Prediction) error) error {
			if err := t.model.Inputs.Apply(of, host.Threads(threads)); err != nil {
				return err
			}
			return t.model.Predict(context.Background(), of, predictions.Options{Threads: threads}, yield)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fill fills the tagger's column of d with the labels that predict yields for data of the words alone. A named column
// that is not there is added, before that of the gold labels.
func (t tagger) fill(d *structured.Dataset, predict func(of *structured.Dataset, yield func(int, *predictions.Prediction) error) error) error {
	words := d.Column(text.WordColumn)
	if words == nil {
		return structured.BadInput("%s: no column called %s, which the tagger of %s reads; name it with --columns", d.Name, text.WordColumn, t.column)
	}
	of := &structured.Dataset{Name: d.Name, Offsets: d.Offsets, Lines: d.Lines, IDs: d.IDs}
	for _, c := range t.reads {
		column := words
		if c.Name != text.WordColumn {
			column = make([]string, len(words))
		}
		of.Columns, of.ColumnNames = append(of.Columns, column), append(of.ColumnNames, c.Name)
	}
	k := slices.Index(d.ColumnNames, t.column)
	if number, err := strconv.Atoi(t.column); k < 0 && err == nil && number < len(d.Columns) {
		k = number
	}
	if k < 0 {
		if k = slices.Index(d.ColumnNames, text.LabelColumn); k < 0 {
			k = len(d.Columns)
		}
		d.Columns = slices.Insert(slices.Clone(d.Columns), k, make([]string, len(words)))
		d.ColumnNames = slices.Insert(slices.Clone(d.ColumnNames), k, t.column)
	}
	return predict(of, func(i int, p *predictions.Prediction) error {
		for at, label := range p.Labels {
			d.Columns[k][of.Offsets[i]+at] = t.model.Labels.Name(label)
		}
		return nil
	})
}
