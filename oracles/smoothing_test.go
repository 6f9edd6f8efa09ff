package oracles

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

// 0 ≤ h_μ1 − h_μ2 ≤ (μ1 − μ2)·D for μ1 ≥ μ2 (Pillutla et al. 2019, Prop. 2), and h is h_0.
func TestSmoothingBounds(t *testing.T) {
	everyOracle(t, func(t *rapid.T, o Oracle) {
		θ := drawPotentials(t, reals)
		μ1, μ2 := drawMu(t), drawMu(t)
		if μ1 < μ2 {
			μ1, μ2 = μ2, μ1
		}
		for _, kind := range []Kind{L2, Entropy} {
			var more, less Answer
			Smoothing{Kind: kind, Mu: μ1, MaxK: 1000}.Answer(o, θ, &more, true)
			Smoothing{Kind: kind, Mu: μ2, MaxK: 1000}.Answer(o, θ, &less, true)
			for b := range θ.Len() {
				all := enumerate(θ, b)
				if len(all) == 0 {
					continue
				}
				d := Smoothing{Kind: kind}.Bound(math.Log(float64(len(all))))
				if diff := more.Value[b] - less.Value[b]; diff < -2e-5 || diff > (μ1-μ2)*d+2e-5 {
					t.Fatalf("%v: h_%g − h_%g = %g, not in [0, %g]", kind, μ1, μ2, diff, (μ1-μ2)*d)
				}
				if diff := less.Value[b] - less.Max[b]; diff < -2e-5 || diff > μ2*d+2e-5 {
					t.Fatalf("%v: h_%g − h = %g, not in [0, %g]", kind, μ2, diff, μ2*d)
				}
			}
		}
	})
}

// bisectSimplex smooths max z in the ℓ₂ sense by finding the threshold τ with Σ max(0, z/μ − τ) = 1 by bisection.
func bisectSimplex(all []output, μ float64) (value float64, q []float64) {
	lo, hi := all[0].score/μ-1, all[0].score/μ
	for range 200 {
		mid, sum := (lo+hi)/2, 0.0
		for _, o := range all {
			sum += max(0, o.score/μ-mid)
		}
		if sum > 1 {
			lo = mid
		} else {
			hi = mid
		}
	}
	square := 0.0
	q = make([]float64, len(all))
	for k, o := range all {
		q[k] = max(0, o.score/μ-hi)
		value += q[k] * o.score
		square += q[k] * q[k]
	}
	return value - μ/2*(square-1), q
}

// Where it says that it is exact, the top-K smoothing is the ℓ₂ smoothing over all outputs; with K = 0 and room it always is;
// it is exact if and only if no output beyond the K best gets weight.
func TestTopKSmoothingIsExact(t *testing.T) {
	everyOracle(t, func(t *rapid.T, o Oracle) {
		θ := drawPotentials(t, reals)
		s := Smoothing{Kind: L2, Mu: rapid.SampledFrom([]float64{5, 1, 0.3, 0.1}).Draw(t, "μ"), MaxK: 1000}
		s.K = rapid.IntRange(0, 5).Draw(t, "K")
		var a Answer
		s.Answer(o, θ, &a, true)
		for b := range θ.Len() {
			all := enumerate(θ, b)
			if len(all) == 0 {
				near(t, "value of nothing", a.Value[b], math.Inf(-1), 0)
				continue
			}
			near(t, "max", a.Max[b], all[0].score, 1e-5)
			want, q := bisectSimplex(all, s.Mu)
			beyond := 0.0
			if s.K > 0 && len(all) > s.K {
				beyond = q[s.K]
			}
			if beyond > 1e-4 && a.Exact[b] {
				t.Fatalf("claims to be exact, but output %d has weight %g", s.K+1, beyond)
			}
			if beyond == 0 && !a.Exact[b] {
				if s.K == 0 || sumBelow(all, s.K) > s.Mu+1e-4 {
					t.Fatalf("claims not to be exact, but is")
				}
			}
			if !a.Exact[b] {
				continue
			}
			near(t, "value", a.Value[b], want, 1e-4)
			u := new(structured.Marginals)
			u.Resize(θ.Offsets, θ.Y, θ.PerPosition)
			u.Clear()
			for k, o := range all {
				u.AddLabeling(b, o.labels, float32(q[k]))
			}
			nearAll(t, "node marginal", a.U.NodeOf(b), u.NodeOf(b), 1e-4)
			nearAll(t, "edge marginal", a.U.EdgeOf(b), u.EdgeOf(b), 1e-4)
		}
	})
}

func sumBelow(all []output, k int) float64 {
	s := 0.0
	for _, o := range all[:k] {
		s += o.score - all[k].score
	}
	return s
}

// The mixture recombines to u, and the weights sum to 1.
func TestMixtureIsMarginals(t *testing.T) {
	everyOracle(t, func(t *rapid.T, o Oracle) {
		θ, μ := drawPotentials(t, integers), drawMu(t)
		for _, s := range []Smoothing{{Kind: None}, {Kind: L2, Mu: μ, K: 1}, {Kind: L2, Mu: μ, K: 2}, {Kind: L2, Mu: μ}} {
			var a Answer
			s.Answer(o, θ, &a, false)
			u := new(structured.Marginals)
			u.Resize(θ.Offsets, θ.Y, θ.PerPosition)
			u.Clear()
			for b := range θ.Len() {
				labels, q := a.Mixture(b)
				if s.K > 0 && len(q) > s.K {
					t.Fatalf("%d outputs share the weight, K is %d", len(q), s.K)
				}
				n, sum := θ.Offsets[b+1]-θ.Offsets[b], 0.0
				for k, w := range q {
					u.AddLabeling(b, labels[k*n:(k+1)*n], w)
					sum += float64(w)
				}
				if math.IsInf(a.Max[b], -1) {
					near(t, "weights of nothing", sum, 0, 0)
				} else {
					near(t, "sum of weights", sum, 1, 1e-6)
				}
			}
			nearAll(t, "node marginal", a.U.Node, u.Node, 1e-6)
			nearAll(t, "edge marginal", a.U.Edge, u.Edge, 1e-6)
		}
	})
}

func TestNBestProbabilities(t *testing.T) {
	everyOracle(t, func(t *rapid.T, o Oracle) {
		θ := drawPotentials(t, reals)
		var nb NBest
		nb.Find(o, θ, 1100)
		for b := range θ.Len() {
			sum := 0.0
			for k := range nb.Count[b] {
				sum += nb.Probability(b, k)
			}
			if nb.Count[b] > 0 {
				near(t, "sum over all outputs", sum, 1, 1e-4)
			}
		}
	})
}

func TestKindNames(t *testing.T) {
	for _, k := range []Kind{None, L2, Entropy} {
		if got, err := ParseKind(k.String()); err != nil || got != k {
			t.Errorf("ParseKind(%q) = %v, %v", k, got, err)
		}
	}
	if _, err := ParseKind("l3"); !structured.IsBadInput(err) {
		t.Errorf("ParseKind of nonsense: %v", err)
	}
}

// Once scratch has grown to the batch, nothing allocates.
func TestAnswerAllocatesNothing(t *testing.T) {
	for _, perPosition := range []bool{false, true} {
		θ := longChain(rand.New(rand.NewPCG(5, 6)), 30, 12, perPosition)
		for _, s := range []Smoothing{{Kind: None}, {Kind: L2, Mu: 1, K: 3}, {Kind: L2, Mu: 50}, {Kind: Entropy, Mu: 1},
			{Kind: Entropy, Mu: 1e-3}} {
			o, a := NewChain(), new(Answer)
			s.Answer(o, θ, a, true)
			if n := testing.AllocsPerRun(5, func() { s.Answer(o, θ, a, true) }); n != 0 {
				t.Errorf("%v, μ = %g, per position %v: %g allocations", s.Kind, s.Mu, perPosition, n)
			}
		}
	}
}
