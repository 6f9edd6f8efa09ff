package models

import (
	"io"
	"strings"

	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/text"
)

// source knows how to read data files: any, or those that are like the training data.
type source struct {
	format  string // empty: seen from the file
	columns string // of conll
	label   string // of conllu
	scheme  string // that entity tags are converted to, or keep
	width   int    // columns of a conll file, 0 where not known yet
	partial bool   // labels may be known in part
	labels  *structured.Alphabet
	inputs  Inputs // of text; without any, columns stay columns
	dim     int    // dense features a position, 0 where not known yet
	threads int
	line    int  // the number of the first line, where only a part of a text file is read
	trees   bool // of conllu: the outputs are trees

	minCount, hashBits int // of the attributes of a crfsuite file, where no dictionary is known yet
}

// sourceLike reads files like the training data.
func sourceLike(c *Config, train *structured.Dataset) source {
	return source{
		format: c.Format, columns: c.Columns, label: c.Label, scheme: c.Scheme, partial: c.Partial, width: len(train.Columns), trees: c.Task == "parse",
		labels: train.Alphabet, inputs: Inputs{Dictionary: train.Dictionary}, dim: train.Dim, threads: threadsOr(c.Threads),
	}
}

// read reads a data set. Without needLabels there may be gold labels or not.
func (s source) read(path string, needLabels bool) (*structured.Dataset, error) {
	if s.format == "" {
		var err error
		if s.format, err = formats.Detect(path); err != nil {
			return nil, err
		}
	}
	var d *structured.Dataset
	err := formats.Open(path, func(r io.Reader) error {
		var err error
		if s.partial && needLabels {
			return s.readPartial(r, path, &d)
		}
		d, err = s.readFrom(r, path, needLabels)
		return err
	})
	if err == nil && needLabels && d.Labels != nil && s.converts() {
		err = chains.ConvertScheme(d, s.scheme, s.labels)
	}
	switch {
	case err != nil:
		return nil, err
	case needLabels && d.Labels == nil:
		return nil, structured.BadInput("%s: no labels, expected a gold label at every position", path)
	case !s.trees && s.labels != nil && d.Labels != nil && d.Alphabet != s.labels:
		return d, relabel(d, s.labels)
	}
	return d, nil
}

// readPartial is readFrom of text whose labels may be known in part.
func (s source) readPartial(r io.Reader, path string, to **structured.Dataset) error {
	d, err := s.readFrom(r, path, false)
	if err != nil {
		return err
	}
	*to = d
	return text.ReadPartialLabels(d, s.labels)
}

// readFrom is read of what r holds, in a known format; path is for messages.
func (s source) readFrom(r io.Reader, path string, needLabels bool) (*structured.Dataset, error) {
	f := formats.Find(s.format)
	if f.Read == nil {
		return nil, structured.BadInput("%s: files are not read with --format %s; use %s", path, s.format, strings.Join(formats.Names(), ", "))
	}
	d, err := f.Read(r, path, formats.Options{
		Labels: s.labels, OwnLabels: needLabels || s.converts(), Unlabeled: !needLabels, Threads: s.threads, Line: s.line,
		Columns: s.columns, Width: s.width, Field: s.label, Trees: s.trees,
		Dictionary: s.inputs.Dictionary, MinCount: s.minCount, HashBits: s.hashBits, Dim: s.dim,
	})
	if err != nil {
		return nil, err
	}
	if f.Tokens && !s.trees && !needLabels {
		s.number(d)
	}
	if f.Columns {
		err = s.inputs.apply(d, s.threads)
	}
	return d, err
}

// converts reports whether tags are to be converted.
func (s source) converts() bool { return s.scheme != "" && s.scheme != "keep" }

// number gives d the labels in its column; none where there is no such column, or where some label is not known: what was
// not asked for need not be right.
func (s source) number(d *structured.Dataset) {
	names := d.Column(text.LabelColumn)
	if names == nil || s.labels == nil {
		return
	}
	d.Alphabet = s.labels
	if s.converts() {
		d.Alphabet = structured.NewAlphabet(names...)
	}
	d.Labels = make([]int32, len(names))
	for t, name := range names {
		if d.Labels[t] = d.Alphabet.Index(name); d.Labels[t] < 0 {
			d.Labels = nil
			return
		}
	}
	if s.converts() && chains.ConvertScheme(d, s.scheme, s.labels) != nil {
		d.Labels, d.Alphabet = nil, s.labels
	}
}

// relabel gives d, which was read with labels of its own, those of the training data. Labels that those lack come after
// them, in an alphabet of d's own: no prediction can be right there, and an evaluation counts them. Data none of whose labels are known
// are bad input.
func relabel(d *structured.Dataset, labels *structured.Alphabet) error {
	all, known := structured.NewAlphabet(labels.Names()...), false
	number := make([]int32, d.Alphabet.Len())
	for i, name := range d.Alphabet.Names() {
		number[i] = all.Add(name)
		known = known || int(number[i]) < labels.Len()
	}
	if !known && len(d.Labels) > 0 {
		return structured.BadInput("%s: label %q, and no other of this data either, is one that training saw: %s", d.Where(0),
			d.Alphabet.Name(d.Labels[0]), strings.Join(labels.Names()[:min(40, labels.Len())], " "))
	}
	for t, l := range d.Labels {
		d.Labels[t] = number[l]
	}
	if d.Alphabet = labels; all.Len() > labels.Len() {
		d.Alphabet = all
	}
	return nil
}
