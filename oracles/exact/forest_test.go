package exact

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// drawForest draws a forest of n variables, one of which has a crowd of neighbours, with potentials of a given scale.
func drawForest(r *rand.Rand, kind graphs.Edges, n, labels int, scale, forbidden float64) *structured.Potentials {
	const types = 3
	g := &structured.Graph{}
	for v := 1; v < n; v++ {
		u := r.IntN(v)
		switch x := r.IntN(10); {
		case x == 0:
			continue
		case x < 4:
			u = 0
		}
		ends := [2]int32{int32(u), int32(v)}
		if r.IntN(2) == 0 {
			ends[0], ends[1] = ends[1], ends[0]
		}
		g.Ends, g.Types = append(g.Ends, ends), append(g.Types, int32(r.IntN(types)))
	}
	θ := new(structured.Potentials)
	θ.Reshape(graphs.Pairwise{Edges: kind}.Form(labels, types), []int{0, n}, func(table string) []int {
		if table == graphs.EdgeRows {
			return []int{0, len(g.Ends)}
		}
		return []int{0, n}
	})
	θ.Graphs = []*structured.Graph{g}
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] = float32(scale * r.NormFloat64())
			if k == 0 && r.Float64() < forbidden {
				θ.Parts[k].Values[i] = float32(minusInf)
			}
		}
	}
	return θ
}

// eachForest calls check for the kernels of this machine, all kinds of edges and several numbers of labels.
func eachForest(t *testing.T, check func(t *testing.T, o *Oracle, r *rand.Rand, kind graphs.Edges, labels int)) {
	for _, k := range available {
		for kind := graphs.Own; kind <= graphs.Potts; kind++ {
			for _, labels := range []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33} {
				t.Run(fmt.Sprintf("%s, %v, Y=%d", k.name, kind, labels), func(t *testing.T) {
					check(t, &Oracle{k: k}, rand.New(rand.NewPCG(uint64(labels), 3)), kind, labels)
				})
			}
		}
	}
}

// reference sums over the labels of a forest in logarithms, without kernels, and adds the marginals.
func reference(x *example, μ float64, node, edge []float32) float64 {
	w, scores, total := x.labels, make([]float64, x.labels), 0.0
	below, above, p := make([]float64, x.n*w), make([]float64, x.n*w), make([]float64, x.n*w)
	for k, s := range x.node {
		below[k] = float64(s) / μ
	}
	for k := x.n - 1; k >= 0; k-- {
		s := x.plan.steps[k]
		own := below[int(s.v)*w:][:w]
		if s.parent < 0 {
			total += logSum(own)
			continue
		}
		for l := range w {
			x.with(own, s.v, s.edge, l, 1/μ, scores)
			above[int(s.v)*w+l] = logSum(scores)
			below[int(s.parent)*w+l] += above[int(s.v)*w+l]
		}
	}
	if math.IsInf(total, -1) {
		return total
	}
	pairs := make([]float64, len(edge))
	for _, s := range x.plan.steps {
		own, mine := below[int(s.v)*w:][:w], p[int(s.v)*w:][:w]
		if s.parent < 0 {
			z := logSum(own)
			for l, b := range own {
				mine[l] = math.Exp(b - z)
			}
		} else {
			for l, q := range p[int(s.parent)*w:][:w] {
				if q == 0 {
					continue
				}
				x.with(own, s.v, s.edge, l, 1/μ, scores)
				for k, score := range scores {
					joint := q * math.Exp(score-above[int(s.v)*w+l])
					mine[k] += joint
					x.add(pairs, s.v, s.edge, k, l, joint)
				}
			}
		}
		for l, q := range mine {
			node[int(s.v)*w+l] = float32(q)
		}
	}
	for k, q := range pairs {
		edge[k] = float32(q)
	}
	return μ * total
}

// Sums on scaled probabilities, which are refused only if potentials span much, and sums in logarithms equal those
// without kernels.
func TestScaledSums(t *testing.T) {
	eachForest(t, func(t *testing.T, o *Oracle, r *rand.Rand, kind graphs.Edges, labels int) {
		for _, scale := range []float64{0.1, 1, 8, 200} {
			θ := drawForest(r, kind, 50, labels, scale, 0.05)
			x, want := exampleOf(θ, 0), zerosLike(θ)
			value := reference(&x, 0.7, want.Parts[0].Values, want.Parts[1].Values)
			o.prepareExp(θ, 0.7)
			got := zerosLike(θ)
			sameSums(t, scale, o.logExp(&x, 0.7, got.Parts[0].Values, got.Parts[1].Values), value, got, want)
			got = zerosLike(θ)
			if v, ok := o.forestExp(&x, 0.7, got.Parts[0].Values, got.Parts[1].Values); ok {
				sameSums(t, scale, v, value, got, want)
			} else if scale <= 1 {
				t.Fatalf("scale %g: refused", scale)
			}
		}
	})
}

func sameSums(t *testing.T, scale, v, value float64, got, want *structured.Marginals) {
	t.Helper()
	if math.IsInf(value, -1) {
		if v != value {
			t.Fatalf("scale %g: value %g, want %g", scale, v, value)
		}
		return
	}
	if !(math.Abs(v-value) <= 1e-6*(1+math.Abs(value))) {
		t.Fatalf("scale %g: value %.12g, want %.12g", scale, v, value)
	}
	for k := range want.Parts {
		for i, w := range want.Parts[k].Values {
			if g := got.Parts[k].Values[i]; !(math.Abs(float64(g-w)) <= 1e-5*(1+float64(w))) {
				t.Fatalf("scale %g: marginal %d of %s is %g, want %g", scale, i, want.Parts[k].Name, g, w)
			}
		}
	}
}

func zerosLike(θ *structured.Potentials) *structured.Marginals {
	u := new(structured.Marginals)
	u.Like(θ)
	u.Clear()
	return u
}

// Every set of kernels finds the same labels, bit for bit the best.
func TestMaxOfKernels(t *testing.T) {
	eachForest(t, func(t *testing.T, o *Oracle, r *rand.Rand, kind graphs.Edges, labels int) {
		θ := drawForest(r, kind, 150, labels, 3, 0.05)
		y, want, value := make([]int32, 150), make([]int32, 150), make([]float64, 2)
		o.Max(θ, y, value[:1])
		(&Oracle{k: &plain}).Max(θ, want, value[1:])
		for v := range y {
			if y[v] != want[v] {
				t.Fatalf("label %d of variable %d, want %d; values %v", y[v], v, want[v], value)
			}
		}
		x := exampleOf(θ, 0)
		o.collectMax(&x, nil)
		best := 0.0
		for _, s := range x.plan.steps {
			if s.parent < 0 {
				best += highest(o.rowOf(o.below, s.v))
			}
		}
		if best != value[0] && !(math.Abs(best-value[0]) <= 1e-9*math.Abs(best)) {
			t.Fatalf("score of the labels %.12g, best score %.12g", value[0], best)
		}
	})
}

// The best max-marginal of every variable is the best score, and restricting the variable to another label gives that
// label's.
func TestForestMaxMarginals(t *testing.T) {
	eachForest(t, func(t *testing.T, o *Oracle, r *rand.Rand, kind graphs.Edges, labels int) {
		θ := drawForest(r, kind, 60, labels, 3, 0.05)
		y, value := make([]int32, 60), make([]float64, 1)
		var m oracles.MaxMarginals
		o.MaxMarginals(θ, y, value, &m)
		if math.IsInf(value[0], -1) {
			t.Skip("no labels are allowed")
		}
		node := θ.Parts[0].Values
		for v := 0; v < 60; v += 7 {
			l := r.IntN(labels)
			restricted := new(structured.Potentials)
			restricted.Copy(θ)
			for k := range labels {
				if k != l {
					restricted.Parts[0].Values[v*labels+k] = float32(minusInf)
				}
			}
			o.Max(restricted, y, value)
			if got := m.Of(0)[v*labels+l]; got != value[0] && !(math.Abs(got-value[0]) <= 1e-9*math.Abs(got)) {
				t.Fatalf("max-marginal of label %d of variable %d, potential %g, is %.12g, want %.12g", l, v, node[v*labels+l], got,
					value[0])
			}
		}
	})
}

// Neither call allocates once the scratch memory has grown.
func TestForestsDoNotAllocate(t *testing.T) {
	for kind := graphs.Own; kind <= graphs.Potts; kind++ {
		θ, o := drawForest(rand.New(rand.NewPCG(1, 1)), kind, 100, 5, 1, 0), New()
		y, value, u := make([]int32, 100), make([]float64, 1), new(structured.Marginals)
		if n := testing.AllocsPerRun(5, func() {
			o.Max(θ, y, value)
			o.Exp(θ, 1, value, u)
		}); n > 0 {
			t.Errorf("%v: %g allocations per call", kind, n)
		}
	}
}
