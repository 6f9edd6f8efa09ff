package foreign

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// forest is a tree of one or several roots with its score.
type forest struct {
	y     []int32
	score float64
}

// forests are all heads without a cycle, with all relations, the best first.
func forests(s trees.SpanningTree, θ *structured.Potentials, b int) (all []forest) {
	n, relations := (θ.Outputs[b+1]-θ.Outputs[b])/2, θ.Parts[1].Width
	y := make([]int32, 2*n)
	var visit func(at int)
	visit = func(at int) {
		if at < 2*n {
			most := n + 1
			if at >= n {
				most = relations
			}
			for y[at] = 0; int(y[at]) < most; y[at]++ {
				visit(at + 1)
			}
			return
		}
		for d := range n { // n steps from any word lead to the root
			at, steps := d+1, 0
			for ; at > 0 && steps <= n; steps++ {
				at = int(y[at-1])
			}
			if at > 0 {
				return
			}
		}
		if s.NonProjective || trees.Projective(y[:n]) {
			all = append(all, forest{slices.Clone(y), θ.Score(b, y)})
		}
	}
	visit(0)
	slices.SortStableFunc(all, func(a, b forest) int { return cmp.Compare(b.score, a.score) })
	return all
}

// Trees of several roots answer every question as the enumeration of them does.
func TestSeveralRoots(t *testing.T) {
	const μ, k = 0.7, 9
	for _, s := range []trees.SpanningTree{{}, {NonProjective: true}} {
		for seed := range uint64(8) {
			r := rand.New(rand.NewPCG(seed, 1))
			θ, q := registry.Of(s).Small(r), new(structured.Potentials)
			for p := range θ.Parts {
				for i := range θ.Parts[p].Values {
					θ.Parts[p].Values[i] = float32(r.NormFloat64())
				}
			}
			q.Copy(θ)
			for p := range q.Parts {
				for i := range q.Parts[p].Values {
					q.Parts[p].Values[i] = float32(r.NormFloat64())
				}
			}
			b, values := (&asked{roots: true}).batch(θ)
			_, others := (&asked{roots: true}).batch(q)
			n := b.Len()
			y, best, logZ, scores, count := make([]int32, b.Numbers()), make([]float64, n), make([]float64, n), make([]float64, n*k), make([]int, n)
			tops, u := make([]int32, k*b.Numbers()), [][]float32{make([]float32, b.MarginalSize(0)), make([]float32, b.MarginalSize(1))}
			gradient := [][]float32{make([]float32, len(u[0])), make([]float32, len(u[1]))}
			loss, entropy, divergence, own := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
			seeds, samples, drawn := make([]uint64, n), make([]int32, 600*b.Numbers()), make([]int, n)
			for e := range seeds {
				seeds[e] = seed + uint64(e)
			}
			for what, ask := range map[string]func() (int, error){
				"max": func() (int, error) { return b.Max(values, Run{}, y, best) }, "exp": func() (int, error) { return b.Exp(values, Run{}, μ, logZ, u) },
				"top-K": func() (int, error) { return b.TopK(values, Run{}, k, tops, scores, count) }, "entropy": func() (int, error) { return b.Divergence(values, nil, Run{}, μ, entropy) },
				"divergence": func() (int, error) { return b.Divergence(values, others, Run{}, μ, divergence) },
				"samples":    func() (int, error) { return b.Sample(values, Run{}, μ, 600, seeds, samples, drawn) },
			} {
				if answered, err := ask(); err != nil || answered != n {
					t.Fatalf("%s: %d of %d, %v", what, answered, n, err)
				}
			}
			if _, err := b.Score(values, Run{}, y, own); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Loss(values, Run{}, y, loss, gradient); err != nil {
				t.Fatal(err)
			}
			for e := range n {
				lo, hi := b.outputs[e], b.outputs[e+1]
				all := forests(s, θ, e)
				oracletest.Near(t, "the best score", best[e], all[0].score, 1e-5)
				oracletest.Near(t, "the score of the best", own[e], all[0].score, 1e-5)
				if got := y[lo:hi]; !slices.ContainsFunc(all, func(f forest) bool { return slices.Equal(f.y, got) }) {
					t.Fatalf("%v is no forest", got)
				}
				z, z1, zq := 0.0, 0.0, 0.0
				for _, f := range all {
					z, z1, zq = z+math.Exp(f.score/μ), z1+math.Exp(f.score), zq+math.Exp(q.Score(e, f.y)/μ)
				}
				oracletest.Near(t, "log Z", logZ[e], μ*math.Log(z), 1e-4)
				oracletest.Near(t, "loss", loss[e], math.Log(z1)-all[0].score, 1e-4)
				var wide, wide1 structured.Marginals
				wide.Like(θ)
				wide1.Like(θ)
				wide.Clear()
				wide1.Clear()
				h, kl := 0.0, 0.0
				for _, f := range all {
					p := math.Exp(f.score/μ) / z
					wide.Add(e, f.y, float32(p))
					wide1.Add(e, f.y, float32(math.Exp(f.score)/z1))
					h -= p * math.Log(p)
					kl += p * (math.Log(p) - q.Score(e, f.y)/μ + math.Log(zq))
				}
				wide1.Add(e, y[lo:hi], -1)
				oracletest.Near(t, "entropy", entropy[e], h, 1e-3)
				oracletest.Near(t, "divergence", divergence[e], kl, 1e-3)
				for part := range u {
					from := wide.Parts[part].Offsets[e] * wide.Parts[part].Width
					for i, want := range wide.Parts[part].Of(e) {
						oracletest.Near(t, "marginal", float64(u[part][from+i]), float64(want), 1e-4)
						oracletest.Near(t, "gradient", float64(gradient[part][from+i]), float64(wide1.Parts[part].Of(e)[i]), 1e-4)
					}
				}
				if count[e] != min(k, len(all)) || hi > lo && drawn[e] != 600 {
					t.Fatalf("%d best of %d forests, %d samples", count[e], len(all), drawn[e])
				}
				for j := range count[e] {
					oracletest.Near(t, "a best score", scores[e*k+j], all[j].score, 1e-5)
					oracletest.Near(t, "the score of one of the best", θ.Score(e, tops[k*lo+j*(hi-lo):][:hi-lo]), all[j].score, 1e-5)
				}
				often := map[string]float64{}
				for j := range drawn[e] {
					often[string(bytesOf(samples[600*lo+j*(hi-lo):][:hi-lo]))] += 1. / 600
				}
				for _, f := range all {
					p, name := math.Exp(f.score/μ)/z, string(bytesOf(f.y))
					if math.Abs(often[name]-p) > 0.1 {
						t.Errorf("%v is drawn with probability %v, expected %v", f.y, often[name], p)
					}
					delete(often, name)
				}
				if len(often) > 0 {
					t.Errorf("drawn: %v, which are no forests", often)
				}
			}
		}
	}
}

func bytesOf(y []int32) (all []byte) {
	for _, x := range y {
		all = append(all, byte(x))
	}
	return all
}

// Arrays that do not have the sizes of the batch are refused by name, and so are numbers that no question has.
func TestSizesOfAnswers(t *testing.T) {
	form, err := NewForm([]byte(`{"structure": "chain", "labels": 2}`))
	if err != nil {
		t.Fatal(err)
	}
	o := []int{0, 3, 5}
	b, err := form.NewBatch(Layout{Outputs: o, Offsets: [][]int{o, nil}})
	if err != nil {
		t.Fatal(err)
	}
	values, y, value, run := [][]float32{make([]float32, 10), make([]float32, 4)}, make([]int32, 5), make([]float64, 2), Run{}
	u := [][]float32{make([]float32, b.MarginalSize(0)), make([]float32, b.MarginalSize(1))}
	for want, ask := range map[string]func() (int, error){
		"4 numbers and 2 values, expected 5 and 2":  func() (int, error) { return b.Max(values, run, y[:4], value) },
		"5 numbers and 1 values, expected 5 and 2":  func() (int, error) { return b.Max(values, run, y, value[:1]) },
		"5 numbers and 2 values, expected 10 and 4": func() (int, error) { return b.TopK(values, run, 2, y, value, make([]int, 2)) },
		"3 counts, expected 2":                      func() (int, error) { return b.TopK(values, run, 1, y, value, make([]int, 3)) },
		"0 best outputs, expected at least 1":       func() (int, error) { return b.TopK(values, run, 0, nil, nil, make([]int, 2)) },
		"0 samples, expected at least 1":            func() (int, error) { return b.Sample(values, run, 1, 0, nil, nil, nil) },
		"temperature 0, expected a number above 0":  func() (int, error) { return b.Sample(values, run, 0, 1, make([]uint64, 2), y, make([]int, 2)) },
		"temperature +Inf, expected a number above 0": func() (int, error) {
			return b.Sample(values, run, math.Inf(1), 1, make([]uint64, 2), y, make([]int, 2))
		},
		"5 numbers, 1 seeds and 2 counts, expected 5, 2 and 2": func() (int, error) { return b.Sample(values, run, 1, 1, make([]uint64, 1), y, make([]int, 2)) },
		"5 numbers, 2 seeds and 3 counts, expected 5, 2 and 2": func() (int, error) { return b.Sample(values, run, 1, 1, make([]uint64, 2), y, make([]int, 3)) },
		"the loss has no place for its gradient":               func() (int, error) { return b.Loss(values, run, y, value, nil) },
		`part "node" has 9 numbers, expected 10`:               func() (int, error) { return b.Divergence(values, [][]float32{values[0][:9], values[1]}, run, 1, value) },
		`marginals of part "edge" have 3 numbers, expected 8`:  func() (int, error) { return b.Exp(values, run, 1, value, [][]float32{u[0], u[1][:3]}) },
		"label 2 at place 1, expected 0 to 1":                  func() (int, error) { return b.Score(values, run, []int32{0, 2, 0, 0, 0}, value) },
		"5 numbers and 3 values, expected 5 and 2":             func() (int, error) { return b.Score(values, run, y, make([]float64, 3)) },
	} {
		if n, err := ask(); n != 0 || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d, %v, expected %s", n, err, want)
		}
	}
	if n, err := b.Exp(values, run, 1, value, u); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
