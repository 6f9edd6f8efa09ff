package arcs

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// Rows are those of trees.SiblingRows: the ones that a tree uses have attributes that were counted in it, and rows of other tags have none.
func TestSiblingRows(t *testing.T) {
	tags, heads := []string{"D", "N", "A", "V", "P"}, []int32{1, 3, 1, 3, 3} // from 0; the root's dependent is its own head
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
