package cut_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/junction"
	"github.com/dsp-go/dsp/oracles/oracletest"
)

// drawPairs draws a binary factor graph whose pairs favour equal states after exchanging the states of some variables.
// Some pairs have several factors, of which only the sum is submodular, and some entries are forbidden.
func drawPairs(r *rand.Rand) *factors.Model {
	m, flip := &factors.Model{}, []int{}
	for range 2 + r.IntN(7) {
		m.States, flip = append(m.States, 2-r.IntN(8)/7), append(flip, r.IntN(2))
	}
	entry := func() float64 { return float64(r.IntN(41)-20) / 8 }
	add := func(scope ...int) []float64 {
		f := factors.Factor{Scope: scope, Table: []float64{entry()}}
		for _, v := range scope {
			for n := len(f.Table); m.States[v] == 2 && len(f.Table) == n; {
				for range n {
					f.Table = append(f.Table, entry())
				}
			}
		}
		m.Factors = append(m.Factors, f)
		return f.Table
	}
	add()
	for v := range m.States {
		if θ := add(v); len(θ) == 2 && r.IntN(8) == 0 {
			θ[r.IntN(2)] = math.Inf(-1)
		}
		for u := range v {
			if r.IntN(2) == 0 {
				continue
			}
			θ := add(v, u)
			if len(θ) < 4 {
				continue
			}
			odd := (flip[u] + flip[v]) % 2
			if r.IntN(2) == 0 {
				copy(θ, []float64{entry(), entry(), entry(), entry()})
				θ = add(u, v)
				before := m.Factors[len(m.Factors)-2].Table
				lack := before[odd] + before[3-odd] - before[1-odd] - before[2+odd] + θ[odd] + θ[3-odd] - θ[1-odd] - θ[2+odd]
				if lack < 0 {
					θ[odd] -= lack
				}
			} else if lack := θ[odd] + θ[3-odd] - θ[1-odd] - θ[2+odd]; lack < 0 {
				θ[odd] -= lack
			}
			if r.IntN(10) == 0 {
				θ[1-odd] = math.Inf(-1)
			}
		}
	}
	return m
}

func checkSolve(t *rapid.T, m *factors.Model) {
	states, err := cut.Solve(m)
	if err != nil {
		t.Fatal(err)
	}
	_, want := junction.NewTree(m, junction.NewPlan(m)).Max()
	if math.IsInf(want, -1) {
		if states != nil {
			t.Fatalf("states %v with value %v where all are forbidden", states, m.Value(states))
		}
		return
	}
	if states == nil {
		t.Fatalf("no states, want the value %v", want)
	}
	oracletest.Near(t, "value", m.Value(states), want, 1e-9)
}

func TestSolvePairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkSolve(t, drawPairs(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))))
	})
}

// Every submodular table of three variables has an exact cut, and so do products of more variables with positive
// factors.
func TestSolveWideFactors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		m := &factors.Model{States: []int{2, 2, 2, 2, 2, 2}}
		for v := range m.States {
			m.Factors = append(m.Factors, factors.Factor{Scope: []int{v}, Table: []float64{r.NormFloat64(), r.NormFloat64()}})
		}
		for range 3 {
			scope := r.Perm(6)[:3]
			a, b, c, xyz := r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
			least := max(0, -xyz) // of the terms of pairs, for the pairs to be submodular whatever the third variable is
			xy, yz, zx := least+r.ExpFloat64(), least+r.ExpFloat64(), least
			f := factors.Factor{Scope: scope}
			for i := range 8 {
				x, y, z := float64(i>>2), float64(i>>1&1), float64(i&1)
				f.Table = append(f.Table, a*x+b*y+c*z+xy*x*y+yz*y*z+zx*z*x+xyz*x*y*z)
			}
			m.Factors = append(m.Factors, f)
		}
		f := factors.Factor{Scope: r.Perm(6)[:4], Table: make([]float64, 16)}
		f.Table[15] = r.ExpFloat64()
		m.Factors = append(m.Factors, f)
		checkSolve(t, m)
	})
}

func TestSolveRefuses(t *testing.T) {
	pair := func(u, v int, θ ...float64) factors.Factor { return factors.Factor{Scope: []int{u, v}, Table: θ} }
	for _, test := range []struct {
		m    factors.Model
		want string
	}{
		{factors.Model{States: []int{2, 3}}, "variable 1 has 3 states"},
		{factors.Model{States: []int{2, 2, 2},
			Factors: []factors.Factor{pair(0, 1, 1, 0, 0, 1), pair(1, 2, 1, 0, 0, 1), pair(2, 0, 0, 1, 0, 0)}},
			"is in a loop with an odd number of factors that favour different states"},
		{factors.Model{States: []int{2, 2, 2},
			Factors: []factors.Factor{{Scope: []int{0, 1, 2}, Table: []float64{0, 0, 0, 0, 0, 0, 1, 0}}}}, "factor 0"},
		{factors.Model{States: []int{2, 2, 2},
			Factors: []factors.Factor{{Scope: []int{0, 1, 2}, Table: []float64{0, 0, 0, 0, 0, 0, math.Inf(-1), 0}}}},
			"factor 0 has 3 variables and forbids"},
		{factors.Model{States: []int{2, 2, 2, 2},
			Factors: []factors.Factor{{Scope: []int{0, 1, 2, 3}, Table: []float64{15: -1}}}},
			"factor 0 has a negative term of 4 variables"},
	} {
		if _, err := cut.Solve(&test.m); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}
