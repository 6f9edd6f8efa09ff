package cli

import (
	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/structured"
)

// encoderFolder is where the encoder is of models that refer to one (train --encoder-by-reference).
type encoderFolder struct {
	path   string // empty: where the model's run says, or beside the model
	used   bool   // a model that was read refers to an encoder
	others bool   // other models are read after the first, which may; the last one checks
}

func (e *encoderFolder) addFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&e.path, "encoder", "", encoderHelp)
}

// encoderHelp is the help of --encoder.
const encoderHelp = "`DIR` of the encoder, or with it inside, of models that keep only its name; empty: where the run had it, or beside the model"

func (e *encoderFolder) source() encoded.Source { return encoded.Source{Folder: e.path} }

// read reads a model.
func (e *encoderFolder) read(path string) (*models.Model, error) {
	m, err := models.LoadWith(path, e.source())
	if err == nil {
		e.sees(m)
	}
	return m, err
}

// sees notes whether a model that was read refers to an encoder.
func (e *encoderFolder) sees(m *models.Model) {
	if m.Encoder != nil && m.Encoder.ByReference {
		e.used = true
	}
}

// load reads the only model.
func (e *encoderFolder) load(path string) (*models.Model, error) {
	m, err := e.read(path)
	if err != nil {
		return nil, err
	}
	return m, e.check(path)
}

// check refuses a folder that no model needs.
func (e *encoderFolder) check(path string) error {
	if e.path != "" && !e.used && !e.others {
		return structured.BadInput("--encoder %s has no effect: %s refers to no encoder (train --encoder-by-reference)", e.path, path)
	}
	return nil
}

// loadPipeline reads a pipeline.
func (e *encoderFolder) loadPipeline(path string) (*pipelines.Pipeline, error) {
	p, err := pipelines.Load(path, e.path)
	if err != nil {
		return nil, err
	}
	e.used = p.Refers()
	return p, e.check(path)
}
