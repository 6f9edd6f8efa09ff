package models

import (
	"log/slog"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Files are data whose gold outputs are those of one file, and whose predicted outputs are those of another, made by
// any program.
type Files struct {
	Gold, Predicted string
	Columns         string // of the predicted file; empty: those of the gold file or, where the predicted file has more, the last as its label
	Task            string // auto: the first of the format
	Class           string // of boxes; empty: that of the predicted ones, or the only one
	Scheme          string // of the gold file's entity tags; empty: what the tags show

	Request // how the gold file is read; its Path is not used
}

// Compare reports how well the predicted outputs agree with the gold ones, as Model.Report does. Sequences without the
// same tokens are bad input. Tags may be written in different schemes.
func (f Files) Compare(strict bool) (tasks.Report, error) {
	if task, ok := tasks.Named(f.Own()); ok && task.CompareFiles != nil {
		return task.CompareFiles(tasks.OutputFiles{Gold: f.Gold, Predicted: f.Predicted, Void: f.Void, MaskValues: f.Values, Class: f.Class})
	}
	gold, c, err := f.read(f.Gold, f.Request.Columns, nil, nil)
	if err != nil {
		return nil, err
	}
	task := tasks.Of(c)
	f.Task, f.Format = c.Task, c.Format
	notation, err := f.notation(gold, task)
	if err != nil {
		return nil, err
	}
	columns := f.Columns
	if columns == "" {
		columns = f.Request.Columns
	}
	var failed []int
	predicted, _, err := f.read(f.Predicted, columns, gold, &failed)
	if err == nil && f.Columns == "" && f.Request.Columns != "" && len(predicted.ColumnNames) > len(gold.ColumnNames) {
		predicted, _, err = f.read(f.Predicted, lastAsLabel(columns), gold, nil)
	}
	if err == nil && len(failed) > 0 {
		gold, err = f.parsed(gold, predicted, failed)
	}
	if err == nil {
		err = sameTokens(gold, predicted)
	}
	if err != nil {
		return nil, err
	}
	if task.Labels {
		if err := numberAlike(gold, predicted, notation); err != nil {
			return nil, err
		}
	}
	by := task.Compare(predicted.Alphabet, gold, strict)
	if f.Scheme != "" {
		by = tasks.CompareTags(predicted.Alphabet, gold, strict, notation.Scheme)
	}
	for i := range gold.Len() {
		by.Add(gold, i, predicted.Gold(i))
	}
	return by.Report(), nil
}

// parsed returns the gold trees of the sentences whose parse did not fail.
func (f Files) parsed(gold, predicted *structured.Dataset, failed []int) (*structured.Dataset, error) {
	if n := predicted.Len() + len(failed); n != gold.Len() {
		return nil, structured.BadInput("%s: found %d trees, %d of them failed parses, expected the %d of %s", f.Predicted, n,
			len(failed), gold.Len(), gold.Name)
	}
	f.Remarks.Add(remarks.Remark{Level: slog.LevelWarn, What: remarks.Failed, Times: len(failed), First: gold.Where(failed[0])})
	var keep []int
	for i := range gold.Len() {
		if _, is := slices.BinarySearch(failed, i); !is {
			keep = append(keep, i)
		}
	}
	return gold.Subset(keep), nil
}

// Own returns the name of the task that is named, or else of the first one of the format that can, if it compares files
// in its own way; empty if it does not.
func (f Files) Own() string {
	if f.Task != "auto" {
		if task, _ := tasks.Named(f.Task); task.CompareFiles != nil {
			return f.Task
		}
		return ""
	}
	format := f.Format
	if format == "" && tasks.LinksAlone(f.Gold) {
		return "align"
	}
	if format == "" {
		format, _ = formats.Detect(f.Gold) // read says what is wrong
	}
	if format == formats.Images { // a folder of images that are outputs has masks
		return "segment"
	}
	for _, name := range formats.Find(format).Tasks {
		switch task, _ := tasks.Named(name); {
		case task.CompareFiles != nil:
			return name
		case task.Files:
			return ""
		}
	}
	return ""
}

// read reads one of the files, the predicted one with the task, the format and the labels of the gold one, and without
// trees of parses that failed, which failed gets.
func (f Files) read(path, columns string, gold *structured.Dataset, failed *[]int) (*structured.Dataset, *config.Config, error) {
	c := config.Default()
	c.Train, c.Task, c.Format, c.Columns, c.Comments, c.Label, c.Threads = path, f.Task, f.Format, columns, f.Comments, f.Label, f.Threads
	if err := tasks.Resolve(&c); err != nil {
		return nil, nil, err
	}
	task := tasks.Of(&c)
	if !task.Files {
		return nil, nil, structured.BadInput("%s: the files of --task %s hold no predicted %s: give --model and --data", path, task.Name, task.Outputs)
	}
	s := sourceOf(&c)
	s.Remarks, s.failed = f.Remarks, failed
	if gold != nil && !task.Labels {
		s.labels = gold.Alphabet
	}
	d, err := s.readFiles(c.Train, make([]Beside, len(formats.Files(c.Train))))
	if err == nil && d.Labels == nil {
		err = structured.BadInput("%s: no %s", path, task.Outputs)
	}
	return d, &c, err
}

// lastAsLabel returns columns in which the last one is the label.
func lastAsLabel(columns string) string {
	items := strings.Split(columns, ",")
	for k, item := range items {
		if name, _, _ := strings.Cut(strings.TrimSpace(item), "="); name == text.LabelColumn {
			items[k] = text.LabelColumn + "=-1"
		}
	}
	return strings.Join(items, ",")
}

// sameTokens refuses files whose sequences do not have the same tokens.
func sameTokens(gold, predicted *structured.Dataset) error {
	a, b := gold.Column(text.WordColumn), predicted.Column(text.WordColumn)
	for i := range min(gold.Len(), predicted.Len()) {
		n, m := gold.Length(i), predicted.Length(i)
		for t := range min(n, m) {
			if a == nil || b == nil {
				break
			}
			if x, y := a[gold.Offsets[i]+t], b[predicted.Offsets[i]+t]; x != y {
				return structured.BadInput("%s: found %q, expected %q as in %s", predicted.WhereToken(i, t), y, x, gold.WhereToken(i, t))
			}
		}
		if n != m {
			return structured.BadInput("%s: found %d tokens, expected the %d of %s", predicted.Where(i), m, n, gold.Where(i))
		}
	}
	if gold.Len() != predicted.Len() {
		return structured.BadInput("%s: found %d sequences, expected the %d of %s", predicted.Name, predicted.Len(), gold.Len(), gold.Name)
	}
	return nil
}

// notation returns the notation of the gold file's tags, without a scheme if they are none, or if nothing tells.
func (f Files) notation(gold *structured.Dataset, task tasks.Task) (chains.Notation, error) {
	switch {
	case f.Scheme == "" && task.Labels:
		return chains.NotationOfData(gold), nil
	case f.Scheme == "":
		return chains.Notation{}, nil
	case !task.Labels:
		return chains.Notation{}, structured.BadInput("--scheme is of entity tags; the files of --task %s hold %s", task.Name, task.Outputs)
	}
	n, err := chains.NotationSaid(gold.Alphabet, chains.SchemeNamed(f.Scheme))
	if err != nil {
		return n, structured.BadInput("%s: %w", gold.Name, err)
	}
	return n, nil
}

// numberAlike writes predicted tags in the notation of the gold ones, and numbers the labels of both by one alphabet,
// in which those of the gold file come first.
func numberAlike(gold, predicted *structured.Dataset, is chains.Notation) error {
	if is.Scheme != "" && chains.EntityTags(predicted.Alphabet) && !is.Has(predicted.Alphabet) { // broken tags stay what they are
		_, err := chains.ConvertScheme(predicted, is.Scheme, gold.Alphabet)
		return err
	}
	all := structured.NewAlphabet(slices.Clone(gold.Alphabet.Names())...)
	for _, name := range predicted.Alphabet.Names() {
		all.Add(name)
	}
	renumber(predicted, all)
	predicted.Alphabet = all
	return nil
}
