package models

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
)

// The formats of data files.
const (
	formatBuiltin = "builtin"
	formatLetters = "letters"
	formatConll   = "conll"
	formatNPZ     = "npz"
)

// Data are the data sets of a run, which share alphabets. Dev and Test are nil where there are none.
type Data struct {
	Train, Dev, Test *structured.Dataset
}

// Input returns the shape of what a network reads at each position.
func (d *Data) Input() nets.Input { return inputOf(d.Train.Dim, d.Train.Vocab) }

func inputOf(dim int, vocab []*structured.Alphabet) nets.Input {
	in := nets.Input{Dim: dim}
	for _, v := range vocab {
		in.Vocab = append(in.Vocab, v.Len())
	}
	return in
}

// ReadData reads or makes the data sets that c names, and settles c.Format. The labels and vocabularies are those of the
// training data; development and test data must keep to the labels.
func ReadData(c *Config) (*Data, error) {
	d, err := readFiles(c)
	if err == nil {
		err = d.fitInputs(c)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// readFiles is ReadData but for what is learned from the training inputs: those of text are still columns.
func readFiles(c *Config) (*Data, error) {
	if c.Train == "" {
		c.Format = formatBuiltin
		return c.builtin()
	}
	if c.Format == "" {
		var err error
		if c.Format, err = detectFormat(c.Train); err != nil {
			return nil, err
		}
	}
	if err := c.Validate(); err != nil { // the format is known only now
		return nil, fmt.Errorf("%s: %w", c.Train, err)
	}
	if c.Format == formatConll && c.Columns == "" {
		c.Columns = structured.DefaultColumns
	}
	d := &Data{}
	var err error
	if c.Format == formatLetters && c.Fold >= 0 {
		d.Train, d.Test, err = readFold(c.Train, c.Fold)
	} else {
		d.Train, err = source{format: c.Format, columns: c.Columns}.read(c.Train, true)
	}
	if err != nil {
		return nil, err
	}
	if d.Train.Labels == nil {
		return nil, structured.BadInput("%s: no labels to train on", c.Train)
	}
	like := sourceLike(c, d.Train)
	for _, more := range []struct {
		path string
		to   **structured.Dataset
	}{{c.Dev, &d.Dev}, {c.Test, &d.Test}} {
		if more.path == "" {
			continue
		}
		if *more.to, err = like.read(more.path, true); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// fitInputs numbers the inputs of text by what occurs in the training data, in all data sets.
func (d *Data) fitInputs(c *Config) error {
	if c.Format != formatConll {
		return nil
	}
	vocab, err := structured.BuildVocab(d.Train, c.MinCount)
	if err != nil {
		return err
	}
	for _, set := range []*structured.Dataset{d.Train, d.Dev, d.Test} {
		if set == nil {
			continue
		}
		if err := structured.EncodeIds(set, vocab); err != nil {
			return err
		}
	}
	return nil
}

// builtin draws the words of the ocr task.
func (c *Config) builtin() (*Data, error) {
	o := structured.OCRWords{Difficulty: c.Difficulty, Seed: c.Seed}
	o.Train, o.Dev, o.Test = c.Examples[0], c.Examples[1], c.Examples[2]
	if err := o.Validate(); err != nil {
		return nil, err
	}
	d := &Data{}
	d.Train, d.Dev, d.Test = o.Generate()
	return d, nil
}

func readFold(path string, fold int) (train, test *structured.Dataset, err error) {
	err = open(path, func(r io.Reader) error {
		letters, err := structured.ReadLetters(r, path)
		if err != nil {
			return err
		}
		train, test, err = letters.Split(fold)
		return err
	})
	return train, test, err
}

// source knows how to read data files: any, or those that are like the training data.
type source struct {
	format  string // empty: seen from the file
	columns string // of conll
	width   int    // columns of a conll file, 0 where not known yet
	labels  *structured.Alphabet
	vocab   []*structured.Alphabet // of conll; nil where not known yet
	dim     int                    // dense features a position, 0 where not known yet
}

// sourceLike reads files like the training data.
func sourceLike(c *Config, train *structured.Dataset) source {
	return source{
		format: c.Format, columns: c.Columns, width: len(train.Columns),
		labels: train.Alphabet, vocab: train.Vocab, dim: train.Dim,
	}
}

// read reads a data set. Without needLabels there may be gold labels or not.
func (s source) read(path string, needLabels bool) (*structured.Dataset, error) {
	if s.format == "" {
		var err error
		if s.format, err = detectFormat(path); err != nil {
			return nil, err
		}
	}
	var d *structured.Dataset
	err := open(path, func(r io.Reader) error {
		var err error
		switch s.format {
		case formatConll:
			d, err = s.readConll(r, path, needLabels)
		case formatLetters:
			var l *structured.Letters
			if l, err = structured.ReadLetters(r, path); err == nil {
				d = l.Dataset
			}
		case formatNPZ:
			d, err = s.readNPZ(r, path, needLabels)
		default:
			err = structured.BadInput("%s: files are not read with --format %s; use letters, conll or npz", path, s.format)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case needLabels && d.Labels == nil:
		return nil, structured.BadInput("%s: no labels, expected a gold label at every position", path)
	case s.labels != nil && d.Labels != nil && d.Alphabet != s.labels:
		return d, relabel(d, s.labels)
	}
	return d, nil
}

func (s source) readConll(r io.Reader, path string, needLabels bool) (*structured.Dataset, error) {
	columns, err := structured.ParseColumns(s.columns)
	if err != nil {
		return nil, err
	}
	d, err := structured.Conll{Columns: columns, Width: s.width, Alphabet: s.labels, Unlabeled: !needLabels}.Read(r, path)
	if err != nil {
		return nil, err
	}
	if !needLabels {
		d.Labels = numbered(d.Column(structured.LabelColumn), s.labels)
	}
	if s.vocab != nil {
		if err := structured.EncodeIds(d, s.vocab); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (s source) readNPZ(r io.Reader, path string, needLabels bool) (*structured.Dataset, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, structured.BadInput("%s: %w", path, err)
	}
	dense := structured.Dense{Dim: s.dim, Alphabet: s.labels}
	d, err := dense.Read(bytes.NewReader(content), path)
	if err == nil || needLabels {
		return d, err
	}
	dense.Unlabeled = true
	return dense.Read(bytes.NewReader(content), path)
}

// numbered returns the labels with the given names; nil where there are none, or some that are not known: what was not
// asked for need not be right.
func numbered(names []string, labels *structured.Alphabet) []int32 {
	if names == nil || labels == nil {
		return nil
	}
	numbers := make([]int32, len(names))
	for t, name := range names {
		if numbers[t] = labels.Index(name); numbers[t] < 0 {
			return nil
		}
	}
	return numbers
}

// relabel gives d, which was read with labels of its own, those of the training data.
func relabel(d *structured.Dataset, labels *structured.Alphabet) error {
	number := make([]int32, d.Alphabet.Len())
	for i, name := range d.Alphabet.Names() {
		number[i] = labels.Index(name)
	}
	for i := range d.Len() {
		for t, l := range d.Gold(i) {
			if number[l] < 0 {
				return structured.BadInput("%s: position %d has label %q, which the training data lacks", d.Where(i), t, d.Alphabet.Name(l))
			}
			d.Gold(i)[t] = number[l]
		}
	}
	d.Alphabet = labels
	return nil
}

// open opens a data file for the time of read.
func open(path string, read func(r io.Reader) error) error {
	f, err := structured.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(read(f), f.Close())
}

// detectFormat tells a file's format from its name, or from how it begins.
func detectFormat(path string) (string, error) {
	if path == "-" {
		return "", structured.BadInput("standard input: cannot tell the format; give --format letters, conll or npz")
	}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".gz")
	switch ext := filepath.Ext(name); ext {
	case ".npz":
		return formatNPZ, nil
	case ".conll", ".iob", ".iob2", ".bio", ".bioes", ".conllu":
		return formatConll, nil
	}
	if strings.HasPrefix(name, "letter.") {
		return formatLetters, nil
	}
	format := formatConll
	err := open(path, func(r io.Reader) error {
		start := make([]byte, 1<<14)
		n, err := io.ReadFull(r, start)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return structured.BadInput("%s: %w", path, err)
		}
		line, _, _ := strings.Cut(string(start[:n]), "\n")
		switch {
		case strings.HasPrefix(line, "PK\x03\x04"):
			format = formatNPZ
		case strings.Count(line, "\t") > 128:
			format = formatLetters
		case strings.ContainsRune(line, 0):
			return structured.BadInput("%s: neither text nor npz; give --format if it is data all the same", path)
		}
		return nil
	})
	return format, err
}
