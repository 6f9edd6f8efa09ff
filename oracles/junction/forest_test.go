package junction

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles/factors"
	"pgregory.net/rapid"
)

// drawForest draws a factor graph without loops. Some factors lie in others.
func drawForest(r *rand.Rand, variables int) *factors.Model {
	m := &factors.Model{}
	for range variables {
		m.States = append(m.States, 1+r.IntN(3))
	}
	add := func(scope []int) {
		r.Shuffle(len(scope), func(i, j int) { scope[i], scope[j] = scope[j], scope[i] })
		f := factors.Factor{Scope: scope, Table: make([]float64, factors.Entries((&Tree{model: m}).sizes(scope)))}
		for k := range f.Table {
			f.Table[k] = r.NormFloat64()
		}
		m.Factors = append(m.Factors, f)
	}
	for next := 1; next < variables; {
		scope := []int{r.IntN(next)}
		for range 1 + r.IntN(3) {
			if next < variables {
				scope = append(scope, next)
				next++
			}
		}
		if r.IntN(6) == 0 {
			continue // another tree
		}
		add(slices.Clone(scope))
		for range r.IntN(3) {
			some := slices.Clone(scope)
			r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
			add(some[:r.IntN(len(some)+1)])
		}
	}
	r.Shuffle(len(m.Factors), func(i, j int) { m.Factors[i], m.Factors[j] = m.Factors[j], m.Factors[i] })
	return m
}

// Forests give plans whose cliques are factors, and the answers of the general plan.
func TestNewForest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		m := drawForest(r, 1+r.IntN(12))
		plan, err := NewForest(m)
		if err != nil {
			t.Fatal(err)
		}
		checkPlan(t, m, plan)
		for _, c := range plan.Cliques {
			if len(c.Vars) > 1 && !slices.ContainsFunc(m.Factors, func(f factors.Factor) bool {
				return !slices.ContainsFunc(c.Vars, func(v int) bool { return !slices.Contains(f.Scope, v) })
			}) {
				t.Fatalf("clique %v lies in no factor", c.Vars)
			}
		}
		tree, general := NewTree(m, plan), NewTree(m, NewPlan(m))
		near(t, "log Z", tree.Sum(), general.Sum())
		_, got := tree.Max()
		_, want := general.Max()
		near(t, "the best value", got, want)
	})
}

func TestNewForestRefusesLoops(t *testing.T) {
	for _, test := range []struct {
		scopes [][]int
		want   string
	}{
		{[][]int{{0, 1}, {2, 1}, {0, 2}}, "factor 2 closes a loop: other factors connect its variables 0 and 2"},
		{[][]int{{0, 1, 2}, {3, 1, 2}}, "factor 1 closes a loop: other factors connect its variables 1 and 2"},
		{[][]int{{0, 1}, {1, 0}, {1, 2}, {2}, {}}, ""},
		{[][]int{{1, 2}, {0, 1, 2}, {2, 3}}, ""},
	} {
		m := &factors.Model{States: []int{1, 1, 1, 1}}
		for _, s := range test.scopes {
			m.Factors = append(m.Factors, factors.Factor{Scope: s, Table: []float64{0}})
		}
		_, err := NewForest(m)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v: %v, want %q", test.scopes, err, test.want)
		}
	}
}

// BenchmarkForest plans and solves a random tree of 100,000 variables with 4 states.
func BenchmarkForest(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	m := &factors.Model{}
	for v := range 100_000 {
		m.States = append(m.States, 4)
		if v > 0 {
			f := factors.Factor{Scope: []int{max(0, v-1-r.IntN(20)), v}, Table: make([]float64, 16)}
			for k := range f.Table {
				f.Table[k] = r.NormFloat64()
			}
			m.Factors = append(m.Factors, f)
		}
	}
	plan, err := NewForest(m)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("plan", func(b *testing.B) {
		for b.Loop() {
			_, _ = NewForest(m)
		}
	})
	b.Run("sum", func(b *testing.B) {
		for b.Loop() {
			NewTree(m, plan).Sum()
		}
	})
}
