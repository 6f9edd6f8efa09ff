package models

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

func TestModelRoundTrip(t *testing.T) {
	d := toyData(1)
	dir := t.TempDir()
	path := filepath.Join(dir, ModelFile)
	for _, edges := range []string{"transition", "position", "none"} {
		m := toyModel(t, d, func(c *config.Config) {
			c.Edges, c.Threads, c.Out, c.Quiet = edges, 3, "somewhere", true
			c.LabelWeights = settings.LabelWeights{"a": 2}
		})
		m.Version = "v1"
		m.Vocab = nil
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		for _, from := range []string{path, dir} {
			got, err := Load(from)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Config, m.Config.ForModel()) || got.Version != "v1" || got.Dim != 2 ||
				!slices.Equal(got.Labels.Names(), d.Alphabet.Names()) || !slices.Equal(got.W, m.W) ||
				!reflect.DeepEqual(got.Net.Form(), m.Net.Form()) {
				t.Errorf("got %+v, want %+v", got, m)
			}
		}
		before, _ := os.ReadFile(path)
		m.Config.Threads, m.Config.Out = 5, "elsewhere"
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
			t.Error("threads and folder change the model file")
		}
	}
}

// A temperature is kept, and storing another one changes nothing else. Files without one have temperature 1.
func TestTemperatureInFile(t *testing.T) {
	path, copied := filepath.Join(t.TempDir(), ModelFile), filepath.Join(t.TempDir(), "copy.safetensors")
	m := toyModel(t, toyData(1), nil)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	plain, _ := os.ReadFile(path)
	if got, err := Load(path); err != nil || got.Temper() != 1 || got.Temperature != 0 || !got.Uncalibrated() || bytes.Contains(plain, []byte("temperature")) {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := StoreTemperature(path, copied, 1.75); err != nil {
		t.Fatal(err)
	}
	got, err := Load(copied)
	if err != nil || got.Temper() != 1.75 || got.Uncalibrated() || !slices.Equal(got.W, m.W) {
		t.Fatalf("%+v, %v", got, err)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, plain) {
		t.Error("a copy changed the model")
	}
	if err := StoreTemperature(path, path, 1.75); err != nil {
		t.Fatal(err)
	}
	m.Temperature = 1.75
	if err := m.Save(copied); err != nil {
		t.Fatal(err)
	}
	saved, _ := os.ReadFile(copied)
	if stored, _ := os.ReadFile(path); !bytes.Equal(saved, stored) {
		t.Error("a stored temperature differs from a saved one")
	}
}

// A model loads although a later version refuses to train with its settings of the method.
func TestModelOfAnotherVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), ModelFile)
	m := toyModel(t, toyData(1), func(c *config.Config) { c.Method, c.Schedule, c.Inner, c.ModelBatch = "prox-linear", "sqrt", "bcfw", 8 })
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	if tasks.Validate(m.Config) == nil {
		t.Fatal("the settings go together")
	}
	if got, err := Load(path); err != nil || got.Config.Schedule != "sqrt" {
		t.Errorf("got %v", err)
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.safetensors")
	m := toyModel(t, toyData(1), nil)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	whole, _ := os.ReadFile(path)
	change := func(change func(f *safetensors.File)) func() {
		return func() {
			if err := os.WriteFile(path, whole, 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := safetensors.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			change(f)
			if f.Metadata != nil {
				f.Metadata[checksumKey] = f.Sum()
			}
			if err := safetensors.Write(path, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(content []byte) func() {
		return func() {
			if err := os.WriteFile(path, content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		prepare func()
		want    string
	}{
		"a changed bit": {write(append(slices.Clone(whole[:len(whole)-2]), whole[len(whole)-2]^1, whole[len(whole)-1])), "m.safetensors: the file is damaged"},
		"cut short":     {write(whole[:len(whole)-5]), "m.safetensors"},
		"a few bytes":   {write(whole[:5]), "m.safetensors"},
		"text":          {write([]byte("the quick brown fox jumps over the lazy dog")), "m.safetensors"},
		"not ours":      {change(func(f *safetensors.File) { f.Metadata = nil }), "not a model of dsp"},
		"version":       {change(func(f *safetensors.File) { f.Metadata["format"] = "dsp model 99" }), "this one reads"},
		"a pack":        {change(func(f *safetensors.File) { f.Metadata["format"] = "dsp data 1" }), "packed by dsp data pack"},
		"config":        {change(func(f *safetensors.File) { f.Metadata["config"] = `{"net": 3}` }), `metadata "config"`},
		"net":           {change(func(f *safetensors.File) { f.Metadata["config"] = `{"net": "transformer"}` }), `transformer`},
		"labels":        {change(func(f *safetensors.File) { f.Metadata["labels"] = `["a","a"]` }), "2 labels (1 different)"},
		"dim":           {change(func(f *safetensors.File) { f.Metadata["dim"] = `-1` }), `metadata "dim": [-1]`},
		"temperature":   {change(func(f *safetensors.File) { f.Metadata["temperature"] = `-2` }), "temperature -2"},
		"a tensor less": {change(func(f *safetensors.File) {
			delete(f.Tensors, "node.bias")
		}), "tensors, expected"},
		"a shape": {change(func(f *safetensors.File) { f.Metadata["dim"] = `3` }), "shape"},
	} {
		c.prepare()
		if _, err := Load(path); !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want bad input with %q", name, err, c.want)
		}
	}
	change(func(f *safetensors.File) { f.Tensors["node.bias"].Data.([]float32)[0]++ })()
	if _, err := Load(path); err != nil {
		t.Errorf("other weights with their checksum: %v", err)
	}
	f, err := safetensors.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	delete(f.Metadata, checksumKey) // as older versions wrote it
	if err := safetensors.Write(path, f); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err != nil {
		t.Errorf("a file without a checksum: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "missing")); !structured.IsBadInput(err) {
		t.Errorf("a missing file: got %v", err)
	}
	if _, err := Load(t.TempDir()); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "folder of a run") {
		t.Errorf("an empty folder: got %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(`{"net":"mlp","hidden":[4],"task":"ocr"}`, `["a","b"]`, `[]`, 2, 0)
	f.Add(`{"net":"embed","embed":[1099511627776],"window":5,"channels":[1]}`, `["O","B-x","I-x"]`, `[["<unknown>","a"]]`, 0, 2)
	f.Add(`{"net":"auto","constraints":"iob2","label-weights":{"a":-1}}`, `["O"]`, `null`, 128, -1)
	f.Add(`{"net":"linear","window":1073741823}`, `["a","b"]`, `[]`, 1<<40, 0)
	f.Fuzz(func(t *testing.T, config, labels, vocab string, dim, width int) {
		file := &safetensors.File{Metadata: map[string]string{
			"config": config, "labels": labels, "vocab": vocab, "dim": strconv.Itoa(dim), "width": strconv.Itoa(width),
		}}
		safetensors.Add(file, "node.bias", []float32{1, 2})
		if m, err := decodeModel(file, encoded.Source{Beside: t.TempDir()}); err == nil {
			t.Errorf("a model of one tensor: %+v", m)
		}
	})
}

// A sparse model is saved without zeros and without the names of attributes that have no weights. Its potentials have
// the same bits.
func TestSparseModelRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, hashed := range []bool{false, true} {
		d := &structured.Dictionary{HashBits: 5}
		if !hashed {
			d = &structured.Dictionary{Node: structured.NewAlphabet()}
			for k := range 32 {
				d.Node.Add("name" + strconv.Itoa(k))
			}
		}
		m := &Model{Config: config.Default(), Labels: structured.NewAlphabet("a", "b", "c")}
		m.Config.Train, m.Config.Format = "train.crfsuite", "crfsuite"
		m.Config.Task, m.Config.Net, m.Config.Edges, m.Config.L1, m.Dictionary = "tag", "linear", "transition", 1, d
		if err := m.assemble(); err != nil {
			t.Fatal(err)
		}
		m.W = make([]float32, m.Net.Dim())
		for range 12 {
			m.W[r.IntN(len(m.W))] = float32(r.NormFloat64())
		}
		path := filepath.Join(t.TempDir(), ModelFile)
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !hashed && got.Dictionary.Node.Len() > 12 {
			t.Errorf("%d attributes are left, but at most 12 have a weight", got.Dictionary.Node.Len())
		}
		score := func(m *Model) []float32 { // of attributes drawn by name
			r := rand.New(rand.NewPCG(3, 4))
			data := &structured.Dataset{Offsets: []int{0, 40}, Attributes: &structured.Sparse{Offsets: []int{0}}}
			for range 40 {
				for range 6 {
					a := int32(r.IntN(32))
					if !hashed {
						if a = m.Dictionary.Node.Index("name" + strconv.Itoa(int(a))); a < 0 {
							continue
						}
					}
					data.Attributes.Index = append(data.Attributes.Index, a)
				}
				data.Attributes.Offsets = append(data.Attributes.Offsets, len(data.Attributes.Index))
			}
			var batch structured.Batch
			var θ structured.Potentials
			batch.Reset(data, []int{0})
			if err := m.Net.NewWorker().Score(m.W, &batch, &θ); err != nil {
				t.Fatal(err)
			}
			return append(slices.Clone(θ.Parts[0].Values), θ.Parts[1].Values...)
		}
		if !slices.Equal(score(m), score(got)) {
			t.Errorf("hashed %v: the loaded model has other potentials", hashed)
		}
		f, err := safetensors.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, few := f.Tensors["attributes.at"]; hashed && !few {
			t.Errorf("hashed attributes are stored whole")
		}
	}
}
