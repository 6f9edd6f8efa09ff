package branching

import (
	"testing"
)

// One pass of messages, forward and backward, in ns per entry of the network.
func BenchmarkPass(b *testing.B) {
	m := newMessages(newNetwork(hard(100)))
	size := m.entries()
	b.ReportAllocs()
	for b.Loop() {
		m.pass()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/entry")
}

// Best-first search from the root, in nodes per second.
func BenchmarkBestFirst(b *testing.B) {
	nodes := 0
	for b.Loop() {
		v := New(hard(60), Settings{Seed: 1})
		v.stop, v.report = never, func(*Answer) {}
		v.reduce(v.pass(v.whole.clone()), Settings{Entries: 1e6})
		v.best.run(1 << 24)
		nodes += v.answer.Nodes
	}
	b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "nodes/s")
}

// Branch and bound over small buckets, in nodes per second.
func BenchmarkSearch(b *testing.B) {
	nodes := 0
	for b.Loop() {
		n := newNetwork(hard(60))
		t := newTree(n, order(n, New(hard(60), Settings{Seed: 1}).r, never))
		s := newSearch(newBuckets(t, 1<<10, never), newMemory(1<<14), func(nodes int) bool { return nodes >= 1<<14 })
		for i, p := range t.parent {
			if p < 0 {
				s.solve(i, forbidden)
			}
		}
		nodes += s.nodes
	}
	b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "nodes/s")
}
