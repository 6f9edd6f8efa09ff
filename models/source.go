package models

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/union"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/host"
)

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

	minCount, hashBits int // of the attributes of a crfsuite file without a dictionary

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
}

// sourceOf reads training data.
func sourceOf(c *config.Config) source {
	return source{
		Request: Request{
			Format: c.Format, Columns: c.Columns, Comments: c.Comments, Label: c.Label, Labels: true, Partial: c.Partial, Strict: c.Strict,
			Threads: host.Threads(c.Threads), MaxWords: c.MaxWords,
		},
		reading: reading{config: c, task: tasks.Of(c), localise: tasks.Localise(c), scheme: c.Scheme, minCount: c.MinCount, hashBits: c.HashBits},
	}
}

// like returns the source of files like the training data.
func (s source) like(train *structured.Dataset) source {
	s.width, s.labels, s.dim = len(train.ColumnNames), train.Alphabet, train.Dim
	s.inputs = inputs.Inputs{Dictionary: train.Dictionary, Edges: edgesOf(train)}
	s.minCount, s.hashBits, s.localise = 0, 0, tasks.LocaliseLike(s.config, train)
	return s
}

// edgesOf returns the shape of the edges of graphs; zero for other data.
func edgesOf(d *structured.Dataset) inputs.Edges {
	if t := d.Table(structured.Edges); t != nil {
		return inputs.Edges{Dim: t.Dim, Types: graphs.Types(d)}
	}
	return inputs.Edges{}
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
		if lacks := func(d *structured.Dataset) bool { return d.Labels == nil }; !s.Labels && slices.ContainsFunc(sets, lacks) {
			for _, d := range sets { // nobody asked for them
				d.Labels, d.LabelSets = nil, nil
			}
		}
	}
	return union.Join(sets)
}

// readTraining reads the training data from one file or several, for a run that may continue a model.
func (s source) readTraining(value string, beside []Beside, from continuedModels) (*structured.Dataset, error) {
	files := formats.Files(value)
	s.hashBits = from.hashBits(s.hashBits)
	if from.start != nil {
		if names := from.start.Labels; s.task.TakesSetting("label-names") && !numbered(names) && s.config.LabelNames == "" {
			s.labels = names
		}
	}
	if s.localise != nil && !s.localise.Windows {
		own := *s.localise
		if s.localise = &own; from.start != nil {
			own.Sliding = from.start.Sliding
		} else {
			own.Learn = true
		}
	}
	merge := len(files) > 1 || from.start != nil
	least := max(1, s.minCount)
	if merge {
		s.minCount = 1
	}
	var sets []*structured.Dataset
	for k, path := range files {
		s.Beside = beside[k]
		d, err := s.read(path)
		if err != nil {
			return nil, err
		}
		sets = append(sets, d)
	}
	if s.localise != nil && s.localise.Learn {
		if err := s.localise.Complete(sets...); err != nil {
			return nil, err
		}
	}
	if merge {
		from.relabel(sets...)
		if s.inputs.Template == nil {
			union.Attributes(from.dictionary(), least, sets)
		}
	}
	return union.Join(sets)
}

// numbered reports whether labels have no names but their numbers.
func numbered(names *structured.Alphabet) bool {
	for l, name := range names.Names() {
		if name != strconv.Itoa(l) {
			return false
		}
	}
	return true
}

// read reads a data set.
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
		d, err = s.task.Read(s.config, tasks.Source{Path: path, Format: s.Format, Masks: s.Masks, Labels: s.labels, Dim: s.dim, Edges: s.inputs.Edges,
			Unlabeled: !s.Labels, Remarks: s.Remarks, Threads: s.Threads})
	} else if f := formats.Find(s.Format); f.ReadFolder != nil || s.localise != nil && f.ReadBoxes != nil {
		err = read(nil)
	} else if s.shared != nil {
		d, err = s.shared.read(s, path, func() error { return formats.Through(open, read) })
	} else {
		err = formats.Through(open, read)
	}
	if reasons := s.Remarks.Reasons(); errors.Is(err, host.ErrNoTokens) && len(reasons) > leftOut {
		err = allBad(path, reasons[leftOut])
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
		err = s.convert(d)
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

// allBad is the error of a file all of whose examples are left out, with the reason for the first.
func allBad(path, first string) error {
	return structured.BadInput("%s: every example is bad; the first: %s", path, first)
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
		err = text.ReadPartialLabels(d, s.labels)
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
		return nil, structured.BadInput("%s: --format %s has no boxes of objects: --task localise reads coco, voc and npz", path, s.Format)
	case f.Read == nil && f.ReadBoxes != nil:
		return nil, structured.BadInput("%s: --format %s has boxes of objects in images: use --task localise", path, s.Format)
	case f.Read == nil && f.ReadFolder == nil:
		return nil, structured.BadInput("%s: files are not read with --format %s; use %s", path, s.Format, strings.Join(formats.Names(), ", "))
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
		Labels: s.labels, OwnLabels: s.Labels || s.converts(), Unlabeled: !s.Labels, Threads: s.Threads, Line: s.line, Start: s.start, Each: s.each,
		Columns: s.Columns, Width: s.width, Comments: s.Comments, Survey: s.survey, Field: s.Label, Links: s.Links,
		Dictionary: s.inputs.Dictionary, MinCount: s.minCount, HashBits: s.hashBits, Dim: s.dim, OnDisk: s.onDisk, Partial: s.Labels && s.Partial,
		Given: s.config.FormatSettings, Remarks: s.Remarks,
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

// number gives d the labels in its column. If there is no such column, or a label is unknown, d gets none: nobody asked
// for them.
func (s source) number(d *structured.Dataset) {
	names := d.Column(text.LabelColumn)
	if names == nil || s.labels == nil {
		return
	}
	d.Alphabet, d.Labels = structured.NewAlphabet(names...), make([]int32, len(names))
	for t, name := range names {
		d.Labels[t] = d.Alphabet.Index(name)
	}
	if err := s.convert(d); err != nil || !renumber(d, s.labels) {
		d.Labels = nil
	}
	d.Alphabet = s.labels
}

// renumber numbers the labels of d by an alphabet. It returns false if that lacks some.
func renumber(d *structured.Dataset, labels *structured.Alphabet) bool {
	number := make([]int32, d.Alphabet.Len())
	for i, name := range d.Alphabet.Names() {
		number[i] = labels.Index(name)
	}
	for t, l := range d.Labels {
		if d.Labels[t] = number[l]; number[l] < 0 {
			return false
		}
	}
	return true
}

// relabel renumbers the labels of d by those of the training data. Unknown labels come after the known ones, in an
// alphabet of d's own; an evaluation counts them as mistakes. Data without any known label are bad input.
func relabel(d *structured.Dataset, labels *structured.Alphabet) error {
	all, known := structured.NewAlphabet(labels.Names()...), false
	number := make([]int32, d.Alphabet.Len())
	for i, name := range d.Alphabet.Names() {
		number[i] = all.Add(name)
	}
	for _, l := range d.Labels {
		known = known || int(number[l]) < labels.Len()
	}
	if !known && len(d.Labels) > 0 {
		return structured.BadInput("%s: training saw neither label %q nor any other label of this data; it saw %s", d.Where(0),
			d.Alphabet.Name(d.Labels[0]), structured.SomeOf(labels.Names()))
	}
	for t, l := range d.Labels {
		d.Labels[t] = number[l]
	}
	if d.Alphabet = labels; all.Len() > labels.Len() {
		d.Alphabet = all
	}
	return nil
}

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
