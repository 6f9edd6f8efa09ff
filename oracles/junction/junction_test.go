package junction

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles/factors"
	"pgregory.net/rapid"
)

// draw draws a small model with loops, isolated variables, constants, forbidden entries and variables of a single
// state.
func draw(r *rand.Rand) *factors.Model {
	m := &factors.Model{}
	for range r.IntN(7) {
		m.States = append(m.States, 1+r.IntN(3))
	}
	for range r.IntN(9) {
		scope := r.Perm(len(m.States))[:min(r.IntN(4), len(m.States))]
		f := factors.Factor{Scope: scope, Table: make([]float64, factors.Entries((&Tree{model: m}).sizes(scope)))}
		for k := range f.Table {
			f.Table[k] = r.NormFloat64()
			if r.IntN(12) == 0 {
				f.Table[k] = math.Inf(-1)
			}
		}
		m.Factors = append(m.Factors, f)
	}
	return m
}

// each visits every assignment.
func each(m *factors.Model, visit func(states []int, value float64)) {
	states := make([]int, len(m.States))
	var next func(v int)
	next = func(v int) {
		if v == len(states) {
			visit(states, m.Value(states))
			return
		}
		for s := range m.States[v] {
			states[v] = s
			next(v + 1)
		}
	}
	next(0)
}

func near(t *rapid.T, what string, got, want float64) {
	if got != want && !(math.Abs(got-want) < 1e-9*(1+math.Abs(want))) {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
}

func TestTreeIsEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		m := draw(r)
		order := r.Perm(len(m.States))
		if h := rapid.IntRange(0, 2).Draw(t, "order"); h < 2 {
			order = Order(m, Heuristic(h))
		}
		plan := planFor(m, order)
		checkPlan(t, m, plan)
		tree := NewTree(m, plan)

		best, z := math.Inf(-1), 0.0
		single, most := make([][]float64, len(m.States)), make([][]float64, len(m.States))
		for v, n := range m.States {
			single[v], most[v] = make([]float64, n), make([]float64, n)
			for s := range most[v] {
				most[v][s] = math.Inf(-1)
			}
		}
		each(m, func(states []int, value float64) {
			best = max(best, value)
			z += math.Exp(value)
			for v, s := range states {
				single[v][s] += math.Exp(value)
				most[v][s] = max(most[v][s], value)
			}
		})
		var values []float64
		each(m, func(_ []int, value float64) {
			if value > math.Inf(-1) {
				values = append(values, value)
			}
		})
		slices.Sort(values)
		slices.Reverse(values)
		k := rapid.IntRange(1, 8).Draw(t, "K")
		top := tree.TopK(k)
		if len(top) != min(k, len(values)) {
			t.Fatalf("%d of the %d best assignments, %d are allowed", len(top), k, len(values))
		}
		seen := map[string]bool{}
		for i, states := range top {
			near(t, "value of a best assignment", m.Value(states), values[i])
			if seen[fmt.Sprint(states)] {
				t.Fatalf("assignment %v is there twice", states)
			}
			seen[fmt.Sprint(states)] = true
		}
		states, value := tree.Max()
		near(t, "max", value, best)
		near(t, "value of the best assignment", m.Value(states), best)
		near(t, "log Z", tree.Sum(), math.Log(z))
		logZ, p := tree.Marginals()
		near(t, "log Z", logZ, math.Log(z))
		for v, of := range tree.MaxMarginals() {
			for s, x := range of {
				near(t, "max-marginal", x, most[v][s])
				if z > 0 {
					near(t, "marginal", p[v][s], single[v][s]/z)
				} else {
					near(t, "marginal", p[v][s], 0)
				}
			}
		}
	})
}

// checkPlan checks the properties of a junction tree.
func checkPlan(t *rapid.T, m *factors.Model, p *Plan) {
	placed := make([]int, len(m.Factors))
	tops := make([]int, len(m.States)) // cliques of a variable whose parent lacks it
	for c, q := range p.Cliques {
		has := map[int]bool{}
		for _, v := range q.Vars {
			has[v] = true
		}
		inParent := map[int]bool{}
		if q.Parent >= 0 {
			if q.Parent <= c {
				t.Fatalf("clique %d comes after its parent %d", c, q.Parent)
			}
			for _, v := range p.Cliques[q.Parent].Vars {
				inParent[v] = true
			}
			if len(q.Separator) == len(p.Cliques[q.Parent].Vars) {
				t.Fatalf("clique %d has all variables of its parent", c)
			}
		}
		n := 0
		for _, v := range q.Vars {
			if inParent[v] {
				n++
			} else {
				tops[v]++
			}
		}
		if n != len(q.Separator) {
			t.Fatalf("clique %v and its parent share %d variables, not %v", q.Vars, n, q.Separator)
		}
		for _, f := range q.Factors {
			placed[f]++
			for _, v := range m.Factors[f].Scope {
				if !has[v] {
					t.Fatalf("factor %v is in clique %v", m.Factors[f].Scope, q.Vars)
				}
			}
		}
	}
	for f, n := range placed {
		if n != 1 && len(p.Cliques) > 0 {
			t.Fatalf("factor %d is in %d cliques", f, n)
		}
	}
	for v, n := range tops {
		if n != 1 {
			t.Fatalf("the cliques of variable %d are in %d pieces", v, n)
		}
	}
}

func TestObserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		m := draw(r)
		evidence := make([]int, len(m.States))
		for v, n := range m.States {
			evidence[v] = factors.Free
			if r.IntN(3) == 0 {
				evidence[v] = r.IntN(n)
			}
		}
		o := m.Observe(evidence)
		best := math.Inf(-1)
		each(m, func(states []int, value float64) {
			for v, s := range states {
				if evidence[v] != factors.Free && evidence[v] != s {
					return
				}
			}
			best = max(best, value)
		})
		_, value := NewTree(o, NewPlan(o)).Max()
		near(t, "max under evidence", value, best)
	})
}

// A long chain has width 1, a grid that of its short side; neither recurses as deep as it is long.
func TestPlanSizes(t *testing.T) {
	chain := &factors.Model{}
	for v := range 20_000 {
		chain.States = append(chain.States, 3)
		if v > 0 {
			chain.Factors = append(chain.Factors, factors.Factor{Scope: []int{v - 1, v}, Table: make([]float64, 9)})
		}
	}
	p := NewPlan(chain)
	if p.Width != 1 || len(p.Cliques) != 19_999 || p.Entries != 9*19_999 {
		t.Errorf("a chain has width %d, %d cliques and %g entries", p.Width, len(p.Cliques), p.Entries)
	}
	if got, want := NewTree(chain, p).Sum(), 20_000*math.Log(3); math.Abs(got-want) > 1e-6 {
		t.Errorf("log Z of the empty chain is %v, want %v", got, want)
	}
	if p := NewPlan(grid(30, 5)); p.Width != 5 {
		t.Errorf("a 30×5 grid has width %d, want 5", p.Width)
	}
}

// grid returns a binary grid.
func grid(h, w int) *factors.Model {
	r := rand.New(rand.NewPCG(1, 1))
	m := &factors.Model{}
	join := func(a, b int) {
		f := factors.Factor{Scope: []int{a, b}, Table: make([]float64, 4)}
		for k := range f.Table {
			f.Table[k] = r.NormFloat64()
		}
		m.Factors = append(m.Factors, f)
	}
	for i := range h * w {
		m.States = append(m.States, 2)
		if i%w > 0 {
			join(i-1, i)
		}
		if i >= w {
			join(i-w, i)
		}
	}
	return m
}

func BenchmarkGrid(b *testing.B) {
	m := grid(100, 14)
	p := NewPlan(m)
	t := NewTree(m, p)
	b.ReportMetric(p.Entries, "entries")
	for _, q := range []struct {
		name string
		run  func()
	}{{"max", func() { t.Max() }}, {"sum", func() { t.Sum() }}, {"marginals", func() { t.Marginals() }}} {
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				q.run()
			}
		})
	}
}
