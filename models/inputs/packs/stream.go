package packs

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/packed"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// stream packs text that comes in blocks. It numbers labels and attributes as they come.
type stream struct {
	ctx     context.Context // of the one call that streams
	c       *config.Config
	builder *packed.Builder
	in      inputs.Inputs

	columns   []string
	labels    *structured.Alphabet
	extractor *features.Extractor    // of templates, nil before the first block
	all       *structured.Dictionary // of all attributes that have come
	counts    [2][]int32             // how often each of positions and of steps occurs, if a minimum is set
	foreign   text.NotUTF8
	survey    *text.Survey // of the file, or nil
}

// choose chooses the template. Where the settings leave it to the labels, it reads the file for these.
func (s *stream) choose(say *remarks.Remarks) error {
	if !formats.Find(s.c.Format).Columns {
		return nil
	}
	probe := &structured.Dataset{Name: s.c.Train, Alphabet: structured.NewAlphabet()}
	if s.c.Template == "" && s.c.Features == "auto" {
		labels := structured.NewAlphabet()
		err := s.read(say, func(d *structured.Dataset) error {
			probe.ColumnNames = d.ColumnNames
			for _, name := range d.Alphabet.Names() {
				labels.Intern(name)
			}
			return nil
		})
		if err != nil {
			return err
		}
		probe.Alphabet = labels
	}
	var err error
	s.in.Template, s.in.Features, err = inputs.Template(s.c, probe)
	return err
}

// firstWith returns the place of the first label l.
func firstWith(d *structured.Dataset, l int32) string {
	for i := range d.Len() {
		if t := slices.Index(d.Gold(i), l); t >= 0 {
			return d.WhereToken(i, t)
		}
	}
	return d.Name
}

// add appends the sequences of a block.
func (s *stream) add(d *structured.Dataset) error {
	number := make([]int32, d.Alphabet.Len())
	for l, name := range d.Alphabet.Names() {
		if !utf8.ValidString(name) {
			return text.NotUTF8Label(firstWith(d, int32(l)), name)
		}
		number[l] = s.labels.Intern(name)
	}
	for t, l := range d.Labels {
		d.Labels[t] = number[l]
	}
	s.columns = d.ColumnNames
	s.foreign.Add(d)
	if err := s.attributes(d); err != nil {
		return err
	}
	if s.c.MinCount > 1 {
		s.counts[0] = count(s.counts[0], d.Attributes)
		s.counts[1] = count(s.counts[1], d.EdgeAttributes)
	}
	return s.builder.Add(d)
}

// attributes gives the sequences of a block attributes with common numbers.
func (s *stream) attributes(d *structured.Dataset) error {
	if s.in.Template != nil {
		if s.extractor == nil {
			var err error
			if s.extractor, err = s.in.Template.Grow(d,
				templates.Options{MinCount: max(1, s.c.MinCount), HashBits: s.c.HashBits}); err != nil {
				return err
			}
		}
		if err := s.extractor.Extract(d); err != nil {
			return err
		}
		s.all = d.Dictionary
		return nil
	}
	own := d.Dictionary
	if s.all == nil {
		s.all = &structured.Dictionary{HashBits: own.HashBits}
		if own.Node != nil {
			s.all.Node = structured.NewAlphabet()
		}
	}
	if own.Node == nil {
		return nil
	}
	number := make([]int32, own.Node.Len())
	for a, name := range own.Node.Names() {
		number[a] = s.all.Node.Intern(name)
	}
	d.Attributes.Renumber(number)
	return nil
}

// count adds the attributes of some rows to their counts.
func count(counts []int32, x *structured.Sparse) []int32 {
	if x == nil {
		return counts
	}
	for _, a := range x.Index {
		for int(a) >= len(counts) {
			counts = append(counts, 0)
		}
		counts[a] += min(1, 1<<30-counts[a])
	}
	return counts
}

// finish gives labels and attributes their final numbers.
func (s *stream) finish(f *safetensors.File) error {
	sorted := slices.Sorted(slices.Values(s.labels.Names()))
	numbers := packed.Numbers{Labels: make([]int32, len(sorted))}
	for l, name := range sorted {
		numbers.Labels[s.labels.Index(name)] = int32(l)
	}
	d := &structured.Dictionary{HashBits: s.all.HashBits, Node: s.all.Node}
	if s.all.HashBits == 0 && s.all.Node == nil {
		d.Node = structured.NewAlphabet()
	}
	if s.all.Edge != nil && s.builder.Steps() {
		d.Edge = s.all.Edge
	}
	if s.c.MinCount > 1 {
		d.Node, numbers.Nodes = frequent(d.Node, s.counts[0], s.c.MinCount)
		d.Edge, numbers.Edges = frequent(d.Edge, s.counts[1], s.c.MinCount)
	}
	s.in.Dictionary = d
	return s.builder.Finish(f, config.FileNames(s.c.Train), s.columns, sorted, numbers)
}

// frequent returns the names that occur at least so often, and the new number of every old one, −1 if it is left out;
// nil for nil.
func frequent(names *structured.Alphabet, counts []int32, least int) (*structured.Alphabet, []int32) {
	if names == nil {
		return nil, nil
	}
	kept, number := structured.NewAlphabet(), make([]int32, names.Len())
	for a, name := range names.Names() {
		number[a] = -1
		if a < len(counts) && int(counts[a]) >= least {
			number[a] = kept.Add(name)
		}
	}
	return kept, number
}
