package monotone_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	align "github.com/dsp-go/dsp/oracles/monotone"
	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/monotone"
)

func TestContract(t *testing.T) {
	for _, name := range align.Kernels() {
		t.Run(name, func(t *testing.T) { oracletest.Run(t, registry.Of(monotone.Alignment{}), align.NewOf(name)) })
	}
}

// draw returns alignments of sequences of these lengths with normally distributed scores, some of them forbidden.
func draw(count, n, m int, forbidden float64) *structured.Potentials {
	sources, targets := make([]int, count), make([]int, count)
	for b := range count {
		sources[b], targets[b] = n, m
	}
	θ := new(structured.Potentials)
	monotone.Alignment{}.Resize(θ, sources, targets)
	r := rand.New(rand.NewPCG(uint64(n), uint64(m)))
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			if θ.Parts[k].Values[i] = float32(r.NormFloat64()); r.Float64() < forbidden {
				θ.Parts[k].Values[i] = float32(math.Inf(-1))
			}
		}
	}
	return θ
}

// sumsInLogs returns log Z of an example and the marginals of its pairs by the textbook's recurrences, forwards and
// backwards, in logarithms.
func sumsInLogs(θ *structured.Potentials, b int) (value float64, pairs []float64) {
	n, m := monotone.Sizes(θ.Parts, b)
	pair, step := θ.Parts[0].Of(b), θ.Parts[1].Of(b)
	α, β := make([]float64, n*m), make([]float64, n*m)
	sum := func(all ...float64) float64 {
		top := slices.Max(all)
		if math.IsInf(top, -1) {
			return top
		}
		s := 0.0
		for _, x := range all {
			s += math.Exp(x - top)
		}
		return top + math.Log(s)
	}
	get := func(of []float64, i, j int) float64 {
		if i < 0 || j < 0 || i >= n || j >= m {
			return math.Inf(-1)
		}
		return of[i*m+j]
	}
	score := func(i, d int) float64 { return float64(step[2*i+d]) }
	for i := range n {
		for j := range m {
			if i+j > 0 {
				α[i*m+j] = get(α, i, j-1)
				if i > 0 {
					α[i*m+j] = sum(get(α, i, j-1), get(α, i-1, j)+score(i, 0), get(α, i-1, j-1)+score(i, 1))
				}
			}
			α[i*m+j] += float64(pair[i*m+j])
		}
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if i+j < n+m-2 {
				to := func(i, j int, by float64) float64 {
					if i >= n || j >= m {
						return math.Inf(-1)
					}
					return β[i*m+j] + float64(pair[i*m+j]) + by
				}
				β[i*m+j] = to(i, j+1, 0)
				if i+1 < n {
					β[i*m+j] = sum(to(i, j+1, 0), to(i+1, j, score(i+1, 0)), to(i+1, j+1, score(i+1, 1)))
				}
			}
		}
	}
	value = α[n*m-1]
	for k := range α {
		pairs = append(pairs, math.Exp(α[k]+β[k]-value))
	}
	return value, pairs
}

// All kernels give the same bits on sequences that are longer than a vector, longer on either side, and as textbooks
// say; the list of the best outputs begins with the best one, descends, and has no output twice.
func TestLong(t *testing.T) {
	for _, size := range [][2]int{{1, 40}, {40, 1}, {7, 90}, {90, 7}, {33, 34}, {64, 64}} {
		θ := draw(2, size[0], size[1], 0.02)
		var best, wantBest oracles.KBest
		want, wantSum, got, sum := make([]float64, 2), make([]float64, 2), make([]float64, 2), make([]float64, 2)
		var wantU, u structured.Marginals
		y := make([]int32, θ.OutputSize())
		for n, name := range align.Kernels() {
			o := align.NewOf(name)
			o.Max(θ, y, got)
			o.Exp(θ, 0.7, sum, &u)
			o.TopK(θ, 30, &best)
			if n == 0 {
				copy(want, got)
				copy(wantSum, sum)
				wantU.Copy(&u)
				o.TopK(θ, 30, &wantBest)
			}
			if !slices.Equal(got, want) || !slices.Equal(sum, wantSum) || !slices.Equal(best.Values, wantBest.Values) {
				t.Errorf("%s: %v, %v; plain Go: %v, %v", name, got, sum, want, wantSum)
			}
			oracletest.NearMarginals(t, name+": marginals", &u, &wantU, 0)
			for b := range got {
				score := best.Score[b*30 : b*30+best.Count[b]]
				seen := map[string]bool{}
				for i := range score {
					seen[fmt.Sprint(best.Output(i, θ.Outputs[b], θ.Outputs[b+1]))] = true
				}
				if len(score) > 0 && score[0] != got[b] || len(seen) != len(score) ||
					!slices.IsSortedFunc(score, func(a, b float64) int { return cmp.Compare(b, a) }) {
					t.Errorf("%s: %d different outputs with scores %v; the best has %g", name, len(seen), score, got[b])
				}
			}
		}
		o := align.New()
		o.Exp(θ, 1, sum, &u)
		for b := range sum {
			value, pairs := sumsInLogs(θ, b)
			oracletest.Near(t, "sum", sum[b], value, 1e-9*(1+math.Abs(value)))
			for k, p := range pairs {
				if !math.IsInf(value, -1) {
					oracletest.Near(t, "marginal", float64(u.Parts[0].Of(b)[k]), p, 1e-6)
				}
			}
		}
	}
}

// Two sequences of 1,500 items, whose sums reach far beyond float64, are no harder than short ones: the best output is
// one and scores its value, and a sum at a low temperature comes close to it.
func TestSequences(t *testing.T) {
	θ := draw(1, 1500, 1500, 0)
	for k := range θ.Parts {
		for i := range θ.Parts[k].Values {
			θ.Parts[k].Values[i] *= 100
		}
	}
	o := align.New()
	y, value, sum := make([]int32, θ.OutputSize()), make([]float64, 1), make([]float64, 1)
	o.Max(θ, y, value)
	if !monotone.Valid(y, 1500, 1500) || θ.Score(0, y) != value[0] {
		t.Errorf("the best output scores %g, its value is %g", θ.Score(0, y), value[0])
	}
	var u structured.Marginals
	o.Exp(θ, 1, sum, &u)
	if bound := oracles.Rounding(o, θ, 0, 1); sum[0] < value[0]-bound || sum[0] > value[0]+3000*math.Log(3) ||
		bound > 1e-3 {
		t.Errorf("sum %g, best %g, rounding %g", sum[0], value[0], bound)
	}
	total := 0.0
	for d := range y {
		total = 0
		for i := max(0, d-1499); i <= min(d, 1499); i++ {
			total += float64(u.Parts[0].Values[i*1500+d-i])
		}
		if total > 1+1e-5 {
			t.Fatalf("the pairs with i+j = %d have probability %g", d, total)
		}
	}
	oracletest.Near(t, "probability of the last pair", total, 1, 1e-6)
}
