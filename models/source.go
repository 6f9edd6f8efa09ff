package models

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/union"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/machine/host"
)

// source reads data files: any, or those that are like the training data.
type source struct {
	format  string // empty: detected
	columns string // of conll
	label   string // of conllu
	scheme  string // that entity tags are converted to, or keep
	width   int    // columns of a conll file, 0 if unknown
	partial bool   // labels may be partial
	labels  *structured.Alphabet
	inputs  inputs.Inputs // of text; an empty one leaves columns as they are
	dim     int           // dense features per position, 0 if unknown
	besides               // files that are read with the data
	threads int
	line    int        // number of the first line, when only a part of a text file is read
	task    tasks.Task // that the data are for

	minCount, hashBits int // of the attributes of a crfsuite file without a dictionary

	localise *localisation.Options // of --task localise, or nil
	config   *config.Config        // for a task that reads its data itself
}

// besides are files that are read with a data set; empty ones are not.
type besides struct {
	dense  string // npz file of the dense features of text
	boxes  string // candidate boxes
	images string // folder of the images
	links  string // of sentence pairs
	masks  string // folder of the masks
}

// filesOf returns the files that c has beside each file of the training, development and test data.
func filesOf(c *config.Config) ([3][]besides, error) {
	return filesFor([3][]string{formats.Files(c.Train), formats.Files(c.Dev), formats.Files(c.Test)}, besides{c.Dense, c.Boxes, c.Images, c.Links, c.Masks})
}

// eachBeside parts what is read beside several files, which lists as many.
func (s source) eachBeside(files []string) ([]besides, error) {
	all, err := filesFor([3][]string{files}, s.besides)
	return all[0], err
}

// filesFor parts lists of files to be read beside the files of three data sets.
func filesFor(paths [3][]string, lists besides) (all [3][]besides, err error) {
	for k := range paths {
		all[k] = make([]besides, len(paths[k]))
	}
	for _, s := range []struct {
		name, value string
		to          func(b *besides) *string
	}{
		{"dense", lists.dense, func(b *besides) *string { return &b.dense }},
		{"boxes", lists.boxes, func(b *besides) *string { return &b.boxes }},
		{"images", lists.images, func(b *besides) *string { return &b.images }},
		{"links", lists.links, func(b *besides) *string { return &b.links }},
		{"masks", lists.masks, func(b *besides) *string { return &b.masks }},
	} {
		files, err := filesBeside(paths, s.name, s.value)
		if err != nil {
			return all, err
		}
		for k := range all {
			for i := range all[k] {
				*s.to(&all[k][i]) = files[k][i]
			}
		}
	}
	return all, nil
}

// sourceLike reads files like the training data.
func sourceLike(c *config.Config, train *structured.Dataset) source {
	return source{
		format: c.Format, columns: c.Columns, label: c.Label, scheme: c.Scheme, partial: c.Partial, width: len(train.ColumnNames), task: tasks.Of(c),
		labels: train.Alphabet, inputs: inputs.Inputs{Dictionary: train.Dictionary, Edges: edgesOf(train)}, dim: train.Dim, threads: host.Threads(c.Threads),
		localise: tasks.LocaliseLike(c, train), config: c,
	}
}

// edgesOf returns the shape of the edges of graphs; zero for other data.
func edgesOf(d *structured.Dataset) inputs.Edges {
	if t := d.Table(structured.Edges); t != nil {
		return inputs.Edges{Dim: t.Dim, Types: graphs.Types(d)}
	}
	return inputs.Edges{}
}

// readFiles reads a data set from one file or several.
func (s source) readFiles(value string, beside []besides, needLabels bool) (*structured.Dataset, error) {
	var sets []*structured.Dataset
	for k, path := range formats.Files(value) {
		if s.besides = (besides{}); k < len(beside) {
			s.besides = beside[k]
		}
		d, err := s.read(path, needLabels)
		if err != nil {
			return nil, err
		}
		sets = append(sets, d)
	}
	if len(sets) > 1 {
		bases{}.relabel(sets...) // labels that training did not see are numbered file by file
	}
	return union.Join(sets)
}

// readTraining reads the training data from one file or several, for a run that may continue a model.
func (s source) readTraining(value string, beside []besides, from bases) (*structured.Dataset, error) {
	files := formats.Files(value)
	var known *structured.Dictionary
	if from.start != nil {
		known = from.start.Dictionary
		s.hashBits = 0
		if known != nil {
			s.hashBits = known.HashBits
		}
		if names := from.start.Labels; s.config.Task == "segment" && !numbered(names) && s.config.LabelNames == "" {
			s.labels = names
		}
	}
	merge := len(files) > 1 || from.start != nil
	least := max(1, s.minCount)
	if merge {
		s.minCount = 1
	}
	var sets []*structured.Dataset
	for k, path := range files {
		s.besides = beside[k]
		d, err := s.read(path, true)
		if err != nil {
			return nil, err
		}
		sets = append(sets, d)
	}
	if merge {
		from.relabel(sets...)
		if s.inputs.Template == nil {
			union.Attributes(known, least, sets)
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

// read reads a data set. With needLabels every position must have a gold label.
func (s source) read(path string, needLabels bool) (*structured.Dataset, error) {
	if s.format == "" {
		var err error
		if s.format, err = formats.Detect(path); err != nil {
			return nil, err
		}
	}
	var d *structured.Dataset
	read := func(r io.Reader) error {
		var err error
		if s.partial && needLabels {
			return s.readPartial(r, path, &d)
		}
		d, err = s.readFrom(r, path, needLabels)
		return err
	}
	var err error
	if s.task.Read != nil {
		d, err = s.task.Read(s.config, tasks.Source{Path: path, Format: s.format, Masks: s.masks, Labels: s.labels, Dim: s.dim, Edges: s.inputs.Edges,
			Unlabeled: !needLabels, Threads: s.threads})
	} else if f := formats.Find(s.format); f.ReadFolder != nil || s.localise != nil && f.ReadBoxes != nil {
		err = read(nil)
	} else {
		err = formats.Open(path, read)
	}
	if err == nil && s.dense != "" {
		err = s.readDense(d)
	}
	if err == nil && needLabels && d.Labels != nil && s.converts() {
		err = chains.ConvertScheme(d, s.scheme, s.labels)
	}
	switch {
	case err != nil:
		return nil, err
	case needLabels && d.Labels == nil:
		return nil, structured.BadInput("%s: no labels, expected a gold label at every position", path)
	case s.task.Labels && s.labels != nil && d.Labels != nil && d.Alphabet != s.labels:
		return d, relabel(d, s.labels)
	}
	return d, nil
}

// readPartial is readFrom of text whose labels may be partial.
func (s source) readPartial(r io.Reader, path string, to **structured.Dataset) error {
	d, err := s.readFrom(r, path, false)
	if err != nil {
		return err
	}
	*to = d
	return text.ReadPartialLabels(d, s.labels)
}

// readFrom is read from r, in a known format; path is for messages. Of a format of folders it reads path, and r is nil.
func (s source) readFrom(r io.Reader, path string, needLabels bool) (*structured.Dataset, error) {
	f := formats.Find(s.format)
	switch {
	case s.localise != nil && f.ReadBoxes != nil:
		o := *s.localise
		o.Boxes, o.Images, o.Unlabeled, o.Threads = s.boxes, s.images, !needLabels, s.threads
		d, err := f.ReadBoxes(path, o)
		if errors.Is(err, localisation.ErrNoClass) {
			err = structured.BadInput("%w (--class)", err)
		}
		return d, err
	case s.localise != nil:
		return nil, structured.BadInput("%s: --format %s has no boxes of objects: --task localise reads coco, voc and npz", path, s.format)
	case f.Read == nil && f.ReadBoxes != nil:
		return nil, structured.BadInput("%s: --format %s has boxes of objects in images: use --task localise", path, s.format)
	case f.Read == nil && f.ReadFolder == nil:
		return nil, structured.BadInput("%s: files are not read with --format %s; use %s", path, s.format, strings.Join(formats.Names(), ", "))
	}
	o := formats.Options{
		Labels: s.labels, OwnLabels: needLabels || s.converts(), Unlabeled: !needLabels, Threads: s.threads, Line: s.line,
		Columns: s.columns, Width: s.width, Field: s.label, Links: s.links,
		Dictionary: s.inputs.Dictionary, MinCount: s.minCount, HashBits: s.hashBits, Dim: s.dim,
		Given: s.config.FormatSettings,
	}
	if s.task.Reading != nil {
		s.task.Reading(&o)
	}
	var d *structured.Dataset
	var err error
	if f.ReadFolder != nil {
		d, err = f.ReadFolder(path, o)
	} else {
		d, err = f.Read(r, path, o)
	}
	if err != nil {
		return nil, err
	}
	if f.Tokens && s.task.Labels && !needLabels {
		s.number(d)
	}
	if f.Columns || s.inputs.Vocab != nil || s.inputs.Own != nil {
		err = s.inputs.Apply(d, s.threads)
	}
	return d, err
}

// converts reports whether tags are to be converted.
func (s source) converts() bool { return s.scheme != "" && s.scheme != "keep" }

// number gives d the labels in its column. If there is no such column, or a label is unknown, d gets none: nobody asked for
// them.
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

// relabel renumbers the labels of d by those of the training data. Unknown labels come after the known ones, in an alphabet of
// d's own; an evaluation counts them as mistakes. Data without any known label are bad input.
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

// filesBeside returns the files that a setting gives beside each of the files of training, development and test data, separated by
// commas; empty where there are none. Each file needs its own, in order; a single folder of images is for all.
func filesBeside(paths [3][]string, name, value string) (files [3][]string, err error) {
	given := formats.Files(value)
	shared := name == "images" && len(given) == 1
	for k, data := range []string{"train", "dev", "test"} {
		files[k] = make([]string, len(paths[k]))
		for i, path := range paths[k] {
			switch {
			case value == "":
				continue
			case shared:
				files[k][i] = given[0]
				continue
			case len(given) == 0 || given[0] == "":
				return files, structured.BadInput("--%s %s: no file for --%s %s; expected one file for each of train, dev and test that is given", name, value, data, path)
			}
			files[k][i], given = given[0], given[1:]
		}
	}
	if len(given) > 0 && !shared {
		return files, structured.BadInput("--%s %s: %s is one file too many; expected one for each of train, dev and test that is given", name, value, given[0])
	}
	return files, nil
}

// readDense reads the dense features of a text.
func (s source) readDense(d *structured.Dataset) error {
	return formats.Open(s.dense, func(r io.Reader) error {
		var err error
		d.Features, d.Dim, err = arrays.ReadFeatures(r, s.dense, d.Offsets, s.dim)
		return err
	})
}
