package engine

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Shards hold all examples, in order. They have as many as the limits allow: on positions, and on the rows of each
// table.
func TestShards(t *testing.T) {
	d := &structured.Dataset{Offsets: []int{0}, Tables: []*structured.Table{{Name: "pair", Offsets: []int{0}}}}
	for _, n := range []int{10, 20, 40, 50, 3, 70, 1, 30, 30, 30, 30, 30, 5} {
		d.Offsets = append(d.Offsets, d.Offsets[len(d.Offsets)-1]+n)
		x := d.Tables[0]
		x.Offsets = append(x.Offsets, x.Offsets[len(x.Offsets)-1]+n*n)
	}
	want := [][]int{{0, 1, 2}, {3, 4}, {5}, {6, 7, 8, 9, 10}, {11, 12}}
	if got := cutIntoShards(d, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("by rows: %v, want %v", got, want)
	}
	for k := range d.Offsets {
		d.Tables[0].Offsets[k] = d.Offsets[k]
		d.Offsets[k] *= 10
	}
	want = [][]int{{1, 0}, {2}, {3}, {4}, {5}, {6, 7}}
	if got := cutIntoShards(d, []int{1, 0, 2, 3, 4, 5, 6, 7}); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("by positions: %v, want %v", got, want)
	}
}
