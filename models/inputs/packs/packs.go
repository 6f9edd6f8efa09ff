// Package packs writes training data with their inputs to packs (structured/sys/packed), which training maps instead of
// reading text: labels and attributes are numbered already, and the settings that they were read with are kept beside
// them.
package packs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/packed"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// featureSet is the metadata entry that names the set of features.
const featureSet = "features"

// notationKey is the metadata entry of the notation that tags had before they were converted.
const notationKey = "notation"

// Summary is what a pack holds.
type Summary struct {
	Examples  int `json:"examples"`
	Positions int `json:"positions"`
	Labels    int `json:"labels"`
	inputs.Counts

	NotUTF8 text.NotUTF8 `json:"-"`
}

// Write writes data with the inputs that were fitted to them, as c says; c is resolved.
func Write(path string, c *config.Config, d *structured.Dataset, in inputs.Inputs,
	notation chains.Notation) (Summary, error) {
	s := Summary{Examples: d.Len(), Positions: d.Positions()}
	if d.Source != nil && (in.WordRows != nil || in.Encoder != nil) {
		if err := host.CheckMemory(fmt.Sprintf("packing %d dense inputs of %d words", d.Dim, d.Positions()),
			4*float64(d.Positions()*d.Dim)); err != nil {
			return s, err
		}
		with := *d
		with.Source, with.Features = nil, make([]float32, d.Positions()*d.Dim)
		if err := d.Source.Read(with.Features, 0, d.Positions()); err != nil {
			return s, err
		}
		d = &with
	}
	if d.TaskData != nil || d.Source != nil {
		return s, structured.BadInput("--task %s cannot be packed: images and boxes are files of their own; dsp train "+
			"--stream reads the features of boxes whenever they are needed", c.Task)
	}
	named := *d
	named.Name = config.FileNames(d.Name) // who gets a pack learns no folders of who made it
	f := &safetensors.File{}
	if err := packed.Add(f, &named); err != nil {
		return s, err
	}
	in.Dictionary = d.Dictionary
	if d.Vocab != nil {
		in.Vocab = d.Vocab
	}
	if d.Characters != nil {
		in.Characters = d.Characters.Vocab
	}
	if d.Alphabet != nil {
		s.Labels = d.Alphabet.Len()
	}
	s.Counts = in.AttributeCounts()
	s.NotUTF8.Add(d)
	return s, write(path, c, f, in, notation)
}

// write adds the settings and the inputs to a file with data, and writes it.
func write(path string, c *config.Config, f *safetensors.File, in inputs.Inputs, notation chains.Notation) error {
	if in.Template != nil && in.Template.HasWhole() && c.MaxLength == 0 {
		with := *c
		with.MaxLength = in.Template.Longest // which the rows of segments depend on
		c = &with
	}
	if err := in.Save(f); err != nil {
		return err
	}
	values := map[string]any{tasks.PackedConfig: c.ForModel().WithNames(), featureSet: in.Features}
	if c.Scheme != "keep" && notation.Scheme != "" {
		values[notationKey] = notation
	}
	texts, err := safetensors.JSONMetadata(values)
	if err != nil {
		return err
	}
	maps.Copy(f.Metadata, texts)
	return packed.Write(path, f)
}

// Open maps the pack c.Train, which tasks.Resolve took the settings of c from. The notation is that of tags before they
// were converted; it has no scheme where they were not.
func Open(c *config.Config) (*structured.Dataset, inputs.Inputs, chains.Notation, error) {
	f, err := packed.Open(c.Train)
	if err != nil {
		return nil, inputs.Inputs{}, chains.Notation{}, err
	}
	d, in, notation, err := open(f, c)
	if err != nil && !structured.IsBadInput(err) {
		err = structured.BadInput("%s: %w", c.Train, err)
	}
	return d, in, notation, err
}

func open(f *packed.File,
	c *config.Config) (d *structured.Dataset, in inputs.Inputs, notation chains.Notation, err error) {
	small, err := f.Copied(inputs.IsTensor)
	if err != nil {
		return nil, in, notation, err
	}
	how := tasks.Of(c).Loading(c)
	how.From.Beside = filepath.Dir(c.Train)
	if in, _, err = inputs.Load(small, how); err != nil {
		return nil, in, notation, err
	}
	if err := json.Unmarshal([]byte(f.Metadata[featureSet]), &in.Features); err != nil {
		return nil, in, notation, structured.BadInput("%s: metadata %q: %w", c.Train, featureSet, err)
	}
	if text, ok := f.Metadata[notationKey]; ok {
		if err := json.Unmarshal([]byte(text), &notation); err != nil {
			return nil, in, notation, structured.BadInput("%s: metadata %q: %w", c.Train, notationKey, err)
		}
	}
	if d, err = f.Dataset(); err != nil {
		return nil, in, notation, err
	}
	d.Dictionary = in.Dictionary
	if in.Encoder != nil {
		d.Encoder = in.Encoder.ID()
	}
	if d.Ids != nil {
		d.Vocab = in.Vocab
	}
	if d.Characters != nil {
		if in.Characters == nil {
			return nil, in, notation, structured.BadInput("%s: characters without a vocabulary", c.Train)
		}
		d.Characters.Vocab = in.Characters
	}
	if err := check(d, in, c.Task); err != nil {
		return nil, in, notation, err
	}
	return d, in, notation, f.Check(d)
}

// Streams reports whether Stream packs such data: text with a token per line, whose inputs are attributes, numbered as
// they come.
func Streams(c *config.Config) bool {
	f := formats.Find(c.Format)
	plain := c.Scheme == "keep" && !c.Partial && c.Dense == "" && c.Vectors == "" && c.Encoder == "" &&
		len(formats.Files(c.Train)) == 1 && host.Rereads(c.Train)
	if !f.Tokens || !tasks.Of(c).Labels || !plain {
		return false
	}
	attributes := c.Preset().Linear || c.Net == "auto" && c.Features != "none"
	return f.Numbered || f.Columns && attributes
}

// ErrBrackets is returned by Stream for labels that are brackets, which only readers of whole files make tags of.
var ErrBrackets = errors.New("labels are brackets")

// Stream reads the training data of c, which is resolved, piece by piece, and packs them; the memory that it needs is
// that of the dictionary and of some pieces. The pack is that of Write, to the byte. Reading stops when ctx ends; say
// gets what there is to say of examples.
func Stream(ctx context.Context, path string, c *config.Config, say *remarks.Remarks) (Summary, error) {
	s := stream{ctx: ctx, c: c, labels: structured.NewAlphabet()}
	var err error
	if look := formats.Find(c.Format).LookThrough; look != nil {
		if s.survey, err = look(func() (io.ReadCloser, error) { return host.Open(c.Train) }, c.Train,
			optionsOf(c)); err != nil {
			return Summary{}, err
		}
	}
	if s.builder, err = packed.NewBuilder(path); err != nil {
		return Summary{}, err
	}
	defer s.builder.Close()
	if err := s.choose(say.Apart()); err != nil {
		return Summary{}, err
	}
	if err := s.read(say, s.add); err != nil {
		return Summary{}, err
	}
	if bad := say.Reasons(); s.builder.Examples == 0 && len(bad) > 0 {
		return Summary{}, remarks.AllBad(c.Train, bad[0])
	}
	if chains.Bracketed(s.labels.Names()) {
		return Summary{}, ErrBrackets
	}
	f := &safetensors.File{}
	if err := s.finish(f); err != nil {
		return Summary{}, err
	}
	sum := Summary{Examples: s.builder.Examples, Positions: s.builder.Positions,
		Labels: s.labels.Len(), NotUTF8: s.foreign}
	sum.Counts = s.in.AttributeCounts()
	return sum, write(path, c, f, s.in, chains.Notation{}) // it converts no tags
}

// optionsOf says how the training data are read.
func optionsOf(c *config.Config) formats.Options {
	return formats.Options{
		Threads: host.Threads(c.Threads), Columns: c.Columns, Comments: c.Comments, Field: c.Label, MinCount: 1,
		HashBits: c.HashBits, Given: c.FormatSettings,
	}
}

// read reads the training data block by block.
func (s *stream) read(say *remarks.Remarks, each func(d *structured.Dataset) error) error {
	c, f := s.c, formats.Find(s.c.Format)
	block := func(d *structured.Dataset) error {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		task := tasks.Of(c)
		d, err := say.KeepPart(d, func(i int) error { return task.CheckWords(d, []int{i}, c.MaxWords) })
		if err != nil || d.Len() == 0 {
			return err
		}
		return each(d)
	}
	o := optionsOf(c)
	o.Each, o.Survey, o.Remarks = block, s.survey, say
	file, err := host.Open(c.Train)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = f.Read(file, c.Train, o)
	return err
}
