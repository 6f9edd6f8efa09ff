// Package treestest draws dependency trees for tests.
package treestest

import "pgregory.net/rapid"

// DrawHeads draws the heads of a tree of at most that many words: words in random order, each attached to an earlier
// one.
func DrawHeads(t *rapid.T, most int) []int32 {
	n := rapid.IntRange(1, most).Draw(t, "n")
	order := make([]int32, n)
	for k := range order {
		order[k] = int32(k + 1)
	}
	order = rapid.Permutation(order).Draw(t, "order")
	heads := make([]int32, n)
	for k, w := range order[1:] {
		heads[w-1] = order[rapid.IntRange(0, k).Draw(t, "head")]
	}
	return heads
}
