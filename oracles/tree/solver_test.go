package tree

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// solver is the common interface of both solvers.
type solver interface {
	Max(arc []float32, n int, heads []int32) float64
	TopK(arc []float32, n, k int, heads []int32, score []float64) int
	Exp(arc []float64, n int, μ float64, marginals []float32) float64
}

// each runs a check on both solvers, with all kernels that this build and machine have.
func each(t *testing.T, check func(t *testing.T, s solver, projective bool)) {
	defer func(k *kernels) { fastest = k }(fastest)
	for _, k := range available {
		fastest = k
		t.Run("projective, "+k.name, func(t *testing.T) { check(t, new(Projective), true) })
		t.Run("non-projective, "+k.name, func(t *testing.T) { check(t, new(NonProjective), false) })
	}
}

// drawArcs draws the scores of a small sentence: integers, which give ties, or reals, at several scales, some −∞.
func drawArcs(t *rapid.T) (arc []float32, n int) {
	n = rapid.IntRange(0, 5).Draw(t, "n")
	scale := rapid.SampledFrom([]float32{1, 100, 1e4}).Draw(t, "scale")
	real := rapid.Custom(func(t *rapid.T) float32 { return scale * rapid.Float32Range(-1, 1).Draw(t, "x") })
	whole := rapid.Custom(func(t *rapid.T) float32 { return scale * float32(rapid.IntRange(-1, 1).Draw(t, "i")) })
	kind := rapid.SampledFrom([]*rapid.Generator[float32]{real, whole}).Draw(t, "kind")
	forbidden := rapid.SampledFrom([]int{0, 1, 5, 8}).Draw(t, "forbidden tenths")
	arc = make([]float32, n*n)
	for i := range arc {
		arc[i] = kind.Draw(t, "arc")
		if rapid.IntRange(0, 9).Draw(t, "tenth") < forbidden {
			arc[i] = float32(minusInf)
		}
	}
	return arc, n
}

func doubles(x []float32) []float64 {
	to := make([]float64, len(x))
	for i, v := range x {
		to[i] = float64(v)
	}
	return to
}

func near(a, b, tolerance float64) bool { return a == b || math.Abs(a-b) <= tolerance }

// largestScore returns the largest finite |score|, at least 1.
func largestScore(arc []float32) float64 {
	m := 1.0
	for _, v := range arc {
		if a := math.Abs(float64(v)); !math.IsInf(a, 1) {
			m = max(m, a)
		}
	}
	return m
}

func checkTree(t rapid.TB, arc []float32, heads []int32, projective bool) {
	if !isTree(heads) || projective && crosses(heads) {
		t.Fatalf("%v is no tree of scores %v", heads, arc)
	}
}

// All checks on sentences of two to five tokens: rapid rarely draws long ones.
func TestSmall(t *testing.T) {
	each(t, func(t *testing.T, s solver, projective bool) {
		r := rand.New(rand.NewPCG(5, 6))
		for i := range 600 {
			n := 2 + i%4
			arc := normal(r, n, []float64{1, 30, 1e4}[i%3])
			for j := range arc {
				if i%7 < 3 {
					arc[j] = float32(r.IntN(3))
				}
				if r.IntN(10) < i%5*2-2 {
					arc[j] = float32(minusInf)
				}
			}
			all := enumerate(arc, n, projective)
			checkMax(t, s, arc, n, all, projective)
			checkTopK(t, s, arc, n, len(all)+2, all, projective)
			checkTopK(t, s, arc, n, 4, all, projective)
			checkExp(t, s, arc, n, 0.8, all)
		}
	})
}

func TestMax(t *testing.T) {
	each(t, func(t *testing.T, s solver, projective bool) {
		rapid.Check(t, func(t *rapid.T) {
			arc, n := drawArcs(t)
			checkMax(t, s, arc, n, enumerate(arc, n, projective), projective)
		})
	})
}

func checkMax(t rapid.TB, s solver, arc []float32, n int, all []tree, projective bool) {
	heads := make([]int32, n)
	value := s.Max(arc, n, heads)
	if len(all) == 0 {
		if value != minusInf || slices.Max(append(heads, 0)) != 0 {
			t.Fatalf("value %g, heads %v, though there is no tree", value, heads)
		}
		return
	}
	checkTree(t, arc, heads, projective)
	if score := Score(arc, heads); value != score {
		t.Fatalf("value %g, the tree scores %g", value, score)
	}
	if !near(value, all[0].score, 1e-6*largestScore(arc)) {
		t.Fatalf("value %g of %v, the best is %g of %v", value, heads, all[0].score, all[0].heads)
	}
}

func TestTopK(t *testing.T) {
	each(t, func(t *testing.T, s solver, projective bool) {
		rapid.Check(t, func(t *rapid.T) {
			arc, n := drawArcs(t)
			all := enumerate(arc, n, projective)
			k := rapid.SampledFrom([]int{0, 1, 2, 5, 17, len(all), len(all) + 3}).Draw(t, "k")
			checkTopK(t, s, arc, n, k, all, projective)
		})
	})
}

// checkTopK checks that the k best trees come in order and without repetition.
func checkTopK(t rapid.TB, s solver, arc []float32, n, k int, all []tree, projective bool) {
	heads, score := make([]int32, k*n), make([]float64, k)
	count := s.TopK(arc, n, k, heads, score)
	if want := min(k, len(all)); count != want {
		t.Fatalf("%d trees, want %d of %d", count, want, len(all))
	}
	seen := map[string]bool{}
	for m := range count {
		tree := heads[m*n : (m+1)*n]
		checkTree(t, arc, tree, projective)
		if key := fmt.Sprint(tree); seen[key] {
			t.Fatalf("%v occurs twice", tree)
		} else {
			seen[key] = true
		}
		if own := Score(arc, tree); own != score[m] || m > 0 && own > score[m-1] {
			t.Fatalf("tree %d scores %g, reported as %g after %g", m, own, score[m], score[max(0, m-1)])
		}
		if !near(score[m], all[m].score, 1e-6*largestScore(arc)) {
			t.Fatalf("tree %d scores %g, want %g", m, score[m], all[m].score)
		}
	}
}

func TestExp(t *testing.T) {
	each(t, func(t *testing.T, s solver, projective bool) {
		rapid.Check(t, func(t *rapid.T) {
			arc, n := drawArcs(t)
			μ := rapid.SampledFrom([]float64{0.1, 1, 7}).Draw(t, "μ")
			checkExp(t, s, arc, n, μ, enumerate(arc, n, projective))
		})
	})
}

func checkExp(t rapid.TB, s solver, arc []float32, n int, μ float64, all []tree) {
	want, wantMarginals := logSumExp(all, n, μ)
	marginals := make([]float32, n*n)
	value := s.Exp(doubles(arc), n, μ, marginals)
	if !near(value, want, 1e-11*largestScore(arc)) {
		t.Fatalf("value %.15g, want %.15g", value, want)
	}
	if alone := s.Exp(doubles(arc), n, μ, nil); alone != value {
		t.Fatalf("value %.15g without marginals, %.15g with them", alone, value)
	}
	for i, v := range marginals {
		if !near(float64(v), wantMarginals[i], 2e-7) {
			t.Fatalf("marginals %v, want %v", marginals, wantMarginals)
		}
	}
}

// The sum stays in the range of float64 here, but marginals do not: the value is the same with them and without them.
func TestExpMarginalsOutOfRange(t *testing.T) {
	arc, n := []float32{
		10000, 10000, 5000, 10000, 10000,
		5000, 5000, 2500, 5000, 5000,
		10000, 10000, 10000, 10000, 10000,
		10000, 10000, 5000, 10000, 10000,
		5000, 5312.5, -10000, -10000, 10000,
	}, 5
	each(t, func(t *testing.T, s solver, projective bool) {
		checkExp(t, s, arc, n, 7, enumerate(arc, n, projective))
	})
}

// The sum over logarithms of weights, which only large scores need, is right for all scores.
func TestExpOfLogs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arc, n := drawArcs(t)
		if n == 0 {
			return
		}
		μ := rapid.SampledFrom([]float64{0.1, 1, 7}).Draw(t, "μ")
		check := func(value float64, marginals []float32, projective bool) {
			want, wantMarginals := logSumExp(enumerate(arc, n, projective), n, μ)
			if !near(value, want, 1e-11*largestScore(arc)) {
				t.Fatalf("value %.15g, want %.15g", value, want)
			}
			for i, v := range marginals {
				if want > minusInf && !near(float64(v), wantMarginals[i], 2e-7) {
					t.Fatalf("marginals %v, want %v", marginals, wantMarginals)
				}
			}
		}
		var p Projective
		p.sums.resize(n)
		p.weights = make([]float64, n)
		marginals := make([]float32, n*n)
		check(p.expOfLogs(doubles(arc), n, μ, marginals), marginals, true)

		var m matrixTree
		m.resize(n)
		m.setLogWeights(doubles(arc), μ)
		if m.run(&logElimination, true) {
			m.writeLogs(marginals)
			check(μ*m.logTotal, marginals, false)
		} else {
			check(minusInf, nil, false)
		}
	})
}

// Rescaled sums, which long sentences need, are right where they are in range. They are for all trees of scores of
// moderate size.
func TestExpRescaled(t *testing.T) {
	each(t, func(t *testing.T, s solver, projective bool) {
		p, ok := s.(*Projective)
		if !ok {
			return
		}
		rapid.Check(t, func(t *rapid.T) {
			arc, n := drawArcs(t)
			if n == 0 {
				return
			}
			μ := rapid.SampledFrom([]float64{0.1, 1, 7}).Draw(t, "μ")
			marginals := make([]float32, n*n)
			all := enumerate(arc, n, true)
			value, ok := p.expRescaled(doubles(arc), n, μ, marginals)
			if !ok {
				if len(all) > 0 && largestScore(arc) <= 1 {
					t.Fatalf("small scores are out of range")
				}
				return
			}
			want, wantMarginals := logSumExp(all, n, μ)
			if !near(value, want, 1e-11*largestScore(arc)) {
				t.Fatalf("value %.15g, want %.15g", value, want)
			}
			for i, v := range marginals {
				if !near(float64(v), wantMarginals[i], 2e-7) {
					t.Fatalf("marginals %v, want %v", marginals, wantMarginals)
				}
			}
		})
	})
}

// Sums over the trees of a long sentence need no logarithms: of C(3n−2, n−1)/n trees that score alike, and where the
// root and one arc of each word score more than others, which damping brings out of float64's range.
func TestExpOfLongSentences(t *testing.T) {
	const n = 360
	var p Projective
	arc, marginals := make([]float64, n*n), make([]float32, n*n)
	logFactorial := func(n float64) float64 { l, _ := math.Lgamma(n + 1); return l }
	count := logFactorial(3*n-2) - logFactorial(n-1) - logFactorial(2*n-1) - math.Log(n)
	for _, likely := range []bool{false, true} {
		for d := range n {
			if likely { // words hang on the next one, the last on the root
				arc[d*n+min(d+1, n-1)] = 12
			}
		}
		value, of := p.fill(arc, n, 1)
		if (of == rescaled) != likely || of == logarithms {
			t.Fatalf("likely arcs %v: sums of kind %d", likely, of)
		}
		if p.differentiate(of, marginals); !likely && !near(value, count, 1e-9*count) || likely &&
			!(value > 12*n && value < 12*n+count) {
			t.Errorf("likely arcs %v: value %.15g of trees whose number has the logarithm %.15g", likely, value, count)
		}
		for d := range n {
			sum := 0.0
			for _, p := range marginals[d*n : (d+1)*n] {
				sum += float64(p)
			}
			if !near(sum, 1, 1e-5) {
				t.Fatalf("likely arcs %v: the probabilities of a word's heads sum to %g", likely, sum)
			}
		}
	}
}

// Marginals are the gradient of the value, on sentences too long to enumerate.
func TestExpGradient(t *testing.T) {
	each(t, func(t *testing.T, s solver, projective bool) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{7, 12, 18, 33} {
			arc := normal(r, n, 1)
			forbid(r, arc, n, 0.2)
			μ := 0.7
			marginals := make([]float32, n*n)
			s.Exp(doubles(arc), n, μ, marginals)
			for range 20 {
				i := r.IntN(n * n)
				if arc[i] == float32(minusInf) {
					if marginals[i] != 0 {
						t.Fatalf("a forbidden arc has probability %g", marginals[i])
					}
					continue
				}
				const step = 1.0 / 512
				at := arc[i]
				arc[i] = at + step
				up, by := s.Exp(doubles(arc), n, μ, nil), float64(arc[i])
				arc[i] = at - step
				down := s.Exp(doubles(arc), n, μ, nil)
				by -= float64(arc[i])
				arc[i] = at
				if slope := (up - down) / by; !near(slope, float64(marginals[i]), 1e-5) {
					t.Fatalf("n = %d: slope %g by arc %d, probability %g", n, slope, i, marginals[i])
				}
			}
		}
	})
}

// normal draws n×n scores.
func normal(r *rand.Rand, n int, scale float64) []float32 {
	arc := make([]float32, n*n)
	for i := range arc {
		arc[i] = float32(scale * r.NormFloat64())
	}
	return arc
}

// forbid forbids a share of the arcs, except those of one tree: the first token is the root, and each token has the
// next as dependent.
func forbid(r *rand.Rand, arc []float32, n int, share float64) {
	for i := range arc {
		if d, h := i/n, i%n; r.Float64() < share && d > 0 && h != d-1 {
			arc[i] = float32(minusInf)
		}
	}
}

// Each token has one expected head, and one token has the root; two ways to sum agree.
func TestExpLong(t *testing.T) {
	each(t, func(t *testing.T, s solver, projective bool) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, n := range []int{20, 60, 110} {
			for _, scale := range []float64{0.1, 1, 30, 1000} {
				arc := normal(r, n, scale)
				forbid(r, arc, n, 0.3)
				marginals := make([]float32, n*n)
				value, heads := s.Exp(doubles(arc), n, 1, marginals), make([]int32, n)
				root := 0.0
				for d := range n {
					sum := 0.0
					for _, v := range marginals[d*n : (d+1)*n] {
						sum += float64(v)
					}
					root += float64(marginals[d*n+d])
					if !near(sum, 1, 1e-5) {
						t.Fatalf("n = %d, scale %g: heads of %d have probability %g", n, scale, d, sum)
					}
				}
				if !near(root, 1, 1e-5) {
					t.Fatalf("n = %d, scale %g: root arcs have probability %g", n, scale, root)
				}
				if best := s.Max(arc, n, heads); value < best-1e-9*math.Abs(best) {
					t.Fatalf("n = %d, scale %g: value %g below the best tree's %g", n, scale, value, best)
				}
				if scale > 1 && n > 60 {
					continue
				}
				var other float64
				if projective {
					p := s.(*Projective)
					p.sums.resize(n)
					other = p.expOfLogs(doubles(arc), n, 1, nil)
				} else {
					var m matrixTree
					m.resize(n)
					m.setLogWeights(doubles(arc), 1)
					m.run(&logElimination, false)
					other = m.logTotal
				}
				if !near(value, other, 1e-11*math.Abs(value)+1e-10) {
					t.Fatalf("n = %d, scale %g: value %.15g, of logarithms %.15g", n, scale, value, other)
				}
			}
		}
	})
}

// Sentences too long to enumerate, compared with float64 references that share no code; the K best trees begin with the
// best one.
func TestMaxLong(t *testing.T) {
	each(t, func(t *testing.T, s solver, projective bool) {
		r := rand.New(rand.NewPCG(7, 8))
		for i := range 12 {
			n := []int{15, 33, 60}[i%3]
			scale := []float64{1, 100, 1e4, 1e-3}[i%4]
			arc := normal(r, n, scale)
			forbid(r, arc, n, float64(i%5)*0.2)
			heads, score := make([]int32, 6*n), make([]float64, 6)
			want := bestTree(arc, n)
			if projective {
				want = bestProjective(arc, n)
			}
			got := s.Max(arc, n, heads[:n])
			checkTree(t, arc, heads[:n], projective)
			if !near(got, want, 1e-5*scale) {
				t.Errorf("n = %d: best tree scores %g, want %g", n, got, want)
			}
			if count := s.TopK(arc, n, 6, heads, score); count != 6 || !near(score[0], want, 1e-5*scale) {
				t.Errorf("n = %d: %d best trees from %g, want %g", n, count, score[0], want)
			}
		}
	})
}

// Two pairs of words that prefer each other, so that every tree needs two nearly impossible arcs. The product of their
// weights is near the limit of float64's range.
func TestExpAtTheEdge(t *testing.T) {
	each(t, func(t *testing.T, s solver, projective bool) {
		r := rand.New(rand.NewPCG(9, 10))
		for i := range 300 {
			const n = 4
			arc := normal(r, n, 1)
			for j := range arc {
				if d, h := j/n, j%n; h != d^1 {
					arc[j] -= 300 + float32(i)/4
					if i%3 > 0 && r.IntN(4) == 0 {
						arc[j] = float32(minusInf)
					}
				}
			}
			checkExp(t, s, arc, n, 1, enumerate(arc, n, projective))
		}
	})
}

// Two trees of about the same score; the weight of one arc in one of them alone exceeds float64's range.
func TestExpLosesNoTree(t *testing.T) {
	each(t, func(t *testing.T, s solver, projective bool) {
		const n = 4
		x := float32(minusInf)
		arc := []float32{
			-690, 0, -0.5, x,
			0, x, x, x,
			-690, x, -1379.5, 0,
			x, x, 0, x,
		}
		checkExp(t, s, arc, n, 1, enumerate(arc, n, projective))
	})
}
