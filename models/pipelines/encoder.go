package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// encoderFolder is the encoder inside a pipeline's folder. The models of the stages refer to it, and share the rows
// that it gives words.
const encoderFolder = "encoder"

// manifestEncoder says which rows of the encoder the stages read.
type manifestEncoder struct {
	ID     string `json:"id"` // encoded.Reader.ID
	Layers string `json:"layers"`
	Pieces string `json:"pieces"`
	Rows   string `json:"rows"`

	Precision string `json:"precision,omitempty"` // empty: float32

	Reference string `json:"reference,omitempty"` // the encoder's folder; empty: it is in encoderFolder
}

// open opens the encoder in the folder of a pipeline, or the one that it refers to, of which another folder may be
// given.
func (m *manifestEncoder) open(dir, given string) (*encoded.Reader, error) {
	c := config.Default()
	c.Encoder, c.EncoderByReference = filepath.Join(dir, encoderFolder), true
	if m.Reference != "" {
		var err error
		if c.Encoder, err = (encoded.Source{Folder: given, Beside: dir}).Find(
			models.RecordedEncoder(m.Reference, dir)); err != nil {
			return nil, err
		}
	}
	c.EncoderLayers, c.Pieces, c.EncoderRows, c.EncoderPrecision = m.Layers, m.Pieces, m.Rows, m.Precision
	r, err := encoded.Open(inputs.EncoderSettings(&c))
	if err == nil && r.ID() != m.ID {
		err = structured.BadInput("%s is not the encoder that the pipeline was trained with; the "+
			"stages learned from that one", c.Encoder)
	}
	return r, err
}

// rowsOf gives the words of sentences their rows.
func rowsOf(r *encoded.Reader, sentences []conllu.Sentence, name string,
	o encoded.Options) (*structured.Dataset, encoded.Report, error) {
	d := wordTable(sentences).dataset(name)
	report, err := r.Apply(d, o)
	return d, report, err
}

// giveRows gives d the rows of another data set with the same words; nil has none to give.
func giveRows(d, rows *structured.Dataset) {
	if rows != nil {
		d.Features, d.Source, d.Dim, d.Encoder = rows.Features, rows.Source, rows.Dim, rows.Encoder
	}
}

// openEncoder opens the encoder that the settings name. A run that is resumed has its own, and refuses another one.
func (t *trainer) openEncoder() error {
	c := &t.config
	if c.Encoder == "" {
		return nil
	}
	s := inputs.EncoderSettings(c)
	s.ByReference = true
	if c.Resume != "" {
		was, err := training.ReadRun(t.dir)
		if err != nil {
			return err
		}
		switch {
		case c.Encoder != was.Encoder:
		case c.EncoderByReference:
			if s.Dir, err = (encoded.Source{Beside: t.dir}).Find(was.Encoder); err != nil {
				return err
			}
		default: // the folder may have moved since
			s.Dir = filepath.Join(t.dir, encoderFolder)
		}
	}
	var err error
	if t.encoder, err = encoded.Open(s); err == nil {
		t.progress.Encoder = t.encoder.ID()
	}
	return err
}

// ownEncoder has the run read the encoder in its folder, which is put there if the run begins; or the one that it
// refers to.
func (t *trainer) ownEncoder(begins bool) (err error) {
	if t.encoder == nil {
		return nil
	}
	from := filepath.Join(t.dir, encoderFolder)
	switch {
	case t.config.EncoderByReference:
		from, err = filepath.Abs(t.encoder.Dir)
	case begins:
		err = encoded.Copy(t.encoder.Dir, from)
	}
	t.encoder.Dir, t.config.Encoder = from, from
	return err
}

// rowsFolder is the folder with files of rows. Those of a run that keeps none are in its own folder while it trains.
func (t *trainer) rowsFolder() string {
	if folder := models.RowsFolder(&t.config); folder != "" {
		return folder
	}
	return filepath.Join(t.dir, "rows")
}

// encode gives the words of the treebank their rows, for all stages.
func (t *trainer) encode(ctx context.Context) error {
	if t.encoder == nil {
		return nil
	}
	o := encoded.Options{Threads: t.config.Threads, Folder: t.rowsFolder()}
	if !t.config.Quiet {
		o.Console = os.Stderr
	}
	for _, data := range []struct {
		sentences []conllu.Sentence
		name      string
		to        **structured.Dataset
	}{{t.gold, t.config.Train, &t.rows}, {t.dev, t.config.Dev, &t.rowsDev}} {
		if data.sentences == nil {
			continue
		}
		_, err := host.Await(ctx, func() (_ struct{}, err error) {
			var report encoded.Report
			if *data.to, report, err = rowsOf(t.encoder, data.sentences, data.name, o); err == nil {
				t.options.Log.Info("rows of the encoder", "data", data.name, "words", report.Words, "file", report.File, "seconds",
					fmt.Sprintf("%.1f", report.Took.Seconds()))
			}
			return struct{}{}, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetRows removes the files of rows that are not to be kept.
func (t *trainer) forgetRows() error {
	if t.encoder == nil || models.RowsFolder(&t.config) != "" {
		return nil
	}
	return os.RemoveAll(t.rowsFolder())
}

// readRows has a stage read the rows of the encoder.
func (t *trainer) readRows(c *config.Config) {
	c.Encoder, c.EncoderByReference, c.EncoderCache = t.config.Encoder, true, t.rowsFolder()
	c.EncoderLayers, c.Pieces, c.EncoderRows = t.config.EncoderLayers, t.config.Pieces, t.config.EncoderRows
	c.EncoderPrecision = t.config.EncoderPrecision
}

// keepRows puts the rows of some sentences of the treebank, those of a fold, where trainings on them find them, until
// forgetFolds.
func (t *trainer) keepRows(sentences []int) error {
	file, err := t.encoder.Keep(t.rows, sentences, t.rowsFolder())
	if err == nil && !slices.Contains(t.foldRows, file) {
		t.foldRows = append(t.foldRows, file)
	}
	return err
}

// forgetFolds removes the files that keepRows wrote. Another run may have the same sentences, and have removed them
// sooner.
func (t *trainer) forgetFolds() error {
	var failed error
	for _, file := range t.foldRows {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
