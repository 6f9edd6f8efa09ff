package branching

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// assignments calls f with every assignment.
func assignments(states []int, f func(at []int)) {
	at := make([]int, len(states))
	for {
		f(at)
		v := 0
		for ; v < len(at); v++ {
			if at[v]++; at[v] < states[v] {
				break
			}
			at[v] = 0
		}
		if v == len(at) {
			return
		}
	}
}

func best(n *network) int64 {
	most := int64(forbidden)
	assignments(n.states, func(at []int) { most = max(most, n.value(at)) })
	return most
}

// Messages change no assignment's value, but for states that they find to be forbidden, and their bound is one.
func TestMessagesKeepValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(drawn(t))
		m := newMessages(n.clone())
		for range rapid.IntRange(0, 5).Draw(t, "passes") {
			before := m.bound()
			if m.pass(); m.bound() > before+1000 { // shares are whole numbers: some units stay behind
				t.Fatalf("a pass raises the bound from %d to %d", before, m.bound())
			}
		}
		bound, top := m.bound(), best(n)
		if bound < top {
			t.Fatalf("bound %d, best value %d", bound, top)
		}
		m.end()
		assignments(n.states, func(at []int) {
			if a, b := n.value(at), m.value(at); a != b {
				t.Fatalf("the value of %v was %d and is %d", at, a, b)
			}
		})
	})
}

// The states that stay have the best assignment if it is above the value that is known, with its value.
func TestReductionsKeepTheBest(t *testing.T) {
	removed := 0
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(drawn(t))
		m := newMessages(n.clone())
		for range rapid.IntRange(0, 5).Draw(t, "passes") {
			m.pass()
		}
		top := best(n)
		known := top - int64(rapid.SampledFrom([]float64{1, 1e12, 1e15}).Draw(t, "below"))
		if top == forbidden {
			known = forbidden
		}
		alive := m.alive(known)
		removed += m.dominated(alive)
		for _, of := range alive {
			for _, yes := range of {
				if !yes {
					removed++
				}
			}
		}
		m.end()
		small, kept := m.keep(alive)
		got := int64(forbidden)
		if kept == nil {
			if top > known {
				t.Fatalf("no state stays, but there is an assignment of %d, above %d", top, known)
			}
			return
		}
		assignments(small.states, func(at []int) {
			whole := make([]int, len(at))
			for v, s := range at {
				whole[v] = kept[v][s]
			}
			if a, b := small.value(at), n.value(whole); a != b {
				t.Fatalf("%v has the value %d in the small network and %d in the whole one", whole, a, b)
			}
			got = max(got, small.value(at))
		})
		if top > known && got != top {
			t.Fatalf("the best value was %d and is %d; known was %d", top, got, known)
		}
	})
	if removed == 0 {
		t.Error("no state was removed")
	}
}

// searching draws a network, and makes a search over a random order of elimination with small buckets.
func searching(t *rapid.T) (*network, *search) {
	n := newNetwork(drawn(t))
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
	tree := newTree(n, r.Perm(len(n.states)))
	b := newBuckets(tree, rapid.SampledFrom([]float64{1, 4, 16, 64, 1e6}).Draw(t, "entries"), never)
	return n, newSearch(b, newMemory(rapid.SampledFrom([]int{4, 64, 1 << 12}).Draw(t, "slots")), func(int) bool {
		return false
	})
}

// below returns the best value of the subtree of i, given the states of the variables above it.
func below(s *search, i int) int64 {
	most := int64(forbidden)
	for state := range s.buckets.states[i] {
		s.states[i] = state
		sum := int64(0)
		for _, f := range s.tables[i] {
			sum = plus(sum, f.at(s.states))
		}
		for _, c := range s.children[i] {
			sum = plus(sum, below(s, c))
		}
		most = max(most, sum)
	}
	return most
}

// Whatever the states above, buckets bound every subtree, and are its value where they say so.
func TestBucketsBound(t *testing.T) {
	split := 0
	rapid.Check(t, func(t *rapid.T) {
		n, s := searching(t)
		top := s.fixed
		for i, p := range s.parent {
			if p < 0 {
				top = plus(top, below(s, i))
			}
		}
		if want := best(n); top != want {
			t.Fatalf("the tree's best value is %d, the network's %d", top, want)
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "states"), 0))
		for range 10 {
			above := make([]int, len(s.states))
			for i, k := range s.buckets.states {
				above[i] = r.IntN(k)
			}
			for i := range above {
				copy(s.states, above)
				value := below(s, i)
				copy(s.states, above)
				bound := s.bound(i)
				if bound < value || s.exact[i] && bound != value {
					t.Fatalf("variable %d given %v: bound %d, value %d, exact %v", i, above, bound, value, s.exact[i])
				}
				if !s.exact[i] {
					split++
				}
			}
		}
	})
	if split == 0 {
		t.Error("no bucket was split")
	}
}

// The search answers every question right: the value where it is above need, else a bound that is not; and its
// assignment has the value.
func TestSearchAnswers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, s := searching(t)
		for i, p := range s.parent {
			if p >= 0 {
				continue
			}
			want := below(s, i)
			for range 5 {
				need := want + int64(rapid.SampledFrom([]float64{-1e16, -1e14, -1, 0, 1, 1e14, 1e16}).Draw(t, "need"))
				if want == forbidden {
					need = forbidden
				}
				got, found := s.solve(i, need)
				if found != (want > need) || found && got != want || !found && (got > need || got < want) {
					t.Fatalf("the value is %d; above %d? %v, %d", want, need, found, got)
				}
			}
			if want == forbidden {
				continue
			}
			if !s.assign(i, want) {
				t.Fatal("stopped")
			}
			if got := valueBelow(s, i); got != want {
				t.Fatalf("the assignment has the value %d, want %d", got, want)
			}
		}
	})
}

// valueBelow returns the value of the states of a subtree.
func valueBelow(s *search, i int) int64 {
	sum := int64(0)
	for _, f := range s.tables[i] {
		sum = plus(sum, f.at(s.states))
	}
	for _, c := range s.children[i] {
		sum = plus(sum, valueBelow(s, c))
	}
	return sum
}

// With enough discrepancies a dive finds the best assignment; what it tells is the value.
func TestDive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, s := searching(t)
		start := s.fixed
		for i, p := range s.parent {
			if p < 0 {
				start = plus(start, s.bound(i))
			}
		}
		value, nodes := int64(forbidden), 1<<30
		told := func() {
			states := make([]int, len(n.states))
			for i, v := range s.original {
				states[v] = s.states[i]
			}
			if got := n.value(states); got != value {
				t.Fatalf("%v has the value %d, told as %d", states, got, value)
			}
		}
		for d := range 2 {
			s.dive(len(n.states)-1, start, d, &value, &nodes, told)
		}
		if s.dive(len(n.states)-1, start, 40, &value, &nodes, told); value != best(n) {
			t.Fatalf("dives found %d, the best is %d", value, best(n))
		}
	})
}

// A block's best states never lower the value, and a block of all variables finds the best assignment.
func TestNeighbourhoods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(drawn(t))
		if len(n.states) == 0 {
			return
		}
		h := newNeighbourhood(n, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "blocks"), 0)), make([]int, len(n.states)))
		for range 20 {
			before := h.value
			improved, work := h.step()
			if h.value < before || improved != (h.value > before) || work <= 0 {
				t.Fatalf("from %d to %d, improved %v, work %d", before, h.value, improved, work)
			}
			if got := n.value(h.states); got != forbidden && got != h.value {
				t.Fatalf("%v has the value %d, told as %d", h.states, got, h.value)
			}
		}
	})
}

// From an assignment that is forbidden, a block of all variables leads to the best one: a forbidden entry costs, and
// does not pay.
func TestNeighbourhoodLeavesForbidden(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		n := newNetwork(draw(r, rapid.IntRange(2, smallest).Draw(t, "variables"), false, 0.4))
		top, start := best(n), []int(nil)
		assignments(n.states, func(at []int) {
			if n.value(at) == forbidden {
				start = slices.Clone(at)
			}
		})
		if top == forbidden || start == nil {
			return
		}
		h := newNeighbourhood(n, r, start)
		for range 40 {
			h.step()
		}
		if got := n.value(h.states); got == forbidden {
			t.Fatalf("%v stays forbidden, the best assignment has %d", h.states, top)
		}
	})
}

// No order costs more than it says, and each variable is in it once.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(drawn(t))
		o := order(n, rand.New(rand.NewPCG(1, 1)), never)
		seen := make([]bool, len(n.states))
		for _, v := range o {
			if seen[v] {
				t.Fatalf("%v has %d twice", o, v)
			}
			seen[v] = true
		}
		if len(o) != len(n.states) {
			t.Fatalf("%v of %d variables", o, len(n.states))
		}
		tree := newTree(n, o)
		sum := 0.0
		for i := range o {
			sum += tree.entries(tree.context[i]) * float64(tree.states[i])
		}
		if e := entries(n, o); e != sum {
			t.Fatalf("order %v: %v entries, the tree has %v", o, e, sum)
		}
	})
}
