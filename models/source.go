package models

import (
	"io"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes/localisation"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/host"
	"github.com/dsp-go/dsp/structured/text"
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

// filesOf returns the files that c has beside the training, development and test data.
func filesOf(c *config.Config) (all [3]besides, err error) {
	dense, err := filesBeside(c, "dense", c.Dense)
	if err != nil {
		return all, err
	}
	candidates, err := filesBeside(c, "boxes", c.Boxes)
	if err != nil {
		return all, err
	}
	images := []string{c.Images, c.Images, c.Images} // one folder is for all
	if strings.Contains(c.Images, ",") {
		if images, err = filesBeside(c, "images", c.Images); err != nil {
			return all, err
		}
	}
	links, err := filesBeside(c, "links", c.Links)
	if err != nil {
		return all, err
	}
	masks, err := filesBeside(c, "masks", c.Masks)
	if err != nil {
		return all, err
	}
	for k := range all {
		all[k] = besides{dense[k], candidates[k], images[k], links[k], masks[k]}
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
		return f.ReadBoxes(path, o)
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
