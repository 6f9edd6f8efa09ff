package branching

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// drawnBestFirst draws a network for best-first search from its root, with a limit of the entries of a dive.
func drawnBestFirst(t *rapid.T) *bestFirst {
	m := drawn(t)
	v := New(m, Settings{Seed: 1})
	v.stop, v.report = never, func(*Answer) {}
	for _, n := range v.whole.states {
		states := make([]int, n)
		for s := range states {
			states[s] = s
		}
		v.kept = append(v.kept, states)
	}
	return newBestFirst(v, v.whole.clone(), float64(rapid.SampledFrom([]int{64, 1 << 20}).Draw(t, "entries")))
}

// In slices of any length, best-first search finds the best value, and its bound is one all the while.
func TestBestFirst(t *testing.T) {
	reopened := 0
	rapid.Check(t, func(t *rapid.T) {
		h := drawnBestFirst(t)
		want := best(h.whole)
		work := rapid.SampledFrom([]int{1, 1000, 1 << 30}).Draw(t, "work")
		for h.run(work) {
			if h.upper < want || h.value > want {
				t.Fatalf("value %d, bound %d, best %d", h.value, h.upper, want)
			}
			reopened += len(h.open)
		}
		if h.upper < want || h.value > want || len(h.open) == 0 && h.value != want {
			t.Fatalf("value %d, bound %d, best %d, %d nodes are open", h.value, h.upper, want, len(h.open))
		}
		if h.most > 1000 && !h.proven() {
			t.Fatalf("no proof: value %d, bound %d, best %d, %d nodes are open", h.value, h.upper, want, len(h.open))
		}
	})
	if reopened == 0 {
		t.Error("no node was left open between slices")
	}
}

// A node's network is the root's without the states that its decisions exclude.
func TestReopen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawnBestFirst(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "decisions"), 0))
		alive := make([][]bool, len(h.root.states))
		for v, n := range h.root.states {
			for range n {
				alive[v] = append(alive[v], true)
			}
		}
		at := node{}
		for range rapid.IntRange(0, 6).Draw(t, "depth") {
			if len(alive) == 0 {
				break
			}
			v := r.IntN(len(alive))
			s, exclude := r.IntN(len(alive[v])), r.IntN(2) == 0
			at.decision = &decision{at.decision, v, s, exclude}
			for i := range alive[v] {
				alive[v][i] = alive[v][i] && (i == s) != exclude
			}
		}
		want := int64(forbidden)
		assignments(h.root.states, func(states []int) {
			for v, s := range states {
				if !alive[v][s] {
					return
				}
			}
			want = max(want, h.root.value(states))
		})
		got := int64(forbidden)
		if small, _ := h.reopen(at); small != nil {
			got = best(small)
		}
		if got != want {
			t.Fatalf("the best value is %d, want %d", got, want)
		}
	})
}

// Passes with a floor keep every assignment above it, with its value.
func TestFloor(t *testing.T) {
	excluded := 0
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(drawn(t))
		top := best(n)
		if top == forbidden {
			return
		}
		m := newMessages(n.clone())
		m.floor = top - int64(rapid.SampledFrom([]float64{1, 1e13, 1e14, 1e15}).Draw(t, "below"))
		for range rapid.IntRange(1, 4).Draw(t, "passes") {
			m.above = m.bound()
			m.pass()
		}
		if m.bound() < top {
			t.Fatalf("bound %d, best %d, floor %d", m.bound(), top, m.floor)
		}
		for _, own := range m.own {
			for _, x := range own {
				if x == forbidden {
					excluded++
				}
			}
		}
		m.end()
		assignments(n.states, func(at []int) {
			if a, b := n.value(at), m.value(at); a > m.floor && a != b || b != forbidden && a != b {
				t.Fatalf("the value of %v was %d and is %d; floor %d", at, a, b, m.floor)
			}
		})
	})
	if excluded == 0 {
		t.Error("no state was excluded")
	}
}

// Each variable in turn takes a state whose bound is best, given those before it.
func TestDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMessages(newNetwork(drawn(t)))
		states := m.decode()
		for v := range states {
			bound := func(s int) int64 {
				sum := m.own[v][s]
				for k := range m.tables {
					scope, most, member := m.tables[k].scope, int64(forbidden), false
					for _, u := range scope {
						member = member || u == v
					}
					if !member {
						continue
					}
					assignments(m.states, func(at []int) {
						entry := 0
						for _, u := range scope {
							if u == v && at[u] != s || u < v && at[u] != states[u] {
								return
							}
							entry = entry*m.states[u] + at[u]
						}
						most = max(most, m.tables[k].value[entry])
					})
					sum = plus(sum, most)
				}
				return sum
			}
			for s := range m.states[v] {
				if bound(s) > bound(states[v]) {
					t.Fatalf("variable %d takes state %d of bound %d; state %d has %d", v, states[v], bound(states[v]), s, bound(s))
				}
			}
		}
	})
}
