package relaxation

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/junction"
	"pgregory.net/rapid"
)

// draw draws a small model of factors of up to three variables, some entries forbidden. A tree has factors of pairs
// without loops.
func draw(r *rand.Rand, tree bool) *factors.Model {
	m := &factors.Model{}
	for range 1 + r.IntN(7) {
		m.States = append(m.States, 1+r.IntN(3))
	}
	var scopes [][]int
	for v := range m.States {
		scopes = append(scopes, []int{v})
		if tree && v > 0 {
			scopes = append(scopes, []int{r.IntN(v), v})
		}
	}
	if !tree {
		for range r.IntN(10) {
			scopes = append(scopes, r.Perm(len(m.States))[:min(r.IntN(4), len(m.States))])
		}
	}
	for _, scope := range scopes {
		var sizes []int
		for _, v := range scope {
			sizes = append(sizes, m.States[v])
		}
		f := factors.Factor{Scope: scope, Table: make([]float64, factors.Entries(sizes))}
		for k := range f.Table {
			f.Table[k] = 2 * r.NormFloat64()
			if r.IntN(15) == 0 && !tree {
				f.Table[k] = math.Inf(-1)
			}
		}
		m.Factors = append(m.Factors, f)
	}
	return m
}

// The bound is one, and never rises; the assignment has the value that is told. On trees both meet.
func TestBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := rapid.Bool().Draw(t, "tree")
		m := draw(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), tree)
		_, exact := junction.NewTree(m, junction.NewPlan(m)).Max()
		r := New(m)
		last := r.Bound()
		for range 20 {
			r.Pass()
			bound := r.Bound()
			if bound < exact-1e-9*(1+math.Abs(exact)) {
				t.Fatalf("the bound %v is below the best value %v", bound, exact)
			}
			if bound > last+1e-9*(1+math.Abs(last)) {
				t.Fatalf("the bound rises from %v to %v", last, bound)
			}
			last = bound
		}
		states, value := r.Best()
		if got := m.Value(states); got != value || value > exact+1e-9*(1+math.Abs(exact)) {
			t.Fatalf("an assignment of value %v is said to have %v; the best is %v", got, value, exact)
		}
		if tree && (last-value > 1e-6*(1+math.Abs(value))) {
			t.Fatalf("on a tree the bound is %v and the value %v, want %v", last, value, exact)
		}
	})
}
