package models

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
)

// modelFormat is the version of the layout of model files. Other versions are refused.
const modelFormat = "1"

// releasedFormat is that of released models: programs that do not know of them must not read hashes as names.
const releasedFormat = modelFormat + " released"

// mostColumns is how many columns the text has at most that a model reads.
const mostColumns = 1 << 16

// checksumKey is the metadata of a model file that holds the checksum of its tensors. Files of versions before it have
// none.
const checksumKey = "checksum"

// ModelFile is the name of the model in a run folder.
const ModelFile = "model.safetensors"

// Save writes the model to a safetensors file, whole or not at all: a tensor for each parameter of the network, the
// names of attributes where they have some, lists and vectors of words, the encoder and its tokenizer or a reference to
// them, and in the metadata format, version, checksum of the tensors, template (text), config, labels, vocab,
// characters, dim, width, hash_bits, map, grid, edges, looks, class_id and temperature (as JSON). The same model gives
// the same bytes.
//
// With Config.L1, or Radius, it keeps nonzero weights only: named attributes without any are left out, and a parameter
// with few is two tensors, as inputs.AddWeights writes them. Such a model predicts the same, to the bit.
func (m *Model) Save(path string) error {
	sparse := m.Config.L1 > 0 || m.Config.Radius > 0
	if sparse {
		var err error
		if m, err = m.pruned(); err != nil {
			return err
		}
	}
	f := m.weights(sparse)
	if err := m.Inputs.Save(f); err != nil {
		return err
	}
	config, format := m.Config.ForModel().WithNames(), modelFormat
	if m.Salt != "" {
		config, format = config.WithoutFiles(), releasedFormat
	}
	values := map[string]any{
		"config": config,
		"labels": m.Labels.Names(),
		"dim":    m.Dim,
		"width":  m.Width,
	}
	if m.ClassID != 0 {
		values["class_id"] = m.ClassID
	}
	if m.Notation.Scheme != "" {
		values["notation"] = m.Notation
	}
	if m.Temperature != 0 {
		values[temperatureKey] = m.Temperature
	}
	texts, err := safetensors.JSONMetadata(values)
	if err != nil {
		return err
	}
	maps.Copy(f.Metadata, texts)
	f.Metadata["format"] = "dsp model " + format
	f.Metadata["version"], f.Metadata[checksumKey] = m.Version, f.Sum()
	if _, own := nets.HasSetting(m.Config.Net, ""); own && m.Salt == "" {
		f.Metadata["program"] = program()
	}
	return safetensors.Write(path, f)
}

// program is the import path of the running program, which registers its own networks; empty if it is not known.
func program() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Path
}

// unregistered is the error for a model whose network no preset and no registration has the name of: it says which
// program made it, and with what shapes, so that its reader knows what to register.
func unregistered(net string, f *safetensors.File) error {
	by := "a program"
	if p := f.Metadata["program"]; p != "" {
		by = "the program " + p
	}
	return structured.BadInput("net %q is not one of dsp's: %s registered it. Use the program that registers it, or in a program of yours call "+
		"nets.Register(%q, …) before models.Load, with a function that makes the same parameters; presets are %s", net, by, net, strings.Join(nets.PresetsThat(func(*nets.Preset) bool { return true }), ", "))
}

// Tensors returns the parameters of the network and the names of attributes as the tensors of a file.
func (m *Model) Tensors() (*safetensors.File, error) {
	f := m.weights(false)
	v := m.Vectors
	if m.WordRows != nil {
		v = m.WordRows.Vectors
	}
	if v != nil {
		safetensors.Add(f, inputs.VectorsTensor, v.Rows, len(v.Rows)/v.Dim, v.Dim)
	}
	if m.Standard != nil {
		m.Standard.Save(f)
	}
	return f, inputs.AddDictionary(f, m.Dictionary)
}

// weights returns the parameters of the network as the tensors of a file, or with sparse those that are nonzero.
func (m *Model) weights(sparse bool) *safetensors.File {
	f := &safetensors.File{}
	for _, a := range m.Net.Layout() {
		inputs.AddWeights(f, a.Name, a.Of(m.W), a.Shape, sparse)
	}
	return f
}

// ConfigFile is the name of the settings of a run in its folder.
const ConfigFile = "config.yaml"

// CheckpointFolder is the folder inside of a run folder that holds the checkpoint, and until the run is finished a
// ModelFile, with the weights that training began with.
const CheckpointFolder = "checkpoint"

// PipelineFile is the file that makes a folder of models a pipeline (package pipelines).
const PipelineFile = "pipeline.json"

func IsPipeline(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, PipelineFile))
	return err == nil
}

// NotSingle is the refusal of a pipeline where a single model is expected.
func NotSingle(folder string) error {
	return structured.BadInput("%s: a pipeline, expected a single model; the stages of a pipeline are models in folders inside, such as %s", folder, filepath.Join(folder, "upos"))
}

// FileOf returns the model file that a path names: itself, or the one inside a run folder.
func FileOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return path, nil
	}
	inside := filepath.Join(path, ModelFile)
	if _, err := os.Stat(inside); err != nil {
		if IsPipeline(path) {
			return "", NotSingle(path)
		}
		return "", structured.BadInput("%s: no %s in this folder; expected a model file or the folder of a run", path, ModelFile)
	}
	return inside, nil
}

// Load reads a model from the file that Save wrote, or from the run folder that holds it. Of a run that is not finished
// it takes the weights from the last checkpoint, and Unfinished says so.
func Load(path string) (*Model, error) { return LoadWith(path, encoded.Source{}) }

// LoadWith is Load for models that may refer to an encoder, which is looked for in a source.
func LoadWith(path string, from encoded.Source) (*Model, error) {
	if _, err := os.Stat(filepath.Join(path, CheckpointFolder, ModelFile)); err == nil {
		return loadUnfinished(path, from)
	}
	path, err := FileOf(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, structured.BadInput("%w; expected a model file or the folder of a run", err)
	}
	return loadFile(path, from)
}

// loadUnfinished makes the model of a run from its last checkpoint.
func loadUnfinished(dir string, from encoded.Source) (*Model, error) {
	folder := filepath.Join(dir, CheckpointFolder)
	w, pass, err := train.CheckpointWeights(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && pass == 0 {
		if _, err := os.Stat(filepath.Join(dir, ModelFile)); err == nil { // an earlier end of the run
			return loadFile(filepath.Join(dir, ModelFile), from)
		}
		return nil, structured.BadInput("%s: the run is not finished, and its checkpoint has no pass yet; dsp train --resume %s continues it", dir, dir)
	}
	if err != nil {
		return nil, err
	}
	m, err := loadFile(filepath.Join(folder, ModelFile), from)
	if err != nil {
		return nil, err
	}
	if len(w) != len(m.W) {
		return nil, structured.BadInput("%s: %d weights, the model has %d", folder, len(w), len(m.W))
	}
	m.W, m.Unfinished = w, pass
	return m, nil
}

func loadFile(path string, from encoded.Source) (*Model, error) {
	f, err := safetensors.Read(path)
	if err != nil {
		return nil, err
	}
	switch format := f.Metadata["format"]; {
	case format == "":
		return nil, structured.BadInput("%s: a safetensors file, but not a model of dsp", path)
	case strings.HasPrefix(format, "dsp data "):
		return nil, structured.BadInput("%s: data, packed by dsp data pack, and not a model; dsp train --train reads it", path)
	case format != "dsp model "+modelFormat && format != "dsp model "+releasedFormat:
		return nil, structured.BadInput("%s: format %q, written by dsp %s; this one reads \"dsp model %s\"", path, format,
			f.Metadata["version"], modelFormat)
	}
	if want, ok := f.Metadata[checksumKey]; ok && want != f.Sum() {
		return nil, structured.BadInput("%s: the file is damaged: its tensors have the checksum %s, expected %s; copy it again from where it is whole, or train anew", path, f.Sum(), want)
	}
	if err := checkFinite(f); err != nil {
		return nil, structured.BadInput("%s: %w", path, err)
	}
	from.Beside = filepath.Dir(path)
	m, err := decodeModel(f, from)
	if err != nil {
		return nil, structured.BadInput("%s: %w", path, err)
	}
	return m, nil
}

// checkFinite refuses tensors with numbers that are none, with which every prediction would be NaN.
func checkFinite(f *safetensors.File) error {
	for _, name := range slices.Sorted(maps.Keys(f.Tensors)) {
		if w, ok := f.Tensors[name].Data.([]float32); ok {
			for i, x := range w {
				if math.Float32bits(x)&0x7f800000 == 0x7f800000 {
					return fmt.Errorf("tensor %q: entry %d is %v, expected a finite number", name, i, x)
				}
			}
		}
	}
	return nil
}

// decodeModel makes the model that a file of our format describes, with the encoder of a source if it refers to one.
func decodeModel(f *safetensors.File, from encoded.Source) (*Model, error) {
	m := &Model{Version: f.Metadata["version"], Config: config.Default()} // settings newer than the file have their defaults
	var labels []string
	for name, value := range map[string]any{"config": &m.Config, "labels": &labels, "dim": &m.Dim, "width": &m.Width,
		"class_id": &m.ClassID, "notation": &m.Notation, temperatureKey: &m.Temperature} {
		text, ok := f.Metadata[name]
		if !ok && slices.Contains([]string{"class_id", "notation", temperatureKey}, name) {
			continue
		}
		if err := json.Unmarshal([]byte(text), value); err != nil {
			return nil, fmt.Errorf("metadata %q is not what a model has there: %w", name, err)
		}
	}
	var err error
	for name, size := range map[string]struct{ value, most int }{"dim": {m.Dim, inputs.MostNumbers}, "width": {m.Width, mostColumns}} {
		err = cmp.Or(err, inputs.CheckSizes(name, size.most, size.value))
	}
	for _, s := range config.Settings(&m.Config) { // before anything is made by them
		if err == nil && s.Group != config.MethodGroup {
			if err = s.CheckRange(); err != nil {
				err = fmt.Errorf("metadata \"config\": %w", err)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	task := tasks.Of(&m.Config)
	var names int
	m.Config.Encoder = RecordedEncoder(m.Config.Encoder, from.Beside)
	how := task.Loading(&m.Config)
	how.From = from
	if m.Inputs, names, err = inputs.Load(f, how); err != nil {
		return nil, err
	}
	if e := m.Encoder; e != nil && e.ByReference { // runs that continue the model read it there
		m.Config.Encoder = e.Dir
	}
	if m.Dim > 0 && len(m.Vocab) == 0 && m.Dictionary == nil && m.Own == nil {
		m.Config.MinCount = 0 // older files say 2 for every net
	}
	if released := f.Metadata["format"] == "dsp model "+releasedFormat; released != (m.Salt != "") {
		return nil, fmt.Errorf("metadata: format %q and the salt %q, expected a salt in released models alone", f.Metadata["format"], m.Salt)
	}
	if m.Map.Len() > m.Dim {
		return nil, fmt.Errorf("metadata: maps of %v and a grid of %v do not go with %d features", m.Map, m.Grid, m.Dim)
	}
	if s := m.Standard; s != nil && len(s.Mean) != m.Dim {
		return nil, fmt.Errorf("%d means of features do not go with %d features", len(s.Mean), m.Dim)
	}
	if t := m.Temperature; t != 0 && !(t >= 1e-6 && t <= 1e6) {
		return nil, fmt.Errorf("metadata: temperature %v, expected 1e-6 to 1e6", t)
	}
	m.Labels = structured.NewAlphabet(labels...)
	if m.Labels.Len() == 0 && !task.Nameless || m.Labels.Len() != len(labels) || m.Dim < 0 {
		return nil, fmt.Errorf("metadata: %d labels (%d different) and %d features make no model", len(labels), m.Labels.Len(), m.Dim)
	}
	_, own := nets.HasSetting(m.Config.Net, "")
	if _, preset := nets.FindPreset(m.Config.Net); !own && !preset && m.Config.Net != "auto" {
		return nil, unregistered(m.Config.Net, f)
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
	for _, a := range layout {
		names += inputs.WeightsTensors(f, a.Name)
	}
	if len(f.Tensors) != names {
		return nil, fmt.Errorf("%d tensors, expected %d (%v)", len(f.Tensors), names, layout)
	}
	for _, a := range layout { // before memory is allocated for sizes that no tensor has
		if err := inputs.CheckWeights(f, a.Name, a.Len(), a.Shape); err != nil {
			return nil, err
		}
	}
	if err := host.CheckMemory("its weights", 4*float64(m.Net.Dim())); err != nil { // a file may hold few of them
		return nil, err
	}
	m.W = vec.Huge[float32](m.Net.Dim())
	for _, a := range layout {
		if err := inputs.Weights(f, a.Name, a.Of(m.W), a.Shape); err != nil {
			return nil, err
		}
	}
	return m, nil
}
