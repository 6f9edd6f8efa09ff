package branching

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles/factors"
)

// What is kept of the states agrees with the tables after any changes, and the best states are the best that the walk
// left.
func TestAnnealingKeepsSums(t *testing.T) {
	worse := 0
	rapid.Check(t, func(t *rapid.T) {
		n := newNetwork(drawn(t))
		if len(n.states) == 0 || n.fixed == forbidden {
			return
		}
		turnable := rapid.SampledFrom([]int{0, 1 << 20}).Draw(t, "turnable")
		a := newAnnealing(n, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "walk"), 0)), make([]int, len(n.states)), turnable)
		most := max(a.bestValue, n.value(a.best))
		for range 4 {
			broken := a.bestBroken
			a.step(1 << 13)
			if a.cold != 0 && a.temperature > a.cold {
				worse++
			}
			if got := counted(a, a.states); got != a.value {
				t.Fatalf("value %d, the tables' sum is %d", a.value, got)
			}
			for v, g := range a.gains {
				for s, gain := range g {
					if rest := counted(a, a.states) - a.gains[v][a.states[v]]; counted(a, with(a.states, v, s)) != rest+gain {
						t.Fatalf("state %d of variable %d: its tables sum up to %d in %v", s, v, gain, a.states)
					}
				}
			}
			if got := n.value(a.best); (got == forbidden) != (a.bestBroken > 0) || got != forbidden && got != a.bestValue {
				t.Fatalf("the best states %v have value %d, told as %d with %d forbidden entries", a.best, got,
					a.bestValue, a.bestBroken)
			}
			if got := counted(a, a.best); got != a.bestValue {
				t.Fatalf("the best states %v have value %d with forbidden entries at their price, told as %d", a.best, got,
					a.bestValue)
			}
			if broken == 0 && a.bestValue < most {
				t.Fatalf("the best value falls from %d to %d", most, a.bestValue)
			}
			if most = a.bestValue; n.value(a.states) != forbidden && n.value(a.states) > a.bestValue {
				t.Fatalf("%v is better than the best states", a.states)
			}
		}
		if len(a.free) == 0 {
			return
		}
		for range 256 { // the best states are kept before a change for the worse
			a.propose()
			most = max(most, n.value(a.states))
		}
		if a.leave(); a.bestBroken == 0 && a.bestValue < most {
			t.Fatalf("the walk met value %d, the best states have %d", most, a.bestValue)
		}
	})
	if worse == 0 {
		t.Error("no run was warmed up")
	}
}

func with(states []int, v, s int) []int {
	other := slices.Clone(states)
	other[v] = s
	return other
}

// counted returns the value of states where forbidden entries have a price.
func counted(a *annealing, states []int) int64 {
	sum := a.fixed
	for _, t := range a.tables {
		at := 0
		for _, v := range t.scope {
			at = at*a.network.states[v] + states[v]
		}
		x := t.value[at]
		if x == forbidden {
			x = math.MaxInt64
			for _, y := range t.value {
				if y != forbidden {
					x = min(x, y)
				}
			}
			if x == math.MaxInt64 {
				x = 0
			}
			x -= a.penalty
		}
		sum += x
	}
	return sum
}

// frequencies draws a network like those of radio links, and an assignment which is best by construction: links that
// are close keep apart, or cost 1 to 1000; some have equal frequencies up to a shift, by force. All of this the
// assignment fulfils. Besides, each of some triangles of links would have to keep apart by more than half of all
// states, so that one of three must be paid for: the assignment pays for the cheapest.
func frequencies(r *rand.Rand, links, states, apart, triangles int) (m *factors.Model, best []int, value float64) {
	m = &factors.Model{}
	for range links {
		m.States, best = append(m.States, states), append(best, r.IntN(states))
	}
	pair := func(u, v int, entry func(i, j int) float64) {
		f := factors.Factor{Scope: []int{u, v}}
		for i := range states {
			for j := range states {
				f.Table = append(f.Table, entry(i, j))
			}
		}
		m.Factors = append(m.Factors, f)
	}
	price := func() float64 { return math.Pow(10, float64(r.IntN(4))) }
	far := func(u, v, by int, cost float64) {
		pair(u, v, func(i, j int) float64 {
			if abs(i-j) < by {
				return -cost
			}
			return 0
		})
	}
	for u := 0; u+1 < links/4; u += 2 {
		pair(u, u+1, func(i, j int) float64 {
			if (j-i-best[u+1]+best[u])%states != 0 {
				return math.Inf(-1)
			}
			return 0
		})
	}
	for range apart {
		u, v := r.IntN(links), r.IntN(links)
		if u == v {
			continue
		}
		far(u, v, min(abs(best[u]-best[v]), 1+r.IntN(states/3)), price())
	}
	for triangles > 0 {
		at := r.Perm(links)[:3]
		if abs(best[at[0]]-best[at[1]]) <= states/2 || abs(best[at[1]]-best[at[2]]) <= states/2 {
			continue
		}
		costs := []float64{price(), price(), price()}
		slices.Sort(costs)
		for k, cost := range costs {
			far(at[(k+2)%3], at[k], states/2+1, cost)
		}
		value -= costs[0]
		triangles--
	}
	return m, best, value
}

func abs(x int) int { return max(x, -x) }

// Local search finds the best assignments of networks on which blocks alone, and changes of one variable alone, end in
// worse ones.
func TestLocalSearchFindsPlanted(t *testing.T) {
	for _, seed := range []uint64{1, 4, 5} {
		m, best, value := frequencies(rand.New(rand.NewPCG(seed, 8)), 40, 20, 240, 6)
		if got := m.Value(best); got != value {
			t.Fatalf("seed %d: the planted assignment has value %v, not %v", seed, got, value)
		}
		s := Settings{Entries: 1e6, Seed: seed}
		v := New(m, s)
		v.stop, v.report = never, func(*Answer) {}
		l := newLocal(v, s, make([]int, len(v.whole.states)))
		l.improve(1 << 25)
		if got := v.now("").Value; got != value {
			t.Errorf("seed %d: %v, the best value is %v", seed, got, value)
		}
	}
}

// A search for a proof that local search does not help any more is hardly delayed, and one that it helps as long again.
func TestBeside(t *testing.T) {
	m, s := hard(12), Settings{Entries: 1e6, Seed: 1}
	v := New(m, s)
	v.stop, v.report = never, func(*Answer) {}
	v.local = newLocal(v, s, make([]int, len(v.whole.states)))
	l := v.local
	if l.improve(1 << 16); l.fruitful == 0 || l.fruitful > l.all() {
		t.Errorf("the last improvement was at %d of %d entries", l.fruitful, l.all())
	}
	spent := func(work int) int {
		before := l.blocks + l.annealed
		for range 64 {
			l.beside(work / 64)
		}
		return l.blocks + l.annealed - before
	}
	spent(64 * l.fruitful) // the best is known long since
	const proof = 1 << 25
	if got := spent(proof); got < proof/unlucky/2 || got > proof/unlucky*2 {
		t.Errorf("%d entries of local search beside %d of a proof", got, proof)
	}
	whole := l.all()
	l.fruitful = whole
	equal := whole / 2 // of each, until all work has doubled
	if got, want := spent(2*whole), equal+(2*whole-equal)/unlucky; got < want*3/4 || got > want*5/4 {
		t.Errorf("%d entries of local search beside %d of a proof, after an improvement at %d; expected about %d",
			got, 2*whole, whole, want)
	}
}
