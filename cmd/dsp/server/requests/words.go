package requests

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/structured"
)

// words reads the columns of sequences of words, and dense features beside them if the model reads some.
type words struct {
	columns []inputs.Column // those that taggers fill are not read from requests
	pieces  pieceCounter
	dim     int // dense features of each word that requests give, or 0
	limits  Limits
	split   tokens.Splitter
}

func newWords(m *models.Model, columns []inputs.Column, limits Limits, split tokens.Splitter) *words {
	return &words{columns: untagged(m, columns), pieces: counterOf(m), dim: m.Given(m.Dim), limits: limits, split: split}
}

// untagged returns the columns with those marked as not read that taggers fill.
func untagged(m *models.Model, columns []inputs.Column) []inputs.Column {
	all := slices.Clone(columns)
	for k, c := range all {
		all[k].Read = c.Read && !m.Tags(key(k, c))
	}
	return all
}

// sequence is the content of an example.
type sequence struct {
	columns  [][]string // as the reader's; nil for those that are not given
	features []float32
	labels   []string // what is known of them, or nil
}

// key returns what a column is called in an object: its name or its number.
func key(k int, c inputs.Column) string {
	if c.Name == "" {
		return strconv.Itoa(k)
	}
	return c.Name
}

func (w *words) Inputs() []Input {
	var all []Input
	for k, c := range w.columns {
		if c.Read {
			all = append(all, Input{Name: key(k, c), Kind: Strings})
		}
	}
	if w.dim > 0 {
		all = append(all, Input{Name: "features", Kind: Numbers, Width: w.dim})
	}
	return all
}

func (w *words) Sample() string {
	var members []string
	for _, in := range w.Inputs() {
		if in.Kind == Strings {
			members = append(members, strconv.Quote(in.Name)+`: ["…", "…"]`)
		}
	}
	features := ""
	if w.dim > 0 {
		features = `, "features": [[…], […]]`
	}
	if len(members) == 1 && strings.HasPrefix(members[0], `"word"`) {
		return `{"words": ["John", "Smith"]` + features + `}`
	}
	return `{"columns": {` + strings.Join(members, ", ") + `}` + features + `}`
}

func (w *words) Members() []string {
	members := []string{"words", "columns", "text", "labels"}
	if slices.ContainsFunc(w.columns, func(c inputs.Column) bool { return c.Name == "pos" }) {
		members = slices.Insert(members, 1, "pos")
	}
	if w.dim > 0 {
		members = append(members, "features")
	}
	return members
}

func (w *words) Known() string { return labelsOf("word") }

func (w *words) Example(o *Object) (Example, error) {
	if err := o.only(w); err != nil {
		return Example{}, err
	}
	columns, split, err := o.texts(w.split, w.Sample())
	if beside := w.beside(); beside != "" && errors.Is(err, ErrNoWords) {
		return Example{}, o.missing(beside, w.Sample())
	}
	if err != nil {
		return Example{}, err
	}
	s, n := &sequence{columns: make([][]string, len(w.columns))}, -1
	for name, column := range columns {
		k := slices.IndexFunc(w.columns, func(c inputs.Column) bool { return c.Name == name && name != text.LabelColumn })
		if k < 0 {
			number, err := strconv.Atoi(name)
			if err != nil || number < 0 || number >= len(w.columns) || w.columns[number].Name == text.LabelColumn {
				return Example{}, structured.BadInput("column %s is not one of the model's; expected %s", name, w.names())
			}
			k = number
		}
		if s.columns[k] != nil {
			return Example{}, structured.BadInput("column %s is given twice, by name and by number", name)
		}
		s.columns[k] = column
		n = len(column)
	}
	for k, c := range w.columns {
		if c.Read && s.columns[k] == nil {
			return Example{}, o.missing("column "+key(k, c), w.Sample())
		}
	}
	if err := w.limits.short(n, false, "words"); err != nil {
		return Example{}, err
	}
	if s.labels = o.Labels; s.labels != nil {
		if err := checkCells("labels", o.Labels, n, "word"); err != nil {
			return Example{}, err
		}
	}
	if w.dim > 0 {
		if o.Features == nil {
			return Example{}, o.missing("features", w.Sample())
		}
		if len(o.Features) != n {
			return Example{}, structured.BadInput("features has %d rows, expected %d, one per token of the text", len(o.Features), n)
		}
		if s.features, err = matrix(nil, o.Features, w.dim, "features", "position"); err != nil {
			return Example{}, err
		}
	}
	e := o.example(n, s)
	e.Tokens = split
	for k, c := range w.columns {
		if c.Name == text.WordColumn {
			err = w.pieces.weigh(&e, s.columns[k], w.limits)
		}
	}
	return e, err
}

// beside names what a request must give beside the words; empty if words are enough, and so raw text.
func (w *words) beside() string {
	for k, c := range w.columns {
		if c.Read && c.Name != text.WordColumn {
			return "column " + key(k, c)
		}
	}
	if w.dim > 0 {
		return "features"
	}
	return ""
}

// names lists the columns that an object may have.
func (w *words) names() string {
	var all []string
	for k, c := range w.columns {
		if c.Name != text.LabelColumn {
			all = append(all, key(k, c))
		}
	}
	return strings.Join(all, ", ")
}

// texts returns the columns of an object, which are equally long and not empty, and the tokens of raw text.
func (o *Object) texts(split tokens.Splitter, sample string) (map[string][]string, []tokens.Token, error) {
	all := map[string][]string{}
	var found []tokens.Token
	given := func(name, from string, column []string) error {
		if all[name] != nil {
			return structured.BadInput("%s: the column %s is given twice", from, name)
		}
		all[name] = column
		return nil
	}
	for name, column := range o.Columns {
		if column == nil {
			column = []string{}
		}
		all[name] = column
	}
	for _, member := range []struct {
		name, column string
		values       []string
	}{{"words", text.WordColumn, o.Words}, {"pos", "pos", o.Pos}} {
		if member.values != nil {
			if err := given(member.column, member.name, member.values); err != nil {
				return nil, nil, err
			}
		}
	}
	if o.Text != nil {
		if found = o.tokens; found == nil {
			found = split.Split(*o.Text)
		}
		column := make([]string, len(found))
		for t, token := range found {
			column[t] = token.Text
		}
		if err := given(text.WordColumn, "text", column); err != nil {
			return nil, nil, err
		}
	}
	if len(all) == 0 {
		return nil, nil, o.missing("words", sample)
	}
	if o.Text != nil && len(found) == 0 && len(o.given()) == 1 {
		return nil, nil, ErrNoWords
	}
	return all, found, sameLengths(all)
}

// ErrNoWords is the bad input of raw text without words. It is no mistake where text is asked for sentence by sentence:
// there are none.
var ErrNoWords = structured.BadInput("the text has no words, expected at least one")

// sameLengths refuses columns that differ in length, or have no or empty cells.
func sameLengths(all map[string][]string) error {
	first, n := "", -1
	for _, name := range sortedKeys(all) {
		column := all[name]
		switch {
		case len(column) == 0:
			return structured.BadInput("column %s is empty, expected at least one word", name)
		case n >= 0 && len(column) != n:
			return structured.BadInput("column %s has length %d, expected %d as column %s has", name, len(column), n, first)
		}
		if t := slices.Index(column, ""); t >= 0 {
			return structured.BadInput("column %s: cell %d is empty, expected some text", name, t)
		}
		if n < 0 {
			first, n = name, len(column)
		}
	}
	return nil
}

func sortedKeys(all map[string][]string) []string {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Dataset implements Reader. Columns that the model does not read may be empty. All examples have labels, or none has.
func (w *words) Dataset(all []Example) (*structured.Dataset, error) {
	d := &structured.Dataset{Offsets: offsets(all), Columns: make([][]string, len(w.columns)), Dim: w.dim, Ranges: ranges(all)}
	for k, c := range w.columns {
		d.ColumnNames = append(d.ColumnNames, c.Name)
		column := make([]string, 0, d.Positions())
		for _, e := range all {
			if cells := e.content.(*sequence).columns[k]; cells != nil {
				column = append(column, cells...)
			} else {
				column = append(column, make([]string, e.Size)...)
			}
		}
		d.Columns[k] = column
	}
	var labels []string
	for _, e := range all {
		s := e.content.(*sequence)
		d.Features, labels = append(d.Features, s.features...), append(labels, s.labels...)
	}
	withLabels(d, labels)
	return named(d, all), nil
}

// withLabels makes what is known of the labels of positions the column of labels of d, unless it is nil.
func withLabels(d *structured.Dataset, labels []string) {
	switch k := slices.Index(d.ColumnNames, text.LabelColumn); {
	case labels == nil:
	case k >= 0:
		d.Columns[k] = labels
	default:
		d.ColumnNames, d.Columns = append(d.ColumnNames, text.LabelColumn), append(d.Columns, labels)
	}
}
