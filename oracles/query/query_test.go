package query

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles/branching"
	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/minibucket"
)

// draw draws a model of up to 7 variables with factors of up to 3. Some models are binary and favour equal states, some
// have no loops.
func draw(r *rand.Rand) *factors.Model {
	m, binary, chain := &factors.Model{}, r.IntN(2) == 0, r.IntN(3) == 0
	for range r.IntN(8) {
		m.States = append(m.States, 1+r.IntN(3))
		if binary {
			m.States[len(m.States)-1] = 2
		}
	}
	for k := range 2 * len(m.States) {
		scope := r.Perm(len(m.States))[:min(r.IntN(4), len(m.States))]
		if binary && len(scope) > 2 {
			scope = scope[:2]
		}
		if chain {
			if scope = []int{k}; k >= len(m.States) {
				continue
			}
			if k > 0 {
				scope = append(scope, k-1)
			}
		}
		f := factors.Factor{Scope: scope}
		n := 1
		for _, v := range scope {
			n *= m.States[v]
		}
		for i := range n {
			x := 2 * r.NormFloat64()
			if r.IntN(12) == 0 {
				x = math.Inf(-1)
			}
			if binary && len(scope) == 2 && (i == 0 || i == 3) {
				x = math.Abs(x)
				if math.IsInf(x, 1) {
					x = 9
				}
			} else if binary && len(scope) == 2 {
				x = -math.Abs(x)
			}
			f.Table = append(f.Table, x)
		}
		m.Factors = append(m.Factors, f)
	}
	return m
}

// truth enumerates all assignments.
func truth(m *factors.Model) (best, logZ float64, p [][]float64) {
	best = math.Inf(-1)
	states, z := make([]int, len(m.States)), 0.0
	for _, n := range m.States {
		p = append(p, make([]float64, n))
	}
	for {
		value := m.Value(states)
		best, z = max(best, value), z+math.Exp(value)
		for v, s := range states {
			p[v][s] += math.Exp(value)
		}
		v := 0
		for ; v < len(states); v++ {
			if states[v]++; states[v] < m.States[v] {
				break
			}
			states[v] = 0
		}
		if v == len(states) {
			break
		}
	}
	for v := range p {
		for s := range p[v] {
			p[v][s] /= z
		}
	}
	return best, math.Log(z), p
}

// What a search for log Z reports is an interval around it from the first report on, which never widens.
func TestSearchReportsIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6)))
		_, logZ, _ := truth(m)
		slack := 1e-8 * (1 + math.Abs(logZ))
		value, bound := math.Inf(-1), math.MaxFloat64
		s := Settings{Oracle: Search, Table: 1e6, Bucket: float64(rapid.SampledFrom([]int{1, 4, 9}).Draw(t, "bucket")),
			Passes: 5, Report: func(a *Answer) {
				if a.Value < value-slack || a.Bound > bound+slack {
					t.Fatalf("%s: from %v..%v to %v..%v", a.Doing, value, bound, a.Value, a.Bound)
				}
				if !(a.Value <= logZ+slack) && a.Value != logZ || !(a.Bound >= logZ-slack) && a.Bound != logZ {
					t.Fatalf("%s: %v..%v, log Z is %v", a.Doing, a.Value, a.Bound, logZ)
				}
				value, bound = a.Value, a.Bound
			}}
		if _, err := Solve(context.Background(), m, PR, s); err != nil {
			t.Fatal(err)
		}
	})
}

// Without passes, the first report is the bound of mini-buckets that no message has tightened: passes are as many as
// asked for.
func TestSearchMakesNoMorePassesThanAsked(t *testing.T) {
	random, lowered := rand.New(rand.NewPCG(3, 1)), 0
	for range 200 {
		m := draw(random)
		if len(m.States) < 3 || len(branching.Possible(m, func() bool { return false })) == 0 {
			continue
		}
		m = m.Keep(branching.Possible(m, func() bool { return false }))
		untouched, tighter := minibucket.New(m, 4), minibucket.New(m, 4)
		tighter.Pass()
		slack := rounding(m)
		if tighter.Upper() < untouched.Upper()-2*slack {
			lowered++
		}
		first := math.NaN()
		s := Settings{Oracle: Search, Table: 1e6, Bucket: 4, Report: func(a *Answer) {
			if math.IsNaN(first) {
				first = a.Bound
			}
		}}
		if _, err := Solve(context.Background(), m, PR, s); err != nil {
			t.Fatal(err)
		}
		if want := min(anyBound(m), untouched.Upper()) + slack; math.Abs(first-want) > slack {
			t.Errorf("the first bound is %v, expected %v", first, want)
		}
	}
	if lowered < 5 {
		t.Errorf("a pass tightens %d of the bounds", lowered)
	}
}

// Every oracle that answers is right: exact answers are those of enumeration, others are bounds on both sides.
func TestSolveIsEnumeration(t *testing.T) {
	answered, models := map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		models++
		m := draw(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5)))
		best, logZ, p := truth(m)
		for _, oracle := range []string{Auto, Tree, Cut, Junction, Search, Relaxed} {
			for _, question := range []string{MAP, PR, MAR} {
				want := logZ
				if question == MAP {
					want = best
				}
				a, err := Solve(context.Background(), m, question,
					Settings{Oracle: oracle, Table: 1e6, Bucket: 9, Passes: 50, Gap: 1e-9})
				if err != nil {
					if oracle == Auto || oracle == Junction || oracle == Search || oracle == Relaxed {
						t.Fatalf("%s, %s: %v", oracle, question, err)
					}
					continue
				}
				answered[oracle+" "+question]++
				slack := 1e-8 * (1 + math.Abs(want))
				switch {
				case oracle != Relaxed && !a.Exact || oracle == Auto && (a.Oracle == Search || a.Oracle == Relaxed):
					t.Fatalf("%s, %s: %+v is not exact", oracle, question, a)
				case a.Exact && !(a.Value == want && a.Bound == want || math.Abs(a.Value-want) <= slack &&
					math.Abs(a.Bound-want) <= slack):
					t.Fatalf("%s, %s: exact answer %+v, want %v", oracle, question, a, want)
				case !(a.Value <= want+slack) && a.Value != want || !(a.Bound >= want-slack) && a.Bound != want:
					t.Fatalf("%s, %s: %+v does not bound %v", oracle, question, a, want)
				}
				if a.States != nil && math.Abs(m.Value(a.States)-a.Value) > slack && m.Value(a.States) != a.Value {
					t.Fatalf("%s: states %v have value %v, not %v", oracle, a.States, m.Value(a.States), a.Value)
				}
				for v := range a.Marginals {
					for s, x := range a.Marginals[v] {
						if a.Exact && !math.IsInf(logZ, -1) && math.Abs(x-p[v][s]) > 1e-8 {
							t.Fatalf("%s: variable %d has marginals %v, want %v", oracle, v, a.Marginals[v], p[v])
						}
					}
				}
			}
		}
	})
	t.Log(answered)
	if models < 100 { // too few to tell
		return
	}
	for _, what := range []string{"tree map", "tree mar", "cut map", "junction mar", "search map",
		"search mar", "relaxed mar"} {
		if answered[what] < 10 {
			t.Errorf("%s answered %d models only", what, answered[what])
		}
	}
}

// hard draws a model that no search solves within a test.
func hard() *factors.Model {
	m, r := &factors.Model{States: make([]int, 60)}, rand.New(rand.NewPCG(3, 4))
	for v := range m.States {
		m.States[v] = 3
		for range 4 {
			f := factors.Factor{Scope: []int{v, (v + 1 + r.IntN(len(m.States)-1)) % len(m.States)}, Table: make([]float64, 9)}
			for i := range f.Table {
				f.Table[i] = 2 * r.NormFloat64()
			}
			m.Factors = append(m.Factors, f)
		}
	}
	return m
}

// Where the context ends while an oracle searches, what is known then is the answer.
func TestSolveStops(t *testing.T) {
	defer func(before time.Duration) { grace = before }(grace)
	grace = time.Hour // the oracle notices by itself
	m := hard()
	for _, question := range []string{MAP, PR, MAR} {
		ctx, stop := context.WithCancel(t.Context())
		reports := 0
		a, err := Solve(ctx, m, question, Settings{Oracle: Search, Table: 1e4, Bucket: 9, Report: func(*Answer) {
			if reports++; reports == 2 {
				stop()
			}
		}})
		stop()
		if err != nil || a.Exact || reports != 2 || !(a.Value < a.Bound) {
			t.Errorf("%s: %+v after %d reports, %v", question, a, reports, err)
		}
	}
}

// A search asks at every stage whether to stop, and does not begin another once it was told to.
func TestSearchStops(t *testing.T) {
	m := hard()
	const looks, first, second, conditions = "search for an allowed assignment", "mini-buckets of 9 entries",
		"mini-buckets of 72 entries", "conditioning"
	// which takes no steps of conditioning
	for question, stages := range map[string][]string{MAP: {"messages", "local search"},
		PR: {looks, first, conditions, second}, MAR: {looks, first, second}} {
		for _, last := range stages {
			// how often it asked at a stage; how often it was told; reports after that
			asked, told, reported := map[string]int{}, 0, 0
			at := ""
			a, err := solve(m, question, Settings{Oracle: Search, Table: 1e5, Bucket: 9, Passes: 5, Report: func(a *Answer) {
				at = a.Doing
				if told > 0 {
					reported++
				}
			}}, func() bool {
				asked[at]++
				if at == last && asked[at] > 3 {
					told++
				}
				return told > 0
			})
			// what it has not begun yet it does for a moment
			if err != nil || a.Exact || !(a.Value < a.Bound) || told > 3 || reported > 5 {
				t.Errorf("%s, stopped at %s: it was told %d times, reported %d times, and asked %v; %+v, %v", question, last,
					told, reported, asked, a, err)
			}
			if question == PR && last == second && asked[conditions] < 10 {
				t.Errorf("it asked %v", asked)
			}
		}
	}
}

// deaf is a context that ends without an oracle noticing it, until it may.
type deaf struct {
	context.Context
	hears atomic.Bool
}

func (d *deaf) Err() error {
	if d.hears.Load() {
		return d.Context.Err()
	}
	return nil
}

// Where an oracle does not notice that the context ended, the answer is what it reported last; the race detector sees
// whether what it finds behind the caller touches that.
func TestSolveLeavesBehind(t *testing.T) {
	defer func(before time.Duration) { grace = before }(grace)
	grace = time.Millisecond
	m := hard()
	for _, question := range []string{MAP, PR} {
		parent, stop := context.WithCancel(t.Context())
		ctx := &deaf{Context: parent}
		begun := sync.OnceFunc(func() { go stop() })
		a, err := Solve(ctx, m, question, Settings{Oracle: Search, Table: 1e4, Bucket: 9, Report: func(a *Answer) {
			if !math.IsInf(a.Value, -1) { // it has found an assignment
				begun()
			}
		}})
		if err != nil || a.Exact || !(a.Value < a.Bound) || question == MAP && m.Value(a.States) != a.Value {
			t.Errorf("%s: %+v, %v", question, a, err)
		}
		ctx.hears.Store(true)
	}
}
