package junction

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles/factors"
)

// What orders are chosen by is, after every elimination, what counting anew gives; variables that are not reported did
// not change.
func TestInteractionCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		m := &factors.Model{}
		for range 2 + r.IntN(10) {
			m.States = append(m.States, 1+r.IntN(4))
		}
		for range r.IntN(20) {
			m.Factors = append(m.Factors, factors.Factor{Scope: r.Perm(len(m.States))[:min(1+r.IntN(4), len(m.States))]})
		}
		g := newInteraction(m, true)
		order := r.Perm(len(m.States))
		for k := 0; ; k++ {
			for v := range m.States {
				if g.neighbours[v] == nil {
					continue
				}
				fill, weight := 0, math.Log(float64(m.States[v]))
				for i, u := range g.of(v) {
					weight += math.Log(float64(m.States[u]))
					for _, w := range g.of(v)[:i] {
						if _, joined := g.neighbours[u][w]; !joined {
							fill++
						}
					}
				}
				if g.fill[v] != fill || math.Abs(float64(g.weight[v])/units-weight) > 1e-9 {
					t.Fatalf("after %v: variable %d has fill %d and weight %v, want %d and %v", order[:k], v, g.fill[v],
						float64(g.weight[v])/units, fill, weight)
				}
			}
			if k == len(order) {
				return
			}
			fill, weight := append([]int(nil), g.fill...), append([]int64(nil), g.weight...)
			for _, u := range g.eliminate(order[k]) {
				fill[u], weight[u] = g.fill[u], g.weight[u]
			}
			for v := range fill {
				if g.neighbours[v] != nil && (fill[v] != g.fill[v] || weight[v] != g.weight[v]) {
					t.Fatalf("variable %d changed when %d was eliminated, but is not reported", v, order[k])
				}
			}
		}
	})
}

// A variable with 100,000 neighbours in a ring does not make planning quadratic: that would take hours.
func TestPlanWithHub(t *testing.T) {
	const rim = 100000
	m := &factors.Model{States: []int{2}}
	for v := 1; v <= rim; v++ {
		m.States = append(m.States, 2)
		m.Factors = append(m.Factors, factors.Factor{Scope: []int{0, v}}, factors.Factor{Scope: []int{v, 1 + v%rim}})
	}
	if p, _ := PlanWithin(m, 1e7); p == nil || p.Width != 3 {
		t.Fatalf("a wheel has treewidth 3, found %+v", p)
	}
}
