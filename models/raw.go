package models

import (
	"slices"
	"strconv"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/union"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/inputs/packs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/packed"
	"github.com/dsp-go/dsp/train/engine"
)

// Raw are the data sets of a run as files hold them: labels are numbered, and text is columns. Dev and Test are nil
// where there are none.
type Raw struct {
	Train, Dev, Test *structured.Dataset

	Change  *tasks.Change    // that the task made to the training data, or nil
	Encoded []encoded.Report // on the rows of the encoder

	notation chains.Notation // of the tags of the training data

	own   *structured.Dataset // the examples of the share, with their text, or numbered attributes; nil: Train, of all
	share structured.Share    // of this process and its peers, where own says what it has

	inputs    inputs.Inputs   // of a pack, which has them
	packed    bool            // the training data are a pack
	continued continuedModels // the models that training continues

	teacher *teacher // whose marginals are the targets, or nil

	encoder *encoded.Reader // whose rows the data sets have, or nil
}

// Read reads or draws the data sets that the settings name. Development and test data may have no labels that the
// training data lack.
func (r *Resolved) Read() (*Raw, error) { return r.read(structured.Peers{}) }

// read is Read for a process that takes its share of the training data.
func (r *Resolved) read(peers structured.Peers) (*Raw, error) {
	c, from := &r.config, r.continued
	if err := sameKinds(c, peers); err != nil {
		return nil, err
	}
	dividing := peers
	if c.Encoder != "" || c.Dense != "" && r.teacher != nil { // the rows of all words are much larger than their text
		dividing = structured.Peers{}
	}
	if c.Format == formats.Builtin {
		d, err := drawn(c)
		if err == nil && from.start != nil {
			d.continued = from
			from.relabel(d.Sets()...)
			err = from.continues(d.Train)
		}
		if err == nil {
			d.divide(c, dividing)
		}
		if err == nil && r.teacher != nil {
			err = d.teach(c, r.teacher, nil, nil, peers)
		}
		return d, err
	}
	d := &Raw{continued: from}
	var beside [3][]Beside
	var err error
	task, all := tasks.Of(c), false
	s := sourceOf(c)
	s.Remarks, s.Peers = r.remarks, dividing
	s.onDisk, s.was = r.onDisk, &d.notation
	if _, d.packed = packed.Is(c.Train); d.packed {
		if d.Train, d.inputs, d.notation, err = packs.Open(c); err == nil {
			beside, err = filesOf(c)
		}
		all = true
	} else if task.ReadAll != nil {
		d.Train, d.Dev, d.Test, all, err = task.ReadAll(c, r.remarks)
	}
	if !all {
		if r.teacher != nil && s.textual() {
			s.labels, s.optional = r.teacher.Labels, true
		}
		if beside, err = filesOf(c); err != nil {
			return nil, err
		}
		if s.shared, err = s.sharedTextOf(c.Train, from); err != nil {
			return nil, err
		}
		if err := checkMemory(c, s, from); err != nil {
			return nil, err
		}
		d.Train, err = s.readTraining(c.Train, beside[0], from)
	} else if err == nil && from.start != nil {
		from.relabel(d.Sets()...)
	}
	if err != nil {
		return nil, err
	}
	if d.Train.Labels == nil {
		return nil, structured.BadInput("%s: no labels to train on", c.Train)
	}
	if err := checkLabels(d.Train); err != nil {
		return nil, err
	}
	if r.teacher != nil {
		continuedModels{start: r.teacher}.relabel(d.Sets()...)
	}
	if from.start != nil {
		if d.packed {
			return nil, cannotContinue(c.Train)
		}
		if err := from.continues(d.Train); err != nil {
			return nil, err
		}
	}
	if d.packed && c.TuneEncoder {
		return nil, structured.BadInput("%s, a pack, does not hold the pieces of words, which --tune-encoder reads; train "+
			"on the data that it was made from", c.Train)
	}
	if d.encoder = d.inputs.Encoder; !d.packed {
		if d.encoder, err = encoderOf(c, from); err == nil && d.encoder != nil {
			err = d.encode(c, d.Train, peers)
		}
	}
	if err != nil {
		return nil, err
	}
	if !d.packed {
		if err := d.prepare(c); err != nil {
			return nil, err
		}
	}
	if s.shared != nil {
		if err := s.shared.readOwn(s, d); err != nil {
			return nil, err
		}
	} else {
		d.divide(c, dividing)
	}
	if r.teacher != nil {
		if err := d.teach(c, r.teacher, beside[0], s.shared, peers); err != nil {
			return nil, err
		}
	}
	like := sourceOf(c).like(d.Train)
	like.onDisk, like.Remarks = r.onDisk, r.remarks
	if tasks.Of(c).Labels && d.Train.Labels != nil {
		if like.own = chains.NotationOfData(d.Train); !s.converts() {
			d.notation = like.own
		}
	}
	if d.encoder != nil && d.encoder.Tuned == nil {
		like.dim -= d.encoder.Width()
	}
	for _, more := range []struct {
		path   string
		beside []Beside
		to     **structured.Dataset
	}{{c.Dev, beside[1], &d.Dev}, {c.Test, beside[2], &d.Test}} {
		if more.path == "" {
			continue
		}
		if *more.to, err = like.readFiles(more.path, more.beside); err == nil && d.encoder != nil {
			err = d.encode(c, *more.to, peers)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// divide gives this process its share of the examples, which it has read all, unless their inputs are there already.
func (d *Raw) divide(c *config.Config, peers structured.Peers) {
	if peers.Size() > 1 && !d.packed && d.Train.Attributes == nil {
		d.share = d.shareOf(c, peers)
		d.own = d.share.Of(d.Train)
	}
}

// shareOf returns the share of this process. Which examples these are depends on how many segments they may have, if
// segments have attributes.
func (d *Raw) shareOf(c *config.Config, peers structured.Peers) structured.Share {
	longest := inputs.LongestSegment(c, d.continued.template(), d.Train)
	if longest == 0 {
		return engine.ShareOf(peers, d.Train)
	}
	sized := *d.Train
	sized.SetTable(&structured.Table{Name: segments.Rows, Offsets: segments.Offsets(sized.Offsets, longest)})
	return engine.ShareOf(peers, &sized)
}

// Packed reports whether the training data are a pack.
func (d *Raw) Packed() bool { return d.packed }

// Continues reports whether training continues a model, whose numbers of labels and attributes stay.
func (d *Raw) Continues() bool { return d.continued.start != nil }

// sets returns the data sets that there are, the training data first.
func (d *Raw) Sets() []*structured.Dataset { return present(d.Train, d.Dev, d.Test) }

func present(all ...*structured.Dataset) []*structured.Dataset {
	return slices.DeleteFunc(all, func(set *structured.Dataset) bool { return set == nil })
}

// drawn draws the built-in data of the task; for one that has none, those of the task that format builtin belongs to,
// which models of other tasks refuse as they refuse other data that they cannot read.
func drawn(c *config.Config) (*Raw, error) {
	task := tasks.Of(c)
	if task.Draw == nil {
		task = tasks.ForFormat(formats.Builtin)
	}
	d := &Raw{}
	var err error
	sized := *c
	sized.Examples = tasks.ChooseExamples(c)
	if d.Train, d.Dev, d.Test, err = task.Draw(&sized); err != nil {
		return nil, err
	}
	return d, d.prepare(c)
}

// drawTest draws the test data of the model's training.
func (m *Model) drawTest() (*structured.Dataset, error) {
	c := m.Config
	if draw := tasks.Of(&c).DrawTest; draw != nil {
		c.Examples = tasks.ChooseExamples(&c)
		return draw(&c, m.Inputs)
	}
	d, err := drawn(&c)
	if err != nil {
		return nil, err
	}
	return d.Test, nil
}

// prepare lets the task change the training data.
func (d *Raw) prepare(c *config.Config) error {
	var err error
	if prepare := tasks.Of(c).Prepare; prepare != nil {
		d.Change, err = prepare(c, d.Train)
	}
	return err
}

// sourceOf reads training data.
func sourceOf(c *config.Config) source {
	return source{
		Request: Request{
			Format: c.Format, Columns: c.Columns, Comments: c.Comments, Label: c.Label, Labels: true, Partial: c.Partial,
			Strict:  c.Strict,
			Threads: host.Threads(c.Threads), MaxWords: c.MaxWords,
		},
		reading: reading{config: c, task: tasks.Of(c), localise: tasks.Localise(c), scheme: c.Scheme, minCount: c.MinCount,
			hashBits: c.HashBits},
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

// readTraining reads the training data from one file or several, for a run that may continue a model.
func (s source) readTraining(value string, beside []Beside, from continuedModels) (*structured.Dataset, error) {
	files := formats.Files(value)
	s.hashBits = from.hashBits(s.hashBits)
	if from.start != nil {
		s.plainBrackets = from.start.Labels.Len() > 0 && !chains.EntityTags(from.start.Labels)
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
	tags := func(d *structured.Dataset) bool { return d.Labels != nil && chains.EntityTags(d.Alphabet) }
	if s.task.Labels && !s.plainBrackets && slices.ContainsFunc(sets, tags) {
		for k, d := range sets { // files without entities have no brackets that tell
			d, err := s.matched(d, true)
			if err == nil {
				err = s.readBrackets(d, true)
			}
			if err != nil {
				return nil, err
			}
			sets[k] = d
		}
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
