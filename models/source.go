package models

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/union"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Request says what is to be read, and how it differs from the training data of the model that reads it.
type Request struct {
	Path     string // a file, or several as settings list them, or formats.Builtin for drawn data
	Format   string // empty: the model's, or detected
	Columns  string // of conll; empty: the model's
	Comments string // of conll: what comments start with, or none; empty: the model's
	Label    string // of conllu; empty: the model's
	Labels   bool   // every position needs a gold label; otherwise they are read if there are any
	Partial  bool   // gold labels may be partial, also where the model's training data had to know them
	Strict   bool   // an annotated box without area is bad input
	Void     string // value in masks that counts nowhere; empty: the model's
	Values   string // of the labels in masks; empty: the model's
	Threads  int    // 0: all cores
	MaxWords int    // of a sentence; 0: what the task takes
	Beside

	Peers structured.Peers // each takes its share of the examples, and where it can it reads no others' text

	Remarks *remarks.Remarks // on examples; nil refuses bad ones
}

// source reads data files: what a request asks for, as data of one training are read, all of a file or an excerpt.
type source struct {
	Request // an empty format is detected
	reading
	excerpt
	shared *sharedText // that several processes read of the files; nil: each reads all of them
}

// reading is how the data of one training are read: its own, and all that come later.
type reading struct {
	config   *config.Config
	task     tasks.Task
	localise *localisation.Options // of --task localise, or nil

	scheme   string           // that entity tags are converted to, or keep
	own      chains.Notation  // of labels
	was      *chains.Notation // gets that of tags that are converted, or nil
	labels   *structured.Alphabet
	optional bool // gold labels of text may be unknown, or missing

	width  int           // columns of a conll file, 0 if unknown
	dim    int           // dense features per position, 0 if unknown
	onDisk bool          // features of npz archives stay in their files
	inputs inputs.Inputs // of text; an empty one leaves columns as they are

	plainBrackets      bool // labels that are brackets stay as they are, as a model learned them
	minCount, hashBits int  // of the attributes of a crfsuite file without a dictionary

	tag    func(d *structured.Dataset, threads int) error          // labels words before inputs are made, or nil
	check  func(d *structured.Dataset, say *remarks.Remarks) error // refuses text whose columns are others, or nil
	advise func(err error, d *structured.Dataset) error            // adds what to do about an error of data that may lack columns, or nil
}

// excerpt is the part of a text file that is read, if it is not all of it.
type excerpt struct {
	survey *text.Survey                      // of the file, or nil
	line   int                               // number of the first line
	start  io.Reader                         // of the file, or nil
	each   func(d *structured.Dataset) error // gets the text block by block, or nil
	failed *[]int                            // gets the parses of a file of trees that failed, or nil
}

// source reads files like the model's training data, except for what r says.
func (m *Model) source(r Request) (source, error) {
	c := &m.Config
	if r.Path == formats.Builtin {
		r.Path, r.Format = "", formats.Builtin
	}
	s := source{Request: r, reading: reading{
		config: c, task: tasks.Of(c), localise: tasks.Localise(c),
		scheme: c.Scheme, own: m.ownNotation(), labels: m.Labels,
		width: m.Width, dim: m.Given(m.Dim), inputs: m.Inputs,
		tag: m.tag, check: m.checkColumns, advise: m.adviseTagger,
	}}
	s.Partial, s.Threads = r.Partial || c.Partial, host.Threads(r.Threads)
	if s.localise != nil {
		s.localise.Class, s.localise.ClassID = m.Labels.Name(0), m.ClassID
		s.localise.Sliding, s.localise.Shape = m.Sliding, m.CandidateShape(m.Dim)
	}
	if err := s.suits(); err != nil {
		return s, err
	}
	if r.Void != "" || r.Values != "" {
		own := *c
		own.Void, own.MaskValues = cmp.Or(r.Void, c.Void), cmp.Or(r.Values, c.MaskValues)
		s.config = &own
	}
	switch {
	case s.Format != "":
	case c.Format == formats.Builtin:
		s.Format = s.task.FileFormat
	case s.localise == nil:
		s.Format = c.Format
	}
	if err := s.suitsFormat(); err != nil {
		return s, err
	}
	if s.Columns != "" {
		s.width = 0
	}
	s.Columns, s.Label = cmp.Or(s.Columns, c.Columns, text.DefaultColumns), cmp.Or(s.Label, c.Label)
	s.Comments = cmp.Or(s.Comments, c.Comments)
	return s, nil
}

// suits refuses a request for what data of the task do not have.
func (s source) suits() error {
	if (s.Boxes != "" || s.Images != "") && s.localise == nil {
		return structured.BadInput("--boxes and --images are for models that find objects in images (--task localise)")
	}
	for _, given := range [][2]string{{"--masks", s.Masks}, {"--void", s.Void}, {"--mask-values", s.Values}} {
		if given[1] != "" && !s.task.TakesSetting("masks") {
			return structured.BadInput("%s is for models that label the pixels of images (--task segment)", given[0])
		}
	}
	if s.Partial && s.converts() {
		return structured.BadInput("--partial: the model's tags were converted to %s as they were read, which needs to know "+
			"them all", s.scheme)
	}
	return nil
}

// suitsFormat refuses a format that there is not, and what the format does not have.
func (s source) suitsFormat() error {
	if s.Format == "" {
		return nil
	}
	if err := settings.OneOf("--format", s.Format, append([]string{formats.Builtin}, formats.Names()...)); err != nil {
		return err
	}
	if f := formats.Find(s.Format); s.Comments != "" && f.Name != "" && !f.TakesSetting("comments") {
		return structured.BadInput("--comments %s: it is for text in columns (conll); this data is %s", s.Comments, s.Format)
	}
	return nil
}

// readFiles reads a data set from one file or several.
func (s source) readFiles(value string, beside []Beside) (*structured.Dataset, error) {
	var sets []*structured.Dataset
	for k, path := range formats.Files(value) {
		if s.Beside = (Beside{}); k < len(beside) {
			s.Beside = beside[k]
		}
		d, err := s.read(path)
		if err != nil {
			return nil, err
		}
		sets = append(sets, d)
	}
	if len(sets) > 1 {
		continuedModels{}.relabel(sets...) // labels that training did not see are numbered file by file
		if lacks := func(d *structured.Dataset) bool { return d.Labels == nil }; !s.Labels &&
			slices.ContainsFunc(sets, lacks) {
			for _, d := range sets { // nobody asked for them
				d.Labels, d.LabelSets = nil, nil
			}
		}
	}
	return union.Join(sets)
}

func (s source) read(path string) (*structured.Dataset, error) {
	if s.Format == "" {
		var err error
		if s.Format, err = formats.Detect(path); err != nil {
			return nil, err
		}
	}
	open := func() (io.ReadCloser, error) { return host.Open(path) }
	if f := formats.Find(s.Format); f.LookThrough != nil && s.task.Read == nil {
		var err error
		look := again(path, &open)
		if s.survey, err = f.LookThrough(look, path, s.options()); err != nil {
			return nil, err
		}
	}
	var d *structured.Dataset
	read := func(r io.Reader) error {
		var err error
		d, err = s.readLabelled(r, host.NameOf(path))
		return err
	}
	var err error
	leftOut := len(s.Remarks.Reasons()) // of other files
	if s.task.Read != nil {
		d, err = s.task.Read(s.config, tasks.Source{Path: path, Format: s.Format, Masks: s.Masks, Labels: s.labels,
			Dim: s.dim, Edges: s.inputs.Edges,
			Unlabeled: !s.Labels, Remarks: s.Remarks, Threads: s.Threads})
	} else if f := formats.Find(s.Format); f.ReadFolder != nil || s.localise != nil && f.ReadBoxes != nil {
		err = read(nil)
	} else if s.shared != nil {
		d, err = s.shared.read(s, path, func() error { return formats.Through(open, read) })
	} else {
		err = formats.Through(open, read)
	}
	if reasons := s.Remarks.Reasons(); errors.Is(err, host.ErrNoTokens) && len(reasons) > leftOut {
		err = remarks.AllBad(path, reasons[leftOut])
	}
	if err == nil && s.Dense != "" {
		err = s.readDense(d)
	}
	if err == nil && s.Labels && d.Labels != nil && !s.optional { // a teacher's labels are those of its model
		if s.scheme == "io" {
			if count, first := chains.Touching(d); count > 0 {
				s.Remarks.Add(remarks.Remark{Level: slog.LevelWarn, What: remarks.Merged, Times: count, First: first})
			}
		}
		if d, err = s.matched(d, s.labels != nil); err == nil {
			err = s.convert(d)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case s.Labels && d.Labels == nil && !(s.localise != nil && s.localise.Learn): // Complete numbers its candidates
		return nil, structured.BadInput("%s: no labels, expected a gold label at every position", path)
	case s.task.Labels && s.labels != nil && d.Labels != nil && d.Alphabet != s.labels:
		return d, relabel(d, s.labels)
	}
	return d, nil
}

// readLabelled is readFrom of text whose labels may be known in part.
func (s source) readLabelled(r io.Reader, path string) (*structured.Dataset, error) {
	if !s.Labels || !s.partial() || formats.Find(s.Format).Arrays {
		return s.readFrom(r, path)
	}
	s.Labels = false
	d, err := s.readFrom(r, path)
	switch {
	case err != nil:
	case s.optional && d.Column(text.LabelColumn) == nil:
		forgetLabels(d, s.labels)
	default:
		err = readPartial(d, s.labels)
	}
	return d, err
}

// partial reports whether labels may be known in part.
func (s source) partial() bool { return s.Partial || s.optional && s.textual() }

// textual reports whether the format has a label per token of text.
func (s source) textual() bool {
	f := formats.Find(s.Format)
	return s.task.Labels && f.Tokens && f.Columns
}

// readFrom is read from r, in a known format; path is for messages. Of a format of folders it reads path, and r is nil.
func (s source) readFrom(r io.Reader, path string) (*structured.Dataset, error) {
	f := formats.Find(s.Format)
	switch {
	case s.localise != nil && f.ReadBoxes != nil:
		o := *s.localise
		o.Boxes, o.Images, o.Unlabeled, o.Remarks, o.Threads = s.Boxes, s.Images, !s.Labels, s.Remarks, s.Threads
		o.Strict = s.Strict
		d, err := f.ReadBoxes(path, o)
		if errors.Is(err, localisation.ErrNoClass) {
			err = structured.BadInput("%w (--class)", err)
		}
		return d, err
	case s.localise != nil:
		return nil, structured.BadInput("%s: --format %s has no boxes of objects: --task localise reads coco, voc and npz",
			path, s.Format)
	case f.Read == nil && f.ReadBoxes != nil:
		return nil, structured.BadInput("%s: --format %s has boxes of objects in images: use --task localise", path, s.Format)
	case f.Read == nil && f.ReadFolder == nil:
		return nil, structured.BadInput("%s: files are not read with --format %s; use %s", path, s.Format,
			strings.Join(formats.Names(), ", "))
	}
	o := s.options()
	if s.task.Reading != nil {
		s.task.Reading(&o)
	}
	textual := f.Tokens || f.Lines
	sentences := f.TakesSetting(tasks.WordsSetting)
	if sentences && s.each != nil {
		o.Each = func(d *structured.Dataset) error {
			d, err := s.shortEnough(d)
			if err != nil {
				return err
			}
			return s.each(d)
		}
	}
	var d *structured.Dataset
	var err error
	if f.ReadFolder != nil {
		d, err = f.ReadFolder(path, o)
	} else {
		d, err = f.Read(r, path, o)
	}
	if err == nil && sentences {
		d, err = s.shortEnough(d)
	}
	if err == nil && textual && s.task.Labels && !s.Labels {
		s.number(d)
	}
	if err == nil && f.Columns && s.check != nil {
		err = s.check(d, s.Remarks)
	}
	if err == nil && (f.Columns || s.inputs.Vocab != nil || s.inputs.Own != nil) {
		err = s.makeInputs(d)
	}
	if err != nil && s.advise != nil {
		err = s.advise(err, d)
	}
	return d, err
}

// again returns a function that opens a file with open, again and again. What can be read only once it keeps in memory,
// where open finds it from then on.
func again(path string, open *func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	kept := host.Rereads(path)
	return func() (io.ReadCloser, error) {
		in, err := (*open)()
		if err != nil || kept {
			return in, err
		}
		content, err := io.ReadAll(in)
		if err = errors.Join(err, in.Close()); err != nil {
			return nil, structured.BadInput("%s: %w", path, err)
		}
		*open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
		kept = true
		return (*open)()
	}
}

// options say how a format reads what s does.
func (s source) options() formats.Options {
	return formats.Options{
		Labels: s.labels, OwnLabels: s.Labels || s.converts(), Unlabeled: !s.Labels, Threads: s.Threads, Line: s.line,
		Start: s.start, Each: s.each,
		Columns: s.Columns, Width: s.width, Comments: s.Comments, Survey: s.survey, Field: s.Label, Links: s.Links,
		Dictionary: s.inputs.Dictionary, MinCount: s.minCount, HashBits: s.hashBits, Dim: s.dim, OnDisk: s.onDisk, Failed: s.failed,
		Partial: s.Labels && s.Partial,
		Given:   s.config.FormatSettings, Remarks: s.Remarks,
	}
}

// shortEnough refuses, or leaves out, sentences that are too long for the task.
func (s source) shortEnough(d *structured.Dataset) (*structured.Dataset, error) {
	if s.Remarks.Skips() {
		return s.Remarks.Keep(d, func(i int) error { return s.task.CheckWords(d, []int{i}, s.MaxWords) })
	}
	return d, s.task.CheckWords(d, nil, s.MaxWords)
}

// makeInputs makes the inputs of text.
func (s source) makeInputs(d *structured.Dataset) error {
	if s.tag != nil {
		if err := s.tag(d, s.Threads); err != nil {
			return err
		}
	}
	return s.inputs.Apply(d, s.Threads)
}

// converts reports whether tags are to be converted.
func (s source) converts() bool { return s.scheme != "" && s.scheme != keepScheme }

// readDense reads the dense features of a text.
func (s source) readDense(d *structured.Dataset) error {
	if s.inputs.WordRows != nil {
		return structured.BadInput("--dense %s: the model's dense features are vectors of words, which it has", s.Dense)
	}
	return formats.Open(s.Dense, func(r io.Reader) error {
		var err error
		d.Features, d.Dim, err = arrays.ReadFeatures(r, s.Dense, d.Offsets, s.dim)
		return err
	})
}
