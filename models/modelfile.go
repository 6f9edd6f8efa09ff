package models

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/arrays/safetensors"
)

// modelFormat is the version of the layout of model files. Other versions are refused.
const modelFormat = "1"

// ModelFile is the name of the model in a run folder.
const ModelFile = "model.safetensors"

// Save writes the model to a safetensors file, whole or not at all: a tensor for each parameter of the network, the names
// of attributes where they have some, lists and vectors of words, and in the metadata format, version, template (text), config, labels,
// vocab, characters, dim, width, hash_bits, map, grid, edges, class_id and temperature (as JSON). The same model gives the same bytes.
func (m *Model) Save(path string) error {
	f := m.weights()
	if err := m.Inputs.Save(f); err != nil {
		return err
	}
	values := map[string]any{
		"config": m.Config.ForModel(),
		"labels": m.Labels.Names(),
		"dim":    m.Dim,
		"width":  m.Width,
	}
	if m.ClassID != 0 {
		values["class_id"] = m.ClassID
	}
	if m.Temperature != 0 {
		values[temperatureKey] = m.Temperature
	}
	texts, err := safetensors.JSONMetadata(values)
	if err != nil {
		return err
	}
	maps.Copy(f.Metadata, texts)
	f.Metadata["format"] = "dsp model " + modelFormat
	f.Metadata["version"] = m.Version
	return safetensors.Write(path, f)
}

// Tensors returns the parameters of the network and the names of attributes as the tensors of a file.
func (m *Model) Tensors() (*safetensors.File, error) {
	f := m.weights()
	if v := m.Vectors; v != nil {
		safetensors.Add(f, inputs.VectorsTensor, v.Rows, len(v.Rows)/v.Dim, v.Dim)
	}
	return f, inputs.AddDictionary(f, m.Dictionary)
}

// weights returns the parameters of the network as the tensors of a file.
func (m *Model) weights() *safetensors.File {
	f := &safetensors.File{}
	for _, a := range m.Net.Layout() {
		safetensors.Add(f, a.Name, a.Of(m.W), a.Shape...)
	}
	return f
}

// FileOf returns the model file that a path names: itself, or the one inside a run folder.
func FileOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return path, nil
	}
	inside := filepath.Join(path, ModelFile)
	if _, err := os.Stat(inside); err != nil {
		return "", structured.BadInput("%s: no %s in this folder; expected a model file or the folder of a finished run", path, ModelFile)
	}
	return inside, nil
}

// Load reads a model from the file that Save wrote, or from the run folder that holds it.
func Load(path string) (*Model, error) {
	path, err := FileOf(path)
	if err != nil {
		return nil, err
	}
	f, err := safetensors.Read(path)
	if err != nil {
		return nil, err
	}
	switch format := f.Metadata["format"]; {
	case format == "":
		return nil, structured.BadInput("%s: a safetensors file, but not a model of dsp", path)
	case format != "dsp model "+modelFormat:
		return nil, structured.BadInput("%s: format %q, written by dsp %s; this one reads \"dsp model %s\"", path, format,
			f.Metadata["version"], modelFormat)
	}
	m, err := decodeModel(f)
	if err != nil {
		return nil, structured.BadInput("%s: %w", path, err)
	}
	return m, nil
}

// decodeModel makes the model that a file of our format describes.
func decodeModel(f *safetensors.File) (*Model, error) {
	m := &Model{Version: f.Metadata["version"], Config: config.Default()} // settings newer than the file have their defaults
	var labels []string
	for name, value := range map[string]any{"config": &m.Config, "labels": &labels, "dim": &m.Dim, "width": &m.Width,
		"class_id": &m.ClassID, temperatureKey: &m.Temperature} {
		text, ok := f.Metadata[name]
		if !ok && slices.Contains([]string{"class_id", temperatureKey}, name) {
			continue
		}
		if err := json.Unmarshal([]byte(text), value); err != nil {
			return nil, fmt.Errorf("metadata %q is not what a model has there: %w", name, err)
		}
	}
	task := tasks.Of(&m.Config)
	var names int
	var err error
	if m.Inputs, names, err = inputs.Load(f, task.Loading(&m.Config)); err != nil {
		return nil, err
	}
	if m.Dim > 0 && len(m.Vocab) == 0 {
		m.Config.MinCount = 0 // older files say 2 for every net
	}
	if m.Map.Len() != 0 && m.Map.Len() != m.Dim {
		return nil, fmt.Errorf("metadata: maps of %v and a grid of %v do not go with %d features", m.Map, m.Grid, m.Dim)
	}
	if t := m.Temperature; t != 0 && !(t >= 1e-6 && t <= 1e6) {
		return nil, fmt.Errorf("metadata: temperature %v, expected 1e-6 to 1e6", t)
	}
	m.Labels = structured.NewAlphabet(labels...)
	if m.Labels.Len() == 0 && !task.Nameless || m.Labels.Len() != len(labels) || m.Dim < 0 {
		return nil, fmt.Errorf("metadata: %d labels (%d different) and %d features make no model", len(labels), m.Labels.Len(), m.Dim)
	}
	choice, err := chooseNetwork(m.Config, m.Inputs, m.Dim, m.Labels.Len()) // of a file that any program may have written
	if err != nil {
		return nil, err
	}
	m.Config = withNetwork(m.Config, choice)
	if err := tasks.ValidateModel(m.Config); err != nil {
		return nil, err
	}
	if err := m.assemble(); err != nil {
		return nil, err
	}
	layout := m.Net.Layout()
	if len(f.Tensors) != len(layout)+names {
		return nil, fmt.Errorf("%d tensors, expected %d (%v)", len(f.Tensors), len(layout)+names, layout)
	}
	m.W = make([]float32, m.Net.Dim())
	for _, a := range layout {
		w, err := safetensors.Values[float32](f, a.Name, a.Shape...)
		if err != nil {
			return nil, err
		}
		copy(a.Of(m.W), w)
	}
	return m, nil
}
