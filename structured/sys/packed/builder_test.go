package packed

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// Pieces with and without weights and attributes of steps, in any order, are the sequences that they are together:
// those without weights weigh 1, and those without attributes have none. Numbers are changed at the end.
func TestPiecesOfAPack(t *testing.T) {
	piece := func(label int32, weighted, steps bool) *structured.Dataset {
		d := &structured.Dataset{
			Offsets: []int{0, 2, 3}, Labels: []int32{label, label, 0}, Lines: []int{int(label) + 1, int(label) + 5},
			Attributes: &structured.Sparse{Offsets: []int{0, 1, 1, 3}, Index: []int32{0, 1, 2}},
		}
		if weighted {
			d.Weights = []float64{0.5, 2}
		}
		if steps {
			d.EdgeAttributes = &structured.Sparse{Offsets: []int{0, 0, 1, 1}, Index: []int32{1}}
		}
		return d
	}
	for name, kinds := range map[string][][2]bool{
		"plain": {{false, false}, {false, false}}, "weights first": {{true, false}, {false, false}},
		"weights last": {{false, false}, {false, false}, {true, false}},
		"steps":        {{false, true}, {false, true}}, "one": {{true, true}},
	} {
		path := filepath.Join(t.TempDir(), "pack")
		b, err := NewBuilder(path)
		if err != nil {
			t.Fatal(err)
		}
		var weights []float64
		var labels []int32
		var lines []int
		weighted, steps := false, false
		for k, kind := range kinds {
			if err := b.Add(piece(int32(k), kind[0], kind[1])); err != nil {
				t.Fatal(err)
			}
			one := []float64{1, 1}
			if kind[0] {
				one = []float64{0.5, 2}
			}
			weights, weighted, steps = append(weights, one...), weighted || kind[0], steps || kind[1]
			labels, lines = append(labels, 2-int32(k), 2-int32(k), 2), append(lines, k+1, k+5)
			if b.Examples != 2*(k+1) || b.Positions != 3*(k+1) || b.Steps() != steps {
				t.Errorf("%s: %d examples, %d positions, steps %v", name, b.Examples, b.Positions, b.Steps())
			}
		}
		if !weighted {
			weights = nil
		}
		f := &safetensors.File{}
		err = b.Finish(f, "x", nil, []string{"a", "b", "c"}, Numbers{Labels: []int32{2, 1, 0}, Nodes: []int32{5, -1, 3}})
		if err == nil {
			err = Write(path, f)
		}
		b.Close()
		if err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Errorf("%s: %d files are left", name, len(left))
		}
		opened, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		d, err := opened.Dataset()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Weights, weights) || !slices.Equal(d.Labels, labels) || !slices.Equal(d.Lines, lines) ||
			(d.EdgeAttributes != nil) != steps {
			t.Errorf("%s: weights %v, labels %v, lines %v, steps %v", name, d.Weights, d.Labels,
				d.Lines, d.EdgeAttributes != nil)
		}
		for p := range d.Positions() {
			row, _ := d.Attributes.Row(p)
			if want := [][]int32{{5}, {}, {3}}[p%3]; !slices.Equal(row, want) {
				t.Errorf("%s: attributes %v of position %d, want %v", name, row, p, want)
			}
			if steps {
				if row, _ := d.EdgeAttributes.Row(p); len(row) != (p%3)%2 {
					t.Errorf("%s: attributes of steps %v of position %d", name, row, p)
				}
			}
		}
		small, err := opened.Copied(func(name string) bool { return name == "labels" })
		if err != nil || len(small.Tensors) != 1 {
			t.Fatalf("%d tensors: %v", len(small.Tensors), err)
		}
		if got, err := safetensors.Values[int32](small, "labels", -1); err != nil || !slices.Equal(got, labels) {
			t.Errorf("%s: copied labels %v: %v", name, got, err)
		}
	}
}

// Copied tensors of every type have the numbers of the pack.
func TestCopiedTensors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pack")
	f := &safetensors.File{}
	safetensors.Add(f, "u", []uint8{1, 255})
	safetensors.Add(f, "f", []float32{1.5, -2})
	safetensors.Add(f, "i", []int32{-7})
	safetensors.Add(f, "l", []int64{1 << 40, -3}, 1, 2)
	safetensors.Add(f, "d", []float64{1e300})
	want := map[string]safetensors.Tensor{}
	for name, tensor := range f.Tensors {
		want[name] = tensor
	}
	if err := Write(path, f); err != nil {
		t.Fatal(err)
	}
	opened, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := opened.Copied(func(name string) bool { return want[name].Shape != nil })
	if err != nil || !reflect.DeepEqual(got.Tensors, want) || got.Metadata["format"] != Format {
		t.Errorf("%+v, want %+v: %v", got, want, err)
	}
}

// A pack is known by its beginning, also one that was cut short or is of another version, and nothing else is one.
func TestIs(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole := encoded(t, everything())
	other := &safetensors.File{Metadata: map[string]string{"format": "dsp model 1"}}
	safetensors.Add(other, "x", []uint8{1})
	model := filepath.Join(dir, "model")
	w, err := os.Create(model)
	if err == nil {
		err = safetensors.Encode(w, other)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		path     string
		is, read bool
	}{
		"pack": {file("pack", whole), true, true}, "cut short": {file("short", whole[:len(whole)-1]), true, false},
		"header alone": {file("header", whole[:600]), true, false},
		"nothing":      {file("nothing", nil), false, false}, "eight bytes": {file("eight", whole[:8]), false, false},
		"text":         {file("text", []byte("the O\nfox B-X\n")), false, false},
		"another file": {model, false, true}, "no file": {filepath.Join(dir, "none"), false, false},
		"folder": {dir, false, false},
	} {
		metadata, is := Is(x.path)
		if is != x.is || (metadata != nil) != x.read {
			t.Errorf("%s: %v, metadata %v", name, is, metadata)
		}
	}
	for text, want := range map[string][]string{`"123456789"`: {"123456789"}, `"12345678`: nil,
		`a"123456789b`: {"123456789"}, "": nil} {
		if got := quotedStrings([]byte(text)); !slices.Equal(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}
