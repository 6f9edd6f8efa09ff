package models

import (
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
)

// A model may read steps or whole segments alone; its data are not strange then.
func TestKnownAttributes(t *testing.T) {
	none := &structured.Sparse{Offsets: []int{0, 0}}
	two := &structured.Sparse{Offsets: []int{0, 2}, Index: []int32{3, 3}}
	for _, c := range []struct {
		name string
		d    *structured.Dataset
		want int
	}{
		{"dense", &structured.Dataset{}, 0},
		{"none", &structured.Dataset{Attributes: none}, 0},
		{"positions", &structured.Dataset{Attributes: two}, 2},
		{"steps", &structured.Dataset{Attributes: none, EdgeAttributes: two}, 2},
		{"segments", &structured.Dataset{Attributes: none, Tables: []*structured.Table{{Name: segments.Rows, Attributes: two}}}, 2},
		{"dense rows of segments", &structured.Dataset{Attributes: two, Tables: []*structured.Table{{Name: segments.Rows}}}, 2},
	} {
		if got := knownAttributes(c.d); got != c.want {
			t.Errorf("%s: %d attributes, expected %d", c.name, got, c.want)
		}
	}
}

// Of several files to predict some may have labels, and others not.
func TestReadFilesOfWhichSomeHaveLabels(t *testing.T) {
	m, _ := attributeModel(t, textConfig(file(t, "train.conll", trainConll)))
	known, unknown := file(t, "known.conll", "the DT O\ndog NN B-X\n"), file(t, "unknown.conll", "the DT ?\ndog NN ?\n")
	for _, paths := range []string{known + "," + unknown, unknown + "," + known} {
		d, err := m.ReadData(Request{Path: paths})
		if err != nil || d.Len() != 2 || d.Labels != nil {
			t.Errorf("%v: %+v", err, d)
		}
		if _, err := m.ReadData(Request{Path: paths, Labels: true}); !structured.IsBadInput(err) {
			t.Errorf("labels that are needed: %v", err)
		}
	}
	if d, err := m.ReadData(Request{Path: known + "," + file(t, "more.conll", "a DT O\n")}); err != nil || d.Labels == nil {
		t.Errorf("labels that all have: %v", err)
	}
}
