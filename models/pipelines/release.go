package pipelines

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/structured"
)

// Release writes a pipeline for others to a folder that is not there yet: its stages, released, the encoder if it is in
// the pipeline's folder, and nothing else, such as tables of the training text. It predicts the same. path is where the
// pipeline was loaded from. What became of the stages is returned by their names; their models must not be used again.
func (p *Pipeline) Release(path, to string) (map[string]models.Released, error) {
	m, folder, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	switch _, err := os.Lstat(to); {
	case err == nil:
		return nil, structured.BadInput("%s: it is there already; a pipeline is released to a new folder", to)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, structured.BadInput("%w", err)
	}
	all, err := p.release(m, folder, to)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(to))
	}
	return all, nil
}

// release writes the pipeline of a list of stages in a folder to another one.
func (p *Pipeline) release(m manifest, folder, to string) (map[string]models.Released, error) {
	all := map[string]models.Released{}
	for k := range m.Stages {
		s := &m.Stages[k]
		if s.Model == "" {
			continue
		}
		var err error
		if all[s.Name], err = p.releaseStage(s, to); err != nil {
			return nil, fmt.Errorf("stage %s: %w", s.Name, err)
		}
	}
	if e := m.Encoder; e != nil && e.Reference == "" {
		if err := encoded.Copy(filepath.Join(folder, encoderFolder), filepath.Join(to, encoderFolder)); err != nil {
			return nil, err
		}
	}
	m.Fingerprint = m.fingerprint()
	return all, writeJSON(filepath.Join(to, listFile), m)
}

// releaseStage writes the model of a stage.
func (p *Pipeline) releaseStage(s *manifestStage, to string) (models.Released, error) {
	m := p.Model(s.Name)
	r, err := m.Release()
	if err != nil {
		return r, err
	}
	s.Model, s.Weights = filepath.Join(s.Name, models.ModelFile), hashWeights(m)
	file := filepath.Join(to, s.Model)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return r, err
	}
	if err := m.Save(file); err != nil {
		return r, err
	}
	s.SHA256, err = hashFile(file)
	return r, err
}
