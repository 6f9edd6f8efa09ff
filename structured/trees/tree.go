package trees

import (
	"fmt"
	"slices"
	"strings"
)

// Tree is the dependency tree of a sentence of n words.
type Tree struct {
	Heads     []int32 // [n] 0 for the root, else 1…n
	Relations []int32 // [n] indices into an alphabet of relation names
}

// FromOutput returns the tree of an output: n heads followed by n relations. It shares memory with output.
func FromOutput(output []int32) Tree {
	n := len(output) / 2
	return Tree{Heads: output[:n:n], Relations: output[n : 2*n : 2*n]}
}

// Output returns the n heads followed by the n relations.
func (t Tree) Output() []int32 { return slices.Concat(t.Heads, t.Relations) }

// Len returns n, the number of words.
func (t Tree) Len() int { return len(t.Heads) }

// Root returns the number of the first word whose head is 0, or 0 if there is none.
func Root(heads []int32) int { return slices.Index(heads, 0) + 1 }

// NotTree is the error for heads that do not form a tree.
type NotTree struct {
	Index           int // of the first offending word, from 0
	Found, Expected string
}

func (e *NotTree) Error() string { return e.Found + ", expected " + e.Expected }

// Check returns nil if heads [n] form a tree with exactly one root, else a *NotTree. A sentence without words is a
// valid tree.
func Check(heads []int32) error {
	n := len(heads)
	root := -1
	for t, h := range heads {
		switch {
		case h < 0 || int(h) > n:
			return &NotTree{t, fmt.Sprintf("head %d of word %d", h, t+1), HeadRange(n)}
		case int(h) == t+1:
			return &NotTree{t, fmt.Sprintf("word %d is its own head", t+1), "another word, or 0 for the root"}
		case h == 0 && root >= 0:
			return &NotTree{t, fmt.Sprintf("word %d is a second root beside word %d", t+1, root+1),
				"exactly one word with head 0"}
		case h == 0:
			root = t
		}
	}
	if root < 0 && n > 0 {
		return &NotTree{0, "no word has head 0", "exactly one word with head 0"}
	}
	if cycle := findCycle(heads); cycle != nil {
		return &NotTree{int(cycle[0]) - 1, "the heads form a cycle " + arrows(cycle), "a tree"}
	}
	return nil
}

// HeadRange says which heads a sentence of n words can have, as part of an error.
func HeadRange(n int) string {
	return fmt.Sprintf("0 for the root or the number of a word, 1 to %d", n)
}

// findCycle returns the words of a cycle in the order of their heads, starting with the smallest, or nil. It takes
// O(n).
func findCycle(heads []int32) []int32 {
	visit := make([]int32, len(heads)+1) // number of the walk that first reached a word, 0 for none
	for start := range heads {
		walk := int32(start + 1)
		w := walk
		for w != 0 && visit[w] == 0 {
			visit[w] = walk
			w = heads[w-1]
		}
		if w == 0 || visit[w] != walk {
			continue
		}
		cycle := []int32{w}
		for v := heads[w-1]; v != w; v = heads[v-1] {
			cycle = append(cycle, v)
		}
		first := slices.Index(cycle, slices.Min(cycle))
		return slices.Concat(cycle[first:], cycle[:first])
	}
	return nil
}

// arrows formats a cycle, shortened if it is long: "3 → 5 → 3".
func arrows(cycle []int32) string {
	const most = 8
	var b strings.Builder
	for k, w := range cycle {
		if k == most {
			b.WriteString("… → ")
			break
		}
		fmt.Fprintf(&b, "%d → ", w)
	}
	fmt.Fprint(&b, cycle[0])
	return b.String()
}
