package trees_test

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured/trees"
)

// Rows of siblings are numbered one after the other, by dependent, head, and the word before.
func TestSiblingRows(t *testing.T) {
	for n := range 9 {
		next := 0
		for d := range n {
			for h := range n {
				if h == d {
					continue
				}
				if got := trees.SiblingRow(n, d, h); got != next {
					t.Fatalf("%d words: the rows of dependent %d with head %d begin at %d, want %d", n, d, h, got, next)
				}
				next += max(d-h, h-d)
			}
		}
		if got := trees.Siblings(n); got != next {
			t.Errorf("%d words have %d rows, want %d", n, got, next)
		}
	}
}

// A tree uses the rows of its neighbouring dependents on each side of their head.
func TestEachSibling(t *testing.T) {
	// 2 ← 0 root, 1 and 3 and 5 depend on 2 (counted from 1), 4 on 5.
	heads := []int32{2, 0, 2, 5, 2}
	var got []int
	trees.EachSibling(heads, func(row int) { got = append(got, row) })
	want := []int{
		trees.SiblingRow(5, 2, 1),         // 3 is the first to the right of 2
		trees.SiblingRow(5, 4, 1) + 2 - 1, // 5 follows 3
		trees.SiblingRow(5, 3, 4),         // 4 is the first to the left of 5
		trees.SiblingRow(5, 0, 1),
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
}
