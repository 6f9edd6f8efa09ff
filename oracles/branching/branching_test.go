package branching

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles/factors"
)

// draw draws a model with loops, factors of up to three variables, mixed numbers of states, ties where round is set,
// and forbidden entries.
func draw(r *rand.Rand, variables int, round bool, zeros float64) *factors.Model {
	m := &factors.Model{}
	for range variables {
		m.States = append(m.States, 1+r.IntN(4))
	}
	for range 2 * variables {
		f := factors.Factor{Scope: r.Perm(variables)[:min(r.IntN(4), variables)]}
		n := 1
		for _, v := range f.Scope {
			n *= m.States[v]
		}
		for range n {
			x := 3 * r.NormFloat64()
			if round {
				x = math.Round(x)
			}
			if r.Float64() < zeros {
				x = math.Inf(-1)
			}
			f.Table = append(f.Table, x)
		}
		m.Factors = append(m.Factors, f)
	}
	return m
}

// enumerate returns the best value.
func enumerate(m *factors.Model) float64 {
	best, states := math.Inf(-1), make([]int, len(m.States))
	for {
		best = max(best, m.Value(states))
		v := 0
		for ; v < len(states); v++ {
			if states[v]++; states[v] < m.States[v] {
				break
			}
			states[v] = 0
		}
		if v == len(states) {
			return best
		}
	}
}

// after returns a stop that lets so many questions pass.
func after(n int) func() bool {
	return func() bool { n--; return n < 0 }
}

func never() bool { return false }

func drawn(t *rapid.T) *factors.Model {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	return draw(r, rapid.IntRange(0, 8).Draw(t, "variables"), rapid.Bool().Draw(t, "ties"),
		rapid.SampledFrom([]float64{0, 0.1, 0.4}).Draw(t, "zeros"))
}

// Left to run, the solver proves the value that enumeration finds. The tables are so small that buckets are split.
func TestProvesEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawn(t)
		want := enumerate(m)
		s := Settings{Entries: rapid.SampledFrom([]float64{1, 30, 300, 1e6}).Draw(t, "entries"), Seed: 1}
		a := New(m, s).Solve(s, never, nil)
		if !a.Proven || !near(a.Value, want, a.Error) || a.Bound < want {
			t.Fatalf("%+v, want %v", a, want)
		}
		if (a.States == nil) != math.IsInf(want, -1) {
			t.Fatalf("states %v, best value %v", a.States, want)
		}
	})
}

func near(a, b, slack float64) bool { return a == b || math.Abs(a-b) <= slack }

// Wherever it is stopped, the best value lies between value and bound, and nothing is called proven that is not.
func TestStoppedAnywhere(t *testing.T) {
	stopped := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawn(t)
		want := enumerate(m)
		s := Settings{Entries: 30, Seed: 1}
		value, bound := math.Inf(-1), math.Inf(1)
		a := New(m, s).Solve(s, after(rapid.IntRange(0, 400).Draw(t, "questions")), func(a *Answer) {
			if a.Value < value || a.Bound > bound+a.Error {
				t.Fatalf("the interval widens from %v..%v to %v..%v", value, bound, a.Value, a.Bound)
			}
			value, bound = a.Value, a.Bound
		})
		if !(a.Value <= want+a.Error) || !(a.Bound >= want) || a.Proven && !near(a.Value, want, a.Error) {
			t.Fatalf("%+v, want %v", a, want)
		}
		if a.States != nil && m.Value(a.States) != a.Value {
			t.Fatalf("states %v have value %v, not %v", a.States, m.Value(a.States), a.Value)
		}
		if !a.Proven {
			stopped++
		}
	})
	if stopped == 0 {
		t.Error("nothing was stopped before its proof")
	}
}

// hard draws a model that takes a search.
func hard(variables int) *factors.Model {
	r := rand.New(rand.NewPCG(7, 7))
	m := &factors.Model{}
	for range variables {
		m.States = append(m.States, 3)
	}
	for range 3 * variables {
		f := factors.Factor{Scope: r.Perm(variables)[:2], Table: make([]float64, 9)}
		for k := range f.Table {
			f.Table[k] = r.NormFloat64()
		}
		m.Factors = append(m.Factors, f)
	}
	return m
}

// One seed gives one run, however it ends.
func TestSameSeedSameRun(t *testing.T) {
	m := hard(40)
	for _, questions := range []int{50, 1000} {
		var runs [2][]Answer
		for k := range runs {
			s := Settings{Entries: 3000, Seed: 5}
			New(m, s).Solve(s, after(questions), func(a *Answer) {
				b := *a
				b.States = append([]int(nil), a.States...)
				runs[k] = append(runs[k], b)
			})
		}
		if !reflect.DeepEqual(runs[0], runs[1]) {
			t.Errorf("after %d questions two runs differ", questions)
		}
	}
}

// A state that is left out is in no allowed assignment.
func TestPossible(t *testing.T) {
	excluded := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawn(t)
		kept := Possible(m, after(rapid.IntRange(0, 100).Draw(t, "questions")))
		states := make([]int, len(m.States))
		for v, n := range m.States {
			for s := range n {
				if kept != nil && slices.Contains(kept[v], s) {
					continue
				}
				excluded++
				for v := range states {
					states[v] = factors.Free
				}
				states[v] = s
				if best := enumerate(m.Observe(states)); !math.IsInf(best, -1) {
					t.Fatalf("state %d of variable %d is excluded, and has an assignment of value %v", s, v, best)
				}
			}
		}
	})
	if excluded == 0 {
		t.Error("no state was excluded")
	}
}
