package structured

import "testing"

// What is derived from a graph is derived once for each type.
func TestDerived(t *testing.T) {
	type degrees struct{ sum int }
	type length struct{ n int }
	g, calls := &Graph{Ends: [][2]int32{{0, 1}, {1, 2}}}, 0
	for range 2 {
		d := Derived(g, func(g *Graph) *degrees { calls++; return &degrees{2 * len(g.Ends)} })
		l := Derived(g, func(g *Graph) *length { calls++; return &length{len(g.Ends)} })
		if d.sum != 4 || l.n != 2 {
			t.Errorf("degrees %d, length %d", d.sum, l.n)
		}
	}
	if calls != 2 {
		t.Errorf("derived %d times, want 2", calls)
	}
}
