package pipelines

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
)

// The files of a pipeline's folder beside those of its stages.
const (
	listFile     = models.PipelineFile // the stages of a finished pipeline
	progressFile = "progress.json"     // what was trained so far, and on what
	configFile   = "config.yaml"
)

// mostJSON is the size of the largest list of stages, or of what was trained so far, in bytes.
const mostJSON = 16 << 20

// manifest is what listFile holds.
type manifest struct {
	Task        string `json:"task"`
	Version     string `json:"dsp"`
	Fingerprint string `json:"fingerprint"`

	Encoder *manifestEncoder `json:"encoder,omitempty"` // in encoderFolder
	Stages  []manifestStage  `json:"stages"`

	// forms, in lower case, of tokens that may be of several words: the stage words decides
	Several []string `json:"several,omitempty"`
}

// manifestStage is a stage: a model, or the only label that the treebank had. The hash of the file, which names the
// files that the model was trained on, is not the same wherever the pipeline is trained; that of labels and weights is.
type manifestStage struct {
	Name     string `json:"name"`
	Model    string `json:"model,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
	Weights  string `json:"weights,omitempty"`
	Constant string `json:"constant,omitempty"`
}

// Is reports whether a path is the folder of a pipeline, finished or not, or its list of stages.
func Is(path string) bool {
	for _, file := range []string{path, filepath.Join(path, listFile), filepath.Join(path, progressFile)} {
		if base := filepath.Base(file); base != listFile && base != progressFile {
			continue
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// File returns the file that changes whenever the pipeline at path does.
func File(path string) string {
	if filepath.Base(path) == listFile {
		return path
	}
	return filepath.Join(path, listFile)
}

// Load reads a pipeline: its folder, or the list in it. A stage whose model is not the one that the pipeline was
// trained with is bad input, because the stages behind it learned from that one. encoder is the folder of its encoder
// if it refers to one; empty: where its run says, or beside it.
func Load(path, encoder string) (*Pipeline, error) {
	m, path, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	p := &Pipeline{Version: m.Version, Fingerprint: m.Fingerprint, stages: map[string]*part{}, several: map[string]bool{}}
	for _, form := range m.Several {
		p.several[form] = true
	}
	if m.Encoder != nil {
		p.refers = m.Encoder.Reference != ""
		if p.encoder, err = m.Encoder.open(path, encoder); err != nil {
			return nil, err
		}
	}
	for _, s := range m.Stages {
		if p.stages[s.Name], err = loadStage(path, s, p.encoder); err != nil {
			return nil, err
		}
	}
	return p, p.check(File(path))
}

// readManifest reads the list of stages in the folder of a pipeline, which path is or the list in it, and returns the
// folder.
func readManifest(path string) (m manifest, folder string, err error) {
	name := File(path)
	path = filepath.Dir(name)
	text, err := host.ReadRegular(name, mostJSON)
	if errors.Is(err, fs.ErrNotExist) {
		if _, begun := os.Stat(filepath.Join(path, progressFile)); begun == nil {
			return m, "", structured.BadInput("%s: the pipeline is not finished; dsp train --resume %s continues it", path, path)
		}
	}
	if err != nil {
		return m, "", structured.BadInput("pipeline: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, "", structured.BadInput("%s: %w", name, err)
	}
	if m.Fingerprint != m.fingerprint() {
		return m, "", structured.BadInput("%s: its fingerprint is not that of its stages; the file was changed", name)
	}
	return m, path, nil
}

// check refuses lists of stages that do not make a pipeline.
func (p *Pipeline) check(name string) error {
	if p.stages[treesStage] != nil && p.stages[treesStage].model == nil {
		return structured.BadInput("%s: stage %s has no model", name, treesStage)
	}
	if len(p.Stages()) != len(p.stages) || len(p.stages) == 0 {
		return structured.BadInput("%s: expected some of the stages %s", name, list(stageNames()))
	}
	return nil
}

func loadStage(dir string, s manifestStage, e *encoded.Reader) (*part, error) {
	if s.Model == "" {
		return &part{constant: s.Constant}, nil
	}
	if !filepath.IsLocal(s.Model) {
		return nil, structured.BadInput("%s: stage %s has the model %q, expected a file inside the folder",
			filepath.Join(dir, listFile), s.Name, s.Model)
	}
	path := filepath.Join(dir, s.Model)
	hash, err := hashFile(path)
	switch {
	case err != nil:
		return nil, structured.BadInput("stage %s: %w", s.Name, err)
	case hash != s.SHA256:
		return nil, structured.BadInput("stage %s: %s is not the model that the pipeline was trained with; the stages "+
			"behind it learned from that one", s.Name, path)
	}
	m, err := models.LoadWith(path, encoded.Source{Reader: e})
	if err != nil {
		return nil, err
	}
	return &part{model: m}, nil
}

// fingerprint identifies the stages, and the encoder.
func (m *manifest) fingerprint() string {
	h := sha256.New()
	if m.Encoder != nil {
		h.Write([]byte(m.Encoder.ID))
	}
	for _, s := range m.Stages {
		for _, text := range []string{s.Name, s.Weights, s.Constant} {
			h.Write([]byte(text))
			h.Write([]byte{0})
		}
	}
	for _, form := range m.Several {
		h.Write([]byte(form))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashWeights identifies the labels and the weights of a model.
func hashWeights(m *models.Model) string {
	h := sha256.New()
	for _, name := range m.Labels.Names() {
		h.Write([]byte(name))
		h.Write([]byte{0})
	}
	h.Write([]byte(train.FingerprintOf(m.W)))
	return hex.EncodeToString(h.Sum(nil))
}

// hashFile returns the SHA-256 of a file.
func hashFile(path string) (string, error) {
	f, err := host.OpenRegular(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

// writeJSON writes a file of JSON.
func writeJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return host.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}
