package exchange

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/arrays/arraystest"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// readTexts reads a vector of Unicode strings, whose cells are of four bytes per character.
func readTexts(t *testing.T, path, name string) []string {
	t.Helper()
	r, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := r.Open(name + ".npy")
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	header, cells, _ := strings.Cut(string(content), "\n")
	var n, width int
	at := strings.Index(header, "{")
	if _, err := fmt.Sscanf(header[at:], "{'descr': '<U%d', 'fortran_order': False, 'shape': (%d,),", &width,
		&n); err != nil {
		t.Fatalf("%q: %v", header, err)
	}
	if (len(header)+1)%64 != 0 || len(cells) != 4*n*width {
		t.Fatalf("%q: a header of %d bytes, cells of %d", header, len(header)+1, len(cells))
	}
	texts := make([]string, n)
	for i := range texts {
		for c := range width {
			if r := rune(binary.LittleEndian.Uint32([]byte(cells[4*(i*width+c):]))); r != 0 {
				texts[i] += string(r)
			}
		}
	}
	return texts
}

func TestExportPotentials(t *testing.T) {
	d := toyData(1)
	ctx := context.Background()
	dir := t.TempDir()
	for _, edges := range []string{"transition", "position"} {
		m := toyModel(t, d, func(c *config.Config) { c.Edges = edges })
		m.Constraints = &chains.Constraints{Start: []bool{true, false, false}}
		θ, err := m.Potentials(ctx, d, 1)
		if err != nil {
			t.Fatal(err)
		}
		want, edgeShape := chains.Of(θ), []int{3, 3}
		if edges == "position" {
			edgeShape = []int{d.Positions(), 3, 3}
		}
		path := filepath.Join(dir, "p.npz")
		if err := ExportPotentials(ctx, m, d, path, 2); err != nil {
			t.Fatal(err)
		}
		node, shape := arraystest.Read[float32](t, path, "node")
		if !slices.Equal(node, want.Node) || !slices.Equal(shape, []int{d.Positions(), 3}) {
			t.Errorf("node %v %v", node, shape)
		}
		edge, shape := arraystest.Read[float32](t, path, "edge")
		if !slices.Equal(edge, want.Edge) || !slices.Equal(shape, edgeShape) {
			t.Errorf("edge %v %v", edge, shape)
		}
		offsets, _ := arraystest.Read[int64](t, path, "offsets")
		if len(offsets) != d.Len()+1 || int(offsets[d.Len()]) != d.Positions() {
			t.Errorf("offsets %v", offsets)
		}
		if labels, _ := arraystest.Read[int32](t, path, "labels"); !slices.Equal(labels, d.Labels) {
			t.Errorf("labels %v", labels)
		}
		if names := readTexts(t, path, "label_names"); !slices.Equal(names, d.Alphabet.Names()) {
			t.Errorf("label names %q", names)
		}
		if ids := readTexts(t, path, "ids"); len(ids) != d.Len() || ids[8] != "8" {
			t.Errorf("ids %q", ids)
		}

		path = filepath.Join(dir, "p.safetensors")
		if err := ExportPotentials(ctx, m, d, path, 2); err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		node, err1 := safetensors.Values[float32](f, "node", d.Positions(), 3)
		edge, err2 := safetensors.Values[float32](f, "edge", edgeShape...)
		labels, err3 := safetensors.Values[int32](f, "labels", d.Positions())
		if err := cmp.Or(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		var names []string
		if err := json.Unmarshal([]byte(f.Metadata["label_names"]), &names); err != nil ||
			!slices.Equal(names, d.Alphabet.Names()) {
			t.Errorf("label names %q, %v", names, err)
		}
		if !slices.Equal(node, want.Node) || !slices.Equal(edge, want.Edge) || !slices.Equal(labels, d.Labels) {
			t.Error("safetensors: other potentials")
		}
	}
	d.Labels = nil
	m := toyModel(t, d, nil)
	path := filepath.Join(dir, "unlabeled.npz")
	if err := ExportPotentials(ctx, m, d, path, 1); err != nil {
		t.Fatal(err)
	}
	if names := arraystest.Names(t, path); slices.Contains(names, "labels") {
		t.Errorf("labels where there are none: %v", names)
	}
}

func TestExportWeights(t *testing.T) {
	m := toyModel(t, toyData(1), nil)
	dir := t.TempDir()
	for _, ext := range []string{"txt", "npz", "safetensors"} {
		if err := ExportWeights(m, filepath.Join(dir, "w."+ext)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := safetensors.Read(filepath.Join(dir, "w.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "w.txt"))
	for _, a := range m.Net.Layout() {
		want := a.Of(m.W)
		got, shape := arraystest.Read[float32](t, filepath.Join(dir, "w.npz"), a.Name)
		tensor := f.Tensors[a.Name]
		if !slices.Equal(got, want) || !slices.Equal(shape, a.Shape) || !reflect.DeepEqual(tensor.Data, want) {
			t.Errorf("%s: %v %v", a.Name, got, shape)
		}
		if !strings.Contains("\n"+string(text), "\n"+a.Name+" ") {
			t.Errorf("w.txt lacks %s:\n%s", a.Name, text)
		}
	}
	if lines := strings.Count(string(text), "\n"); lines != len(f.Tensors)+2+1+4+1+3+2 {
		t.Errorf("%d lines:\n%s", lines, text)
	}
	if err := ExportWeights(m, filepath.Join(dir, "w.csv")); !structured.IsBadInput(err) {
		t.Errorf("a .csv: got %v, want bad input", err)
	}
}
