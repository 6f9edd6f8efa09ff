package branching

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles/factors"
)

// Where costs spread over powers of ten, as those of interference among frequencies do, blocks alone end in assignments that none of them leaves. The best
// assignment keeps improving all the same.
func TestKeepsImproving(t *testing.T) {
	for _, seed := range []uint64{1, 3} {
		const variables, states = 60, 12
		r, m := rand.New(rand.NewPCG(seed, 6)), &factors.Model{}
		for range variables {
			m.States = append(m.States, states)
		}
		for range 6 * variables {
			u := r.IntN(variables)
			f := factors.Factor{Scope: []int{u, (u + 1 + r.IntN(variables-1)) % variables}, Table: make([]float64, states*states)}
			cost, apart := []float64{1, 10, 100, 1000}[r.IntN(4)], 1+r.IntN(6)
			for i := range states {
				for j := range states {
					if i-j < apart && j-i < apart {
						f.Table[i*states+j] = -cost
					}
				}
			}
			m.Factors = append(m.Factors, f)
		}
		h := newNeighbourhood(newNetwork(m), rand.New(rand.NewPCG(seed, 1)), make([]int, variables))
		best, early := h.value, h.value
		for work := 0; work < 1<<24; {
			if h.stuck() {
				h.kick()
			}
			_, spent := h.step()
			if best = max(best, h.value); work < 1<<22 {
				early = best
			}
			work += spent
		}
		if best <= early {
			t.Errorf("seed %d: %d early, and %d in the end", seed, early, best)
		}
	}
}

// Beside all work on the bound neighbourhoods have as much work, and less after long without an improvement, so that they go on until the end.
func TestShareOfNeighbourhoods(t *testing.T) {
	solver := func(variables int) *Solver {
		v := New(hard(variables), Settings{Seed: 1})
		v.stop, v.report = never, func(*Answer) {}
		v.near = newNeighbourhood(v.whole, v.r, make([]int, variables))
		return v
	}
	v := solver(30)
	tried := func(work int) (entries int) { // of neighbourhoods
		before, value := v.since, v.value
		v.share(work)
		if v.value > value {
			t.Fatal("the states improve, which is not what is counted")
		}
		return v.since - before
	}
	for v.since < turn { // until nothing is better
		v.share(turn)
	}
	v.since, v.owed = 0, 0
	if got := tried(turn - 1); got != 0 || v.owed != turn-1 {
		t.Errorf("a part of a turn: %d entries, %d owed", got, v.owed)
	}
	if got := tried(1); got < turn || v.owed != 0 {
		t.Errorf("a turn: %d entries, %d owed", got, v.owed)
	}
	v.since = hopeful*firstBlocks*(64+v.whole.entries()) + 1
	if got := tried(turn); got != 0 {
		t.Errorf("long without an improvement: %d entries", got)
	}
	if got := tried((seldom - 1) * turn); got < turn {
		t.Errorf("%d turns later: %d entries", seldom, got)
	}
	// Both searches for the bound share.
	v = solver(60)
	n := v.whole
	v.kept = make([][]int, len(n.states))
	for i, states := range n.states {
		for s := range states {
			v.kept[i] = append(v.kept[i], s)
		}
	}
	v.owed, v.since = 0, 0
	newBestFirst(v, n.clone(), 1<<20).run(turn / 2)
	if v.owed+v.since == 0 {
		t.Error("best-first search shares nothing")
	}
	v.tree = newTree(n.clone(), order(n, v.r, v.stop))
	b := newBuckets(v.tree, 4, v.stop)
	v.owed, v.since = 0, 0
	v.search(b, newMemory(ways), []*component{{root: len(v.tree.parent) - 1, bound: widest}}, 4*pollEvery)
	if v.owed+v.since < nodeBlocks*pollEvery {
		t.Errorf("branch and bound shares %d", v.owed+v.since)
	}
}
