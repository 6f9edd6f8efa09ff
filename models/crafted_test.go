package models

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// mostCrafted is how much memory loading a model file of a few KB may take, in bytes: a parsed document of the largest
// size is most of it.
const mostCrafted = 200 << 20

// crafted writes a model file with changes and the checksum that belongs to them. An attacker can do the same.
func crafted(t testing.TB, path string, whole []byte, change func(f *safetensors.File)) {
	t.Helper()
	if err := os.WriteFile(path, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	change(f)
	f.Metadata[checksumKey] = f.Sum()
	if err := safetensors.Write(path, f); err != nil {
		t.Fatal(err)
	}
}

// configured changes settings in the metadata of a model file.
func configured(f *safetensors.File, values map[string]any) {
	all := map[string]any{}
	_ = json.Unmarshal([]byte(f.Metadata["config"]), &all)
	for name, v := range values {
		all[name] = v
	}
	text, _ := json.Marshal(all)
	f.Metadata["config"] = string(text)
}

// Whatever numbers a model file holds, it is refused as bad input, in little memory and with the file's name: before
// anything is made by them. What is not refused ends by the limits of the test's own process.
func TestCraftedModels(t *testing.T) {
	if !limited(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "m.safetensors")
	m := toyModel(t, toyData(1), nil)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stack := func(layers string) func(f *safetensors.File) {
		return func(f *safetensors.File) {
			configured(f, map[string]any{"net": "stack", "stack": layers, "hidden": nil, "channels": nil, "embed": nil, "window": 0})
		}
	}
	set := func(name string, value any) func(f *safetensors.File) {
		return func(f *safetensors.File) { configured(f, map[string]any{name: value}) }
	}
	meta := func(name, value string) func(f *safetensors.File) {
		return func(f *safetensors.File) { f.Metadata[name] = value }
	}
	many := func(n int) string {
		labels := make([]string, n)
		for i := range labels {
			labels[i] = fmt.Sprint("B-", i)
		}
		text, _ := json.Marshal(append(labels, "O"))
		return string(text)
	}
	cases := map[string]struct {
		change func(f *safetensors.File)
		want   string
	}{
		"deep stack":       {stack(strings.Repeat("[", 100000)), "stack:1: more than 64 lists"},
		"deep stack, dash": {stack(strings.Repeat("- ", 100000)), "stack:1: more than 64 lists"},
		"long stack":       {stack(strings.Repeat("- norm\n", 100000)), "bytes of YAML, expected at most"},
		"many layers":      {stack("- features\n" + strings.Repeat("- norm\n", 2000)), "2001 layers, expected at most 1000"},
		"dense":            {stack("- features\n- dense: {units: 1000000000}\n"), "expected a whole number of 1 to 16777216"},
		"two dense":        {stack("- features\n- dense: 16777216\n- dense: 16777216\n"), "a network has at most"},
		"windows":          {stack("- features\n- window: 99999\n- window: 99999\n"), "expected at most 16777216"},
		"image":            {stack("- features\n- image: [4194304, 4194304]\n"), "has 1"},
		"conv":             {stack("- features\n- image: [1, 2]\n- conv: {channels: 1, kernel: 1000001, padding: 1000000}\n- conv: {channels: 1, kernel: 1000001, stride: 1000001}\n- flatten\n"), "expected at most 16777216"},
		"heads":            {stack("- features\n- recurrent: 16777216\n"), "expected at most"},
		"nested residual":  {stack("- features\n- residual:\n" + strings.Repeat("[", 100)), "more than 64 lists"},
		"width":            {meta("width", "300000000"), `metadata "width": [300000000]`},
		"width 2^62":       {meta("width", "4611686018427387904"), `metadata "width"`},
		"dim":              {meta("dim", "2000000000"), `metadata "dim"`},
		"map":              {meta("map", `{"Height":4294967296,"Width":4294967296,"Channels":1}`), `metadata "map"`},
		"map of zero":      {meta("map", `{"Height":4294967296,"Width":4294967296,"Channels":0}`), `metadata "map"`},
		"grid":             {meta("grid", `{"Height":1000000,"Width":1000000}`), `metadata "grid"`},
		"edges":            {meta("edges", `{"Dim":1000000000000}`), `metadata "edges"`},
		"looks":            {meta("looks", `{"images":3,"mean":[0,0,0,0,1e300]}`), `metadata "looks"`},
		"hash bits":        {meta("hash_bits", "62"), `metadata "hash_bits"`},
		"hidden":           {set("hidden", []int{1 << 40}), "--hidden"},
		"layers":           {func(f *safetensors.File) { configured(f, map[string]any{"net": "attention", "layers": 1 << 40}) }, "--layers"},
		"net's window":     {set("window", 1<<40+1), "--window"},
		"embed":            {set("embed", []int{1 << 40}), "--embed"},
		"cells":            {set("cells", 1<<30), "--search-grid"},
		"crop":             {set("crop", 1<<30), "--candidate-pixels"},
		"patch":            {set("patch", 1<<30), "--region-pixels"},
		"max length":       {set("max-length", 1<<30), ""},
		"constraints": {func(f *safetensors.File) {
			configured(f, map[string]any{"constraints": "iob2", "edges": "none"})
			f.Metadata["labels"] = many(50000)
		}, ""},
		"NaN":      {func(f *safetensors.File) { f.Tensors["node.bias"].Data.([]float32)[0] = float32(math.NaN()) }, "is NaN, expected a finite number"},
		"infinite": {func(f *safetensors.File) { f.Tensors["node.bias"].Data.([]float32)[0] = float32(math.Inf(-1)) }, "is -Inf"},
	}
	for name, c := range cases {
		crafted(t, path, whole, c.change)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Load(path)
		runtime.ReadMemStats(&after)
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.300v; expected bad input with %q", name, err, c.want)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > mostCrafted {
			t.Errorf("%s: %d MiB were taken for a file of %d KiB", name, taken>>20, len(whole)>>10)
		}
	}
}

// Any stack, and any numbers of the settings, are a model or bad input, in bounded memory.
func FuzzCraftedConfig(f *testing.F) {
	for _, seed := range []string{`{"net":"stack","stack":"- features\n- window: 3\n- dense: {units: 5, activation: tanh}\n"}`,
		`{"net":"stack","stack":"- features\n- image: [1, 2]\n- conv: {channels: 2, kernel: 3}\n- flatten\n"}`, `{"net":"mlp","hidden":[3,4],"window":3}`,
		`{"net":"attention","layers":2,"heads":2,"channels":[8]}`, `{"net":"rnn","recurrent":[4,5]}`, `{"net":"linear","constraints":"bioes"}`} {
		f.Add(seed, 2, 0)
	}
	f.Fuzz(func(t *testing.T, text string, dim, width int) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		file := &safetensors.File{Metadata: map[string]string{"config": text, "labels": `["a","b"]`, "vocab": `[]`, "dim": fmt.Sprint(dim), "width": fmt.Sprint(width)}}
		safetensors.Add(file, "node.bias", []float32{1, 2})
		_, err := decodeModel(file, encoded.Source{Beside: t.TempDir()})
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Error("a model of one tensor")
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > mostCrafted {
			t.Errorf("%d MiB were taken", taken>>20)
		}
	})
}
