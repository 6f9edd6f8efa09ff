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
