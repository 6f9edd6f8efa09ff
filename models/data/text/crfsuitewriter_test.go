package text

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

// A written file reads back: names, values, weights and numbers.
func TestWriteCRFsuiteReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-c:\\#@ é"]{1,4}`)
		d := &structured.Dataset{Name: "x", Offsets: []int{0},
			Alphabet: structured.NewAlphabet(rapid.SliceOfNDistinct(name, 1, 4, rapid.ID).Draw(t, "labels")...)}
		d.Dictionary = &structured.Dictionary{Node: structured.NewAlphabet()}
		d.Attributes = &structured.Sparse{Offsets: []int{0}}
		if rapid.Bool().Draw(t, "valued") {
			d.Attributes.Value = []float32{}
		}
		weighted := rapid.Bool().Draw(t, "weighted")
		for range rapid.IntRange(1, 4).Draw(t, "sequences") {
			for range rapid.IntRange(1, 3).Draw(t, "positions") {
				d.Labels = append(d.Labels, int32(rapid.IntRange(0, d.Alphabet.Len()-1).Draw(t, "label")))
				for _, a := range rapid.SliceOfN(name, 0, 4).Draw(t, "attributes") {
					d.Attributes.Index = append(d.Attributes.Index, d.Dictionary.Node.Add(a))
					if d.Attributes.Value != nil {
						d.Attributes.Value = append(d.Attributes.Value, rapid.Float32Range(-1e9, 1e9).Draw(t, "value"))
					}
				}
				d.Attributes.Offsets = append(d.Attributes.Offsets, len(d.Attributes.Index))
			}
			d.Offsets = append(d.Offsets, len(d.Labels))
			if weighted {
				weight := rapid.Float64Range(0, 9).Draw(t, "weight")
				if !structured.ValidWeight(weight) { // too small
					weight = 0
				}
				d.Weights = append(d.Weights, weight)
			}
		}
		if d.Attributes.Index == nil {
			return
		}
		blank := func(name string) bool { return strings.TrimSpace(name) == "" }
		var text bytes.Buffer
		err := WriteCRFsuite(&text, d)
		if slices.ContainsFunc(d.Alphabet.Names(), blank) || slices.ContainsFunc(d.Dictionary.Node.Names(), blank) {
			if !structured.IsBadInput(err) {
				t.Fatalf("blank names are written: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := CRFsuite{Alphabet: d.Alphabet}.Read(&text, "x")
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.Len() {
			if got.Weight(i) != d.Weight(i) {
				t.Fatalf("weight %g, want %g", got.Weight(i), d.Weight(i))
			}
		}
		for k := range d.Attributes.Index {
			if d.Attributes.Value != nil && (got.Attributes.Value == nil && d.Attributes.Value[k] != 1 ||
				got.Attributes.Value != nil && got.Attributes.Value[k] != d.Attributes.Value[k]) {
				t.Fatalf("values %v, want %v", got.Attributes.Value, d.Attributes.Value)
			}
		}
		if !reflect.DeepEqual(got.Attributes.Index, d.Attributes.Index) ||
			!reflect.DeepEqual(got.Attributes.Offsets, d.Attributes.Offsets) ||
			!reflect.DeepEqual(got.Dictionary.Node.Names(), d.Dictionary.Node.Names()) ||
			!reflect.DeepEqual(got.Labels, d.Labels) || !reflect.DeepEqual(got.Offsets, d.Offsets) {
			t.Fatalf("%+v\nwant %+v", got, d)
		}
	})
}

func TestWriteCRFsuite(t *testing.T) {
	d := &structured.Dataset{
		Name: "x", Offsets: []int{0, 2, 3}, Labels: []int32{1, 0, 0}, Alphabet: structured.NewAlphabet("O", "B:x"),
		Weights:    []float64{1, 0.5},
		Attributes: &structured.Sparse{Offsets: []int{0, 2, 2, 3}, Index: []int32{0, 1, 1}, Value: []float32{1, -0.5, 1}},
		Dictionary: &structured.Dictionary{Node: structured.NewAlphabet(`a\b`, "U:c d")},
	}
	var text strings.Builder
	if err := WriteCRFsuite(&text, d); err != nil {
		t.Fatal(err)
	}
	if want := "B\\:x\ta\\\\b\tU\\:c d:-0.5\nO\n\n@weight:0.5\nO\tU\\:c d\n\n"; text.String() != want {
		t.Errorf("%q, want %q", text.String(), want)
	}
	text.Reset()
	d.Dictionary = &structured.Dictionary{HashBits: 4}
	if err := WriteCRFsuite(&text, d); err != nil || !strings.HasPrefix(text.String(), "B\\:x\t0\t1:-0.5\n") {
		t.Errorf("%q, %v", text.String(), err)
	}
	for _, test := range []struct {
		change func(d *structured.Dataset)
		want   string
	}{
		{func(d *structured.Dataset) { d.Attributes = nil }, "x: no attributes to write"},
		{func(d *structured.Dataset) { d.Labels = []int32{0, -1, 0} }, "x, example 0: position 1 has no gold label"},
		{func(d *structured.Dataset) { d.EdgeAttributes = &structured.Sparse{Index: []int32{0}} }, "x: attributes of steps"},
		{func(d *structured.Dataset) { d.Alphabet = structured.NewAlphabet("O", "a\tb") },
			`x: label "a\tb" cannot stand in an attribute file`},
		{func(d *structured.Dataset) {
			d.Dictionary = &structured.Dictionary{Node: structured.NewAlphabet("a", "b\n")}
		}, `x: attribute "b\n" cannot stand`},
	} {
		changed := *d
		test.change(&changed)
		if err := WriteCRFsuite(&text, &changed); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}
