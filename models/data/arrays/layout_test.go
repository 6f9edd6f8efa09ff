package arrays

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// unicode returns the elements of an array of NumPy's Unicode strings of one character each.
func unicode(text string) []uint32 {
	var cells []uint32
	for _, r := range text {
		cells = append(cells, uint32(r))
	}
	return cells
}

func TestChainsOfEveryLayoutAreTheSame(t *testing.T) {
	want := &structured.Dataset{
		Name: "x", Offsets: []int{0, 2, 2, 3}, Labels: []int32{1, 0, 1}, Alphabet: structured.NewAlphabet("n", "y"),
		Features: []float32{1, 2, 3, 4, 5, 6}, Dim: 2, Columns: [][]string{{"a", "b", "c"}}, ColumnNames: []string{"word"},
	}
	padded := [2]any{"<f4;False;3, 2, 2", []float32{1, 2, 3, 4, 9, 9, 9, 9, 5, 6, 9, 9}}
	words := [2]any{"<U1;False;3, 2", unicode("abzzcz")}
	mask := [2]any{"|b1;False;3, 2", []uint8{1, 1, 0, 0, 1, 0}}
	lengths := [2]any{"<i8;False;3,", []int64{2, 0, 1}}
	flat := map[string][2]any{
		"features": {"<f4;False;3, 2", []float32{1, 2, 3, 4, 5, 6}}, "lengths": lengths,
		"words":  {"<U1;False;3,", unicode("abc")},
		"labels": {"<U1;False;3,", unicode("yny")},
	}
	for name, arrays := range map[string]map[string][2]any{
		"flat": flat,
		"padded with lengths": {"features": padded, "lengths": lengths, "words": words,
			"labels": {"<U1;False;3, 2", unicode("yn??y?")}},
		"padded with mask": {"features": padded, "mask": mask, "words": words,
			"labels": {"<U1;False;3, 2", unicode("yn??y?")}},
		"padded with both": {"features": padded, "mask": mask, "lengths": lengths, "words": words,
			"labels": {"<U1;False;3, 2", unicode("yn??y?")}},
		"numbers, named": {"features": padded, "mask": mask, "words": words,
			"labels": {"<i4;False;3, 2", []int32{1, 0, -1, -1, 1, -1}}, "label_names": {"<U1;False;2,", unicode("ny")}},
		"strings, named": {"features": padded, "mask": mask, "words": words,
			"labels": {"<U1;False;3, 2", unicode("yn??y?")}, "label_names": {"<U1;False;2,", unicode("ny")}},
		"flat, masked positions": {"features": {"<f4;False;5, 2", []float32{1, 2, 7, 7, 3, 4, 8, 8, 5, 6}},
			"lengths": {"<i8;False;3,", []int64{3, 1, 1}}, "words": {"<U1;False;5,", unicode("azbzc")},
			"labels": {"<U1;False;5,", unicode("yxnxy")}, "mask": {"<i8;False;5,", []int64{1, 0, 1, 0, 1}}},
	} {
		got, err := readDense(t, Dense{}, rawNPZ(t, arrays))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	known := structured.NewAlphabet("y", "maybe", "n")
	if got, err := readDense(t, Dense{Alphabet: known}, rawNPZ(t, flat)); err != nil ||
		!reflect.DeepEqual(got.Labels, []int32{0, 2, 0}) {
		t.Errorf("strings in a known alphabet: %+v, %v", got, err)
	}
}

func TestLayoutErrors(t *testing.T) {
	padded := [2]any{"<f4;False;2, 2, 1", []float32{1, 2, 3, 4}}
	lengths := [2]any{"|i1;False;2,", []int8{2, 1}}
	for message, change := range map[string]map[string][2]any{
		"no array lengths and no array mask":               {},
		"lengths[1] is 3, expected at most 2":              {"lengths": {"|i1;False;2,", []int8{2, 3}}},
		"lengths has 1 entries, expected 2, one per chain": {"lengths": {"|i1;False;1,", []int8{2}}},
		"mask has shape [4], expected [chains × longest]":  {"mask": {"|b1;False;4,", []uint8{1, 1, 1, 1}}},
		"mask has shape [2 1], expected [2 2]":             {"mask": {"|b1;False;2, 1", []uint8{1, 1}}},
		"lengths and mask leave no position":               {"mask": {"|b1;False;2, 2", []uint8{0, 0, 0, 0}}},
		"labels has shape [2], expected [chains × longest]": {"lengths": lengths,
			"labels": {"|i1;False;2,", []int8{2, 1}}},
		"labels[1] is empty, expected a label": {"lengths": lengths,
			"labels": {"<U1;False;2, 2", unicode("a\x00cd")}},
		`labels[2] is "c", which is not one of the known ones: a`: {"lengths": lengths,
			"labels": {"<U1;False;2, 2", unicode("aac?")}, "label_names": {"<U1;False;1,", unicode("a")}},
		"labels holds Python objects, expected integers or string": {"lengths": lengths,
			"labels": {"|O;False;2, 2", []uint8{1}}},
		"features is in Fortran order, expected C order": {"features": {"<f4;True;2, 2, 1", []float32{1, 2, 3, 4}}},
		"labels is in Fortran order, expected C order": {"lengths": lengths,
			"labels": {"|i1;True;2, 2", []int8{0, 0, 1, 1}}},
	} {
		arrays := map[string][2]any{"features": padded}
		for name, a := range change {
			arrays[name] = a
		}
		_, err := readDense(t, Dense{}, rawNPZ(t, arrays))
		if err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), message) {
			t.Errorf("got %v, want %q", err, message)
		}
	}
}

func TestGraphsWithNamedAndMaskedLabels(t *testing.T) {
	file := rawNPZ(t, map[string][2]any{
		"node_features": {"<f4;False;4, 1", []float32{1, 2, 3, 4}}, "sizes": {"<i8;False;1, 2", []int64{4, 1}},
		"edges": {"<i8;False;1, 2", []int64{0, 1}}, "labels": {"<U1;False;4,", unicode("ba\x00a")},
		"mask": {"|b1;False;4,", []uint8{1, 1, 1, 0}},
	})
	d, err := Graphs{}.Read(bytes.NewReader(file), "x")
	if err != nil || !reflect.DeepEqual(d.Labels, []int32{1, 0, -1, -1}) ||
		!reflect.DeepEqual(d.Alphabet.Names(), []string{"a", "b"}) || d.LabelSets == nil {
		t.Errorf("got %+v, %v", d, err)
	}
}
