package models

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/structured"
)

// encoderOf returns the encoder of a run: that of the model that it continues, or the one that c names; nil if there is
// none. They have to be the same if there are both.
func encoderOf(c *config.Config, from continuedModels) (*encoded.Reader, error) {
	if c.Encoder == "" && from.start != nil && from.start.Encoder != nil {
		return nil, structured.BadInput("--%s %s: its model reads the rows of an encoder; leave out the empty --encoder", from.setting, from.path)
	}
	if c.Encoder == "" {
		return nil, nil
	}
	s := inputs.EncoderSettings(c)
	if from.start == nil || from.start.Encoder == nil {
		return encoded.Open(s)
	}
	was := from.start.Encoder
	if was.Tuned != nil {
		adapted := was.Tuned.Adapted()
		fewer := s.Tuning == nil || s.Tuning.Frozen > was.Tuned.Frozen // of the weights that it trained are trained
		switch {
		case adapted && (fewer || s.Tuning.Adapter != was.Tuned.Adapter):
			return nil, structured.BadInput("--%s %s: its model has trained adapters; continue with --tune-encoder, --adapter %v and --freeze-layers %d", from.setting, from.path, was.Tuned.Adapter, was.Tuned.Frozen)
		case adapted: // whose encoder is as it was
		case !fewer && s.Tuning.Adapter.Rank == 0: // they are weights of the network
		case from.start.Unfinished > 0:
			return nil, structured.BadInput("--%s %s: its run is not finished, so that its trained weights of the encoder cannot stay as they are; dsp train --resume finishes it", from.setting, from.path)
		case was.ByReference:
			return nil, structured.BadInput("--%s %s: its model refers to the encoder's folder, which lacks the trained weights of layers that are to stay as they are; freeze no more layers than it did, and leave out --adapter", from.setting, from.path)
		}
		if s.ByReference && !was.ByReference && !adapted {
			return nil, structured.BadInput("--encoder-by-reference: the model of --%s %s has trained weights of the encoder, which the folder lacks; leave it out", from.setting, from.path)
		}
	}
	given := s
	given.ByReference, given.Tuning = was.ByReference, was.Tuning
	if refers := s.ByReference && !was.ByReference; given == was.Settings && !refers { // a folder that is referred to has to have that encoder
		return encoded.New(s, was.Encoder, was.Tokenizer)
	}
	r, err := encoded.Open(s)
	if err == nil && r.ID() != was.ID() {
		err = structured.BadInput("--encoder %s (layers %s, %s pieces) gives other rows than the encoder of the model of --%s %s, whose weights belong to its own; leave --encoder out",
			s.Dir, s.Layers, s.Pieces, from.setting, from.path)
	}
	return r, err
}

// RecordedEncoder returns where the folder of an encoder is, of which a model says the name: what the configuration of
// the run says beside whose model or checkpoint the model lies, or else the name.
func RecordedEncoder(name, beside string) string {
	if name == "" || name != filepath.Base(name) {
		return name
	}
	for _, folder := range []string{beside, filepath.Join(beside, "..")} {
		c, err := config.ReadConfig(filepath.Join(folder, ConfigFile))
		if err == nil && filepath.Base(c.Encoder) == name {
			return c.Encoder
		}
	}
	return name
}

// rowsFolder is the folder with files of rows beside that of a run.
const rowsFolder = "rows"

// RowsFolder returns the folder with files of rows that c says; empty: they are kept in memory.
func RowsFolder(c *config.Config) string {
	switch {
	case c.EncoderCache == "none":
		return ""
	case c.EncoderCache != "":
		return c.EncoderCache
	case c.Out != "":
		return filepath.Join(filepath.Dir(filepath.Clean(c.Out)), rowsFolder)
	}
	return filepath.Join("runs", rowsFolder)
}

// encode gives the words of a data set their rows, which peers compute together.
func (d *Raw) encode(c *config.Config, set *structured.Dataset, peers structured.Peers) error {
	o := encoded.Options{Threads: c.Threads, Folder: RowsFolder(c), Peers: peers}
	if !c.Quiet {
		o.Console = os.Stderr
	}
	report, err := d.encoder.Apply(set, o)
	d.Encoded = append(d.Encoded, report)
	return err
}

// pretrained returns the weights towards which the weights of an encoder that is trained are regularised, which are
// those that it came with, and zeros for all others; nil for a model without such an encoder.
func (m *Model) pretrained() []float32 {
	if !m.TunesEncoder() {
		return nil
	}
	w := slices.Clone(m.W)
	clear(w[:len(w)-m.Encoder.Tuned.Dim()])
	return w
}
