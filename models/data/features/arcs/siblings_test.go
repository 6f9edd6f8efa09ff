package arcs

import (
	"maps"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// Rows are those of trees.SiblingRows: the ones that a tree uses have attributes that were counted in it, and rows of
// other tags have none.
func TestSiblingRows(t *testing.T) {
	// from 0; the root's dependent is its own head
	tags, heads := []string{"D", "N", "A", "V", "P"}, []int32{1, 3, 1, 3, 3}
	numbers, err := FitSiblings(tags, []int{0, 5}, heads, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := 4 * siblingAttributes; numbers.Len() != want {
		t.Fatalf("%d attributes of four words with heads, want %d", numbers.Len(), want)
	}
	x := &structured.Sparse{Offsets: []int{0}}
	AppendSiblings(numbers, tags, x)
	if rows := len(x.Offsets) - 1; rows != trees.Siblings(5) {
		t.Fatalf("%d rows, want %d", rows, trees.Siblings(5))
	}
	var seen []int32
	trees.EachSibling([]int32{2, 4, 2, 0, 4}, func(row int) {
		index, _ := x.Row(row)
		if len(index) != siblingAttributes {
			t.Errorf("row %d has attributes %v", row, index)
		}
		seen = append(seen, index...)
	})
	slices.Sort(seen)
	if seen = slices.Compact(seen); len(seen) != numbers.Len() {
		t.Errorf("the tree has %d of its %d attributes", len(seen), numbers.Len())
	}
	other := &structured.Sparse{Offsets: []int{0}}
	AppendSiblings(numbers, []string{"X", "Y", "Z"}, other)
	if len(other.Index) != 0 {
		t.Errorf("other tags have attributes %v", other.Index)
	}
}

// Distances from a sibling to the next are alike up to 1, 2, 4, 8 and beyond: models that are saved have weights of
// these.
func TestDistancesOfSiblings(t *testing.T) {
	tags := make([]uint64, 20)
	classes := map[[siblingAttributes]uint64][]int{}
	for d := 2; d < 14; d++ {
		hashes := siblingHashes(tags, 0, 1, d)
		classes[hashes] = append(classes[hashes], d-1)
	}
	want := [][]int{{1}, {2}, {3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}
	got := slices.SortedFunc(maps.Values(classes), func(a, b []int) int { return a[0] - b[0] })
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("classes %v, expected %v", got, want)
	}
}
