package branching

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles/factors"
)

// A joined network has one assignment of the same value for each that its network allows, and none besides.
func TestJoin(t *testing.T) {
	settled, loops := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 9))
		m := draw(r, rapid.IntRange(2, 6).Draw(t, "variables"), true, 0.1)
		for range rapid.IntRange(0, 4).Draw(t, "functions") {
			u, v := r.IntN(len(m.States)), r.IntN(len(m.States))
			if u == v {
				continue
			}
			f := factors.Factor{Scope: []int{u, v}}
			to := make([]int, m.States[u])
			for i := range to {
				to[i] = r.IntN(m.States[v] + 1) // the last forbids i
			}
			for i := range m.States[u] {
				for j := range m.States[v] {
					x := math.Inf(-1)
					if to[i] == j {
						x = float64(r.IntN(3))
					}
					f.Table = append(f.Table, x)
				}
			}
			m.Factors = append(m.Factors, f)
		}
		n := newNetwork(m)
		j := join(n)
		settled += len(j.steps)
		if len(j.steps) > 1 {
			loops++
		}
		for _, left := range j.of.tables {
			if len(left.scope) != 2 {
				continue
			}
			m, n := j.of.states[left.scope[0]], j.of.states[left.scope[1]]
			rows, columns := make([]int, m), make([]int, n) // allowed entries
			for k, x := range left.value {
				if x != forbidden {
					rows[k/n]++
					columns[k%n]++
				}
			}
			if m <= n && n > 1 && slices.Max(rows) <= 1 || n <= m && m > 1 && slices.Max(columns) <= 1 {
				t.Fatalf("the table of %v is left, whose variables settle each other", left.scope)
			}
		}
		values := map[int64]int{}
		assignments(n.states, func(at []int) { values[n.value(at)]++ })
		delete(values, forbidden)
		assignments(j.of.states, func(at []int) {
			value := j.of.value(at)
			if value == forbidden {
				return
			}
			if got := n.value(j.all(at)); got != value {
				t.Fatalf("%v of value %d stands for %v of value %d", at, value, j.all(at), got)
			}
			values[value]--
		})
		for value, count := range values {
			if count != 0 {
				t.Fatalf("%d assignments of value %d are missing", count, value)
			}
		}
	})
	if settled == 0 || loops == 0 {
		t.Errorf("%d variables were settled, several in %d networks", settled, loops)
	}
}
