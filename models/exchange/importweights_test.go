package exchange

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
)

// namedModel is a linear net of attributes with the given names, and of dim dense features.
func namedModel(t rapid.TB, dim int, labels, nodes, edges []string) *models.Model {
	d := &structured.Dictionary{Node: structured.NewAlphabet(nodes...)}
	if len(edges) > 0 {
		d.Edge = structured.NewAlphabet(edges...)
	}
	plain := &models.Model{Config: config.Default(), Labels: structured.NewAlphabet(labels...), Dim: dim}
	m, err := plain.WithDictionary(d)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Any weights of any names survive as text, to the bit.
func TestWeightsSurviveAsText(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(),
			rapid.SampledFrom([]string{"#", "# x", "[attributes]", `\#`, `\t`, "\t", "a\\", "\r", " ", "", "ü", "\xff"}))
		names := rapid.SliceOfNDistinct(name, 1, 5, rapid.ID[string])
		m := namedModel(t, rapid.IntRange(0, 2).Draw(t, "features"), names.Draw(t, "labels"),
			names.Draw(t, "nodes"), names.Draw(t, "edges"))
		for i := range m.W {
			m.W[i] = rapid.OneOf(rapid.Just(float32(0)), rapid.Float32Range(-math.MaxFloat32, math.MaxFloat32)).Draw(t, "weight")
		}
		m.W[0] = float32(math.Copysign(0, -1))
		path := filepath.Join(dir, "w.txt")
		var text bytes.Buffer
		if err := errors.Join(writeAttributeWeights(&text, m), os.WriteFile(path, text.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
		got, err := ImportWeights(m, path, false)
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		for i, w := range m.W {
			if math.Float32bits(w) != math.Float32bits(got.W[i]) {
				t.Fatalf("weight %d: got %v, want %v", i, got.W[i], w)
			}
		}
	})
}

func TestImportEditedWeights(t *testing.T) {
	m := namedModel(t, 0, []string{"O", "B-X"}, []string{"w=a", "w=b"}, []string{"e=a"})
	for i := range m.W {
		m.W[i] = float32(i + 1)
	}
	text := "# mine\n\n[attributes]\r\nO\tw=b\t-1.5\r\n[edge_attributes]\nB-X\tO\te=a\t7\n[attributes]\nB-X\tw=a\t2e0\n"
	got, err := ImportWeights(m, file(t, "w.txt", text), false)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float32{0, 2, -1.5, 0 /* transitions */, 0, 0, 0, 0 /* steps */, 0, 0, 7, 0}; !slices.Equal(got.W, want) {
		t.Errorf("got %v, want %v", got.W, want)
	}
	if m.W[0] != 1 {
		t.Error("the model itself changed")
	}
	text += "O\tw=new\t3\n[edge_attributes]\nO\tO\te=new\t4\n"
	if got, err = ImportWeights(m, file(t, "w.txt", text), true); err != nil {
		t.Fatal(err)
	}
	if want := []float32{0, 2, -1.5, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7, 0, 4, 0, 0, 0}; !slices.Equal(got.W, want) ||
		got.Dictionary.Node.Name(2) != "w=new" || got.Dictionary.Edge.Name(1) != "e=new" || m.Dictionary.Node.Len() != 2 {
		t.Errorf("added: got %v, want %v", got.W, want)
	}
}

func TestImportErrors(t *testing.T) {
	m := namedModel(t, 0, []string{"O", "B-X"}, []string{"w=a", "w=b"}, nil)
	for text, want := range map[string]string{
		"":                    "w.txt: no weights, expected a heading",
		"# only\n":            "w.txt: no weights",
		"O\tw=a\t1\n":         "w.txt:1: \"O\\tw=a\\t1\" stands under no heading",
		"[weights]\n":         "w.txt:1: heading [weights], expected [transitions]",
		"[edge_attributes]\n": "w.txt:1: heading [edge_attributes], but the model has no such weights",
		"[attributes]\nO w=a 1\n": "w.txt:2: 1 columns separated by tabs, expected the 3 of [attributes]: " +
			"label attribute weight",
		"[attributes]\n\nO\tw=a\tone\n":       `w.txt:3: weight "one", expected a finite decimal number`,
		"[attributes]\nO\tw=a\tNaN\n":         `w.txt:2: weight "NaN"`,
		"[attributes]\nO\tw=a\t1e99\n":        `w.txt:2: weight "1e99"`,
		"[attributes]\nI-X\tw=a\t1\n":         `w.txt:2: label "I-X" is not one of the model's: O, B-X`,
		"[transitions]\nO\tI-X\t1\n":          `w.txt:2: label "I-X"`,
		"[attributes]\nO\tw=c\t1\n":           `w.txt:2: attribute "w=c" is not one of the model's; give --add`,
		"[attributes]\nO\tw=a\t1\nO\tw=a\t2":  "w.txt:3: this weight was given in line 2 already",
		"[transitions]\nO\tO\t1\n\nO\tO\t1\n": "w.txt:4: this weight was given in line 2",
	} {
		if _, err := ImportWeights(m, file(t, "w.txt", text), false); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want bad input with %q", text, err, want)
		}
	}
	twice := file(t, "w.txt", "[attributes]\nO\tw=c\t1\nO\tw=c\t1\n")
	if _, err := ImportWeights(m, twice, true); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "w.txt:3: this weight was given already") {
		t.Errorf("a new weight twice: got %v", err)
	}
	m.Dictionary.Node, m.Dictionary.HashBits = nil, 3
	if _, err := ImportWeights(m, file(t, "w.txt", "[attributes]\nO\t8\t1\n"), true); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "below 8") {
		t.Errorf("hashed: got %v", err)
	}
	other := toyModel(t, toyData(1), nil)
	if _, err := ImportWeights(other, file(t, "w.txt", "[attributes]\n"), false); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "net is mlp") {
		t.Errorf("another net: got %v", err)
	}
}

func TestTopWeights(t *testing.T) {
	m := namedModel(t, 0, []string{"O", "X"}, []string{"a", "b", "c"}, nil)
	copy(m.W, []float32{1, 0, -3, 0, 2, 5})
	want := []TopWeights{{"O", []AttributeWeight{{"b", -3}, {"c", 2}}}, {"X", []AttributeWeight{{"c", 5}}}}
	if got := Top(m, 2); len(got) != 2 || !slices.Equal(got[0].Weights, want[0].Weights) ||
		!slices.Equal(got[1].Weights, want[1].Weights) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A name may be as long as it likes: lines have no limit.
func TestImportLongNames(t *testing.T) {
	long := "w=" + strings.Repeat("long", 100_000)
	m := namedModel(t, 0, []string{"O", "B-X"}, []string{long}, nil)
	got, err := ImportWeights(m, file(t, "w.txt", "[attributes]\nO\t"+long+"\t3\n"), false)
	if err != nil {
		t.Fatal(err)
	}
	if got.W[0] != 3 {
		t.Errorf("its weight is %v, want 3", got.W[0])
	}
}
