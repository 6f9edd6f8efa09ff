package endtoend

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/models/exchange/onnx/onnxtest"
)

// exported is what dsp export --onnx --json prints.
type exported struct {
	To, Structure   string
	Decoded         bool
	Inputs, Outputs []string
}

func readONNX(t *testing.T, path string) (*format.Graph, map[string]string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := onnxtest.Read(content)
	if err != nil {
		t.Fatal(err)
	}
	meta := map[string]string{}
	for _, e := range m.Metadata {
		meta[e.Key] = *e.Value
	}
	return m.Graph, meta
}

func names(infos []*format.Array) (all []string) {
	for _, i := range infos {
		all = append(all, i.Name)
	}
	return all
}

// A model of sequences becomes a graph that decodes; bench/onnx_graphs.py compares what it computes with dsp predict.
func TestONNX(t *testing.T) {
	t.Parallel()
	data := write(t, "train.conll", strings.Repeat(sentences+"\n", 10))
	run := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", data, "--passes", "2", "--quiet", "--out", run).ok()
	path := filepath.Join(t.TempDir(), "tagger.onnx")
	o := dsp(t, "export", "--model", run, "--onnx", path).ok()
	if o.stdout != path+"\n" || !strings.Contains(o.stderr, "inputs=attributes,lengths outputs=labels,score") {
		t.Errorf("printed %q, logged %q", o.stdout, o.stderr)
	}
	graph, meta := readONNX(t, path)
	var labels, attributes []string
	if err := json.Unmarshal([]byte(meta["labels"]), &labels); err != nil || !slices.Contains(labels, "B-X") {
		t.Errorf("labels %q: %v", meta["labels"], err)
	}
	if err := json.Unmarshal([]byte(meta["attributes"]), &attributes); err != nil || !slices.Contains(attributes, "Ubias") {
		t.Errorf("attributes %.100q: %v", meta["attributes"], err)
	}
	if meta["structure"] != "chain" || meta["outputs"] != "labels" {
		t.Errorf("metadata %.200v", meta)
	}
	if got := names(graph.Outputs); !slices.Equal(got, []string{"labels", "score"}) {
		t.Errorf("outputs %v", got)
	}
	var e exported
	dsp(t, "export", "--model", run, "--onnx", path, "--marginals", "--quiet", "--json").ok().json(&e)
	if graph, _ = readONNX(t, path); !slices.Equal(names(graph.Outputs), []string{"labels", "score", "marginals"}) || !slices.Equal(e.Outputs, names(graph.Outputs)) {
		t.Errorf("outputs %v, printed %+v", names(graph.Outputs), e)
	}
	if !e.Decoded || e.Structure != "chain" || e.To != path {
		t.Errorf("printed %+v", e)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		code      int
		args      []string
		fragments []string
	}{
		{exitBadInput, []string{"--onnx", path}, []string{"no model"}},
		{exitBadInput, []string{"--onnx", path, "--model", filepath.Join(run, "none")}, []string{"none"}},
		{exitBadInput, []string{"--onnx", path, "--model", run, "--to", "w.npz"}, []string{"--to has no effect with --onnx"}},
		{exitBadInput, []string{"--onnx", path, "--model", run, "--weights"}, []string{"--weights has no effect with --onnx"}},
		{exitBadInput, []string{"--onnx", path, "--model", run, "--data", data}, []string{"--data has no effect with --onnx"}},
		{exitBadInput, []string{"--onnx", path, "--model", run, "--device", "cpu"}, []string{"--device has no effect with --onnx"}},
		{exitBadInput, []string{"--marginals", "--model", run, "--data", data, "--to", "p.npz"}, []string{"--marginals goes with --onnx", "dsp predict --marginals"}},
		{exitBadInput, []string{"--model", run}, []string{"--onnx FILE"}},
	} {
		dsp(t, append([]string{"export"}, c.args...)...).refused(c.code, c.fragments...)
	}
	dsp(t, "export", "--model", run, "--onnx", filepath.Join(t.TempDir(), "no", "m.onnx")).refused(exitBadInput, "there is no folder")
	if now, err := os.ReadFile(path); err != nil || !slices.Equal(now, whole) {
		t.Errorf("a refused export changed the file: %v", err)
	}
}

// A parser's graph computes potentials and says so.
func TestONNXOfTrees(t *testing.T) {
	t.Parallel()
	run, path := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "parser.onnx")
	dsp(t, "train", "--task", "parse", "--examples", "20,5,5", "--net", "biaffine", "--passes", "1", "--arc-units", "4", "--label-units", "4", "--channels", "8",
		"--quiet", "--out", run).ok()
	o := dsp(t, "export", "--model", run, "--onnx", path).ok()
	if !strings.Contains(o.stderr, "does not decode") || !strings.Contains(o.stderr, "projective tree") {
		t.Errorf("logged %q", o.stderr)
	}
	graph, meta := readONNX(t, path)
	if got := names(graph.Outputs); !slices.Equal(got, []string{"arc", "label"}) || meta["outputs"] != "potentials" || !strings.Contains(meta["parts"], "pairs of positions") {
		t.Errorf("outputs %v, metadata %.300v", got, meta)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dsp(t, "export", "--model", run, "--onnx", path, "--marginals").refused(exitBadInput, "projective tree", "only chains")
	if now, err := os.ReadFile(path); err != nil || !slices.Equal(now, before) {
		t.Errorf("a refused export changed the file: %v", err)
	}
}
