package minibucket

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles/factors"
	"github.com/dsp-go/dsp/oracles/junction"
)

// draw draws a model with loops, factors of up to three variables and mixed numbers of states. With forbidden, some
// entries are −∞.
func draw(r *rand.Rand, scale float64, forbidden bool) *factors.Model {
	m := &factors.Model{}
	for range 1 + r.IntN(9) {
		m.States = append(m.States, 1+r.IntN(3))
	}
	for range r.IntN(3 * len(m.States)) {
		f := factors.Factor{Scope: r.Perm(len(m.States))[:min(r.IntN(4), len(m.States))]}
		n := 1
		for _, v := range f.Scope {
			n *= m.States[v]
		}
		for range n {
			x := scale * r.NormFloat64()
			if forbidden && r.IntN(8) == 0 {
				x = minusInf
			}
			f.Table = append(f.Table, x)
		}
		m.Factors = append(m.Factors, f)
	}
	return m
}

// grid draws a grid of variables with 2 states.
func grid(r *rand.Rand, n int, scale float64) *factors.Model {
	m := &factors.Model{}
	table := func(n int) (t []float64) {
		for range n {
			t = append(t, scale*r.NormFloat64())
		}
		return t
	}
	for v := range n * n {
		m.States = append(m.States, 2)
		m.Factors = append(m.Factors, factors.Factor{Scope: []int{v}, Table: table(2)})
		if v%n > 0 {
			m.Factors = append(m.Factors, factors.Factor{Scope: []int{v - 1, v}, Table: table(4)})
		}
		if v >= n {
			m.Factors = append(m.Factors, factors.Factor{Scope: []int{v, v - n}, Table: table(4)})
		}
	}
	return m
}

func exact(m *factors.Model) float64 { return junction.NewTree(m, junction.NewPlan(m)).Sum() }

// roundingOf bounds the rounding of a log Z. −∞, where nothing is allowed, has none.
func roundingOf(logZ float64) float64 {
	if math.IsInf(logZ, -1) {
		return 0
	}
	return 1e-9 * (1 + math.Abs(logZ))
}

// However small the tables are, log Z lies between the two bounds, no pass raises the upper one, and marginals are
// distributions.
func TestBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		m := draw(r, rapid.SampledFrom([]float64{0.1, 1, 10, 300}).Draw(t, "scale"), rapid.Bool().Draw(t, "forbidden"))
		want := exact(m)
		slack := roundingOf(want)
		b := New(m, rapid.SampledFrom([]float64{1, 9, 27, 1e6}).Draw(t, "entries"))
		for range 12 {
			before := b.Upper()
			if !(b.Upper() >= want-slack) {
				t.Fatalf("log Z %.12g, upper bound %.12g", want, b.Upper())
			}
			if b.Exact() && math.Abs(b.Upper()-want) > slack && b.Upper() != want {
				t.Fatalf("log Z %.12g, called exact %.12g", want, b.Upper())
			}
			b.Pass()
			if b.Upper() > before {
				t.Fatalf("a pass raises the bound from %.15g to %.15g", before, b.Upper())
			}
		}
		q := b.Marginals()
		for v, p := range q {
			sum := 0.0
			for _, x := range p {
				sum += x
			}
			if !(math.Abs(sum-1) < 1e-9 || sum == 0 && math.IsInf(b.Upper(), -1)) {
				t.Fatalf("marginals of variable %d: %v", v, p)
			}
		}
		if math.IsInf(b.Upper(), -1) {
			return
		}
		if lower := MeanField(m, q, 20, 0); !(lower <= want+slack) {
			t.Fatalf("log Z %.12g, mean field %.12g", want, lower)
		}
	})
}

// The mean field is exact for independent variables, and a sweep never lowers its value.
func TestMeanField(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	m := grid(r, 5, 1)
	q := make([][]float64, len(m.States))
	for v := range q {
		q[v] = []float64{0.5, 0.5}
	}
	before := minusInf
	for range 10 {
		value := MeanField(m, q, 1, 0)
		if value < before-1e-12 {
			t.Fatalf("from %v to %v", before, value)
		}
		before = value
	}
	apart := &factors.Model{States: []int{2, 3},
		Factors: []factors.Factor{{Scope: []int{0}, Table: []float64{1, minusInf}},
			{Scope: []int{1}, Table: []float64{1, 2, 3}}}}
	q = [][]float64{{1, 0}, {0, 1, 0}}
	if got, want := MeanField(apart, q, 2, 0), exact(apart); math.Abs(got-want) > 1e-12 {
		t.Errorf("independent variables: %v, want %v", got, want)
	}
}

// The marginals are the gradient of the bound where the descent has converged, by central differences.
func TestMarginalsAreGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	m := grid(r, 4, 1)
	b := New(m, 4)
	for range 3000 {
		b.Pass()
	}
	p := b.Marginals()
	for _, v := range []int{0, 5, 10} {
		const h = 0.03
		move := func(by float64) float64 {
			moved := *m
			moved.Factors = append(append([]factors.Factor(nil), m.Factors...),
				factors.Factor{Scope: []int{v}, Table: []float64{0, by}})
			c := New(&moved, 4)
			for range 3000 {
				c.Pass()
			}
			return c.Upper()
		}
		if got := (move(h) - move(-h)) / (2 * h); math.Abs(got-p[v][1]) > 4e-3 {
			t.Errorf("variable %d: slope %v, marginal %v", v, got, p[v][1])
		}
	}
}

// Larger tables, shifts and weights each tighten the bound.
func TestTighter(t *testing.T) {
	m := grid(rand.New(rand.NewPCG(3, 1)), 10, 1)
	want := exact(m)
	last := math.Inf(1)
	for _, entries := range []float64{4, 16, 1024, 1e6} {
		b := New(m, entries)
		first := b.Upper()
		for range 100 {
			b.Pass()
		}
		t.Logf("%g entries: %.4f, then %.4f above log Z = %.4f", entries, first-want, b.Upper()-want, want)
		if b.Upper()-want > 0.7*last {
			t.Errorf("%g entries: %v above log Z, smaller tables %v", entries, b.Upper()-want, last)
		}
		if last = b.Upper() - want; !b.Exact() && last > 0.6*(first-want) {
			t.Errorf("%g entries: passes lower the difference from %v to %v only", entries, first-want, last)
		}
	}
}

// BenchmarkPass lowers the bound of a 32×32 grid.
func BenchmarkPass(b *testing.B) {
	m := grid(rand.New(rand.NewPCG(1, 1)), 32, 1)
	for _, entries := range []float64{4, 1024} {
		bound := New(m, entries)
		b.Run(map[float64]string{4: "pairs", 1024: "1024 entries"}[entries], func(b *testing.B) {
			for b.Loop() {
				bound.Pass()
			}
		})
	}
}

// A variable with 100,000 neighbours does not make planning quadratic: that would take hours.
func TestPlanWithHub(t *testing.T) {
	const leaves = 100000
	m := &factors.Model{States: []int{2}}
	for v := 1; v <= leaves; v++ {
		m.States = append(m.States, 3)
		m.Factors = append(m.Factors, factors.Factor{Scope: []int{0, v}})
	}
	if p := newPlan(m, 100); !p.exact || p.entries != 6*leaves+3 {
		t.Fatalf("a star has tables of %d entries and nothing to split, found %v, exact %v", 6*leaves+3, p.entries, p.exact)
	}
}
