package oracletest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// smoothings returns those smoothings of a list that the oracle supports.
func smoothings(o oracles.Maximiser, all ...oracles.Smoothing) (some []oracles.Smoothing) {
	for _, s := range all {
		if s.Check(o, "structure") == nil {
			some = append(some, s)
		}
	}
	return some
}

// The answer for an example has the same bits alone, in any batch, and when repeated.
func batchDoesNotMatter(t *rapid.T, kind registry.Kind, o oracles.Maximiser) {
	θ, μ := drawPotentials(t, kind, anyNumbers), drawMu(t)
	var one structured.Potentials
	for _, s := range smoothings(o, oracles.Smoothing{Kind: oracles.None}, oracles.Smoothing{Kind: oracles.L2, Mu: μ},
		oracles.Smoothing{Kind: oracles.Entropy, Mu: μ}) {
		var batch, again, alone oracles.Answer
		s.Answer(o, θ, &batch, true)
		s.Answer(o, θ, &again, true)
		NearMarginals(t, "marginal, again", &again.U, &batch.U, 0)
		for b := range θ.Len() {
			θ.View(b, &one)
			s.Answer(o, &one, &alone, true)
			Near(t, "value", alone.Value[0], batch.Value[b], 0)
			Near(t, "max", alone.Max[0], batch.Max[b], 0)
			nearExample(t, "marginal", &alone.U, 0, &batch.U, b, 0)
		}
	}
}

// 0 ≤ h_μ1 − h_μ2 ≤ (μ1 − μ2)·D for μ1 ≥ μ2 (Pillutla et al. 2019, Prop. 2), and h is h_0.
func smoothingBounds(t *rapid.T, kind registry.Kind, o oracles.Maximiser) {
	θ := drawPotentials(t, kind, reals)
	μ1, μ2 := drawMu(t), drawMu(t)
	if μ1 < μ2 {
		μ1, μ2 = μ2, μ1
	}
	for _, s := range smoothings(o, oracles.Smoothing{Kind: oracles.L2, MaxK: 1000},
		oracles.Smoothing{Kind: oracles.Entropy}) {
		var more, less oracles.Answer
		s.Mu = μ1
		s.Answer(o, θ, &more, true)
		s.Mu = μ2
		s.Answer(o, θ, &less, true)
		for b := range θ.Len() {
			all := Enumerate(θ, b)
			if len(all) == 0 {
				continue
			}
			d := s.Bound(math.Log(float64(len(all))))
			if diff := more.Value[b] - less.Value[b]; diff < -2e-5 || diff > (μ1-μ2)*d+2e-5 {
				t.Fatalf("%v: h_%g − h_%g = %g, not in [0, %g]", s.Kind, μ1, μ2, diff, (μ1-μ2)*d)
			}
			if diff := less.Value[b] - less.Max[b]; diff < -2e-5 || diff > μ2*d+2e-5 {
				t.Fatalf("%v: h_%g − h = %g, not in [0, %g]", s.Kind, μ2, diff, μ2*d)
			}
		}
	}
}

// bisectSimplex smooths max z in the ℓ₂ sense: it finds the threshold τ with Σ max(0, z/μ − τ) = 1 by bisection.
func bisectSimplex(all []Output, μ float64) (value float64, q []float64) {
	lo, hi := all[0].Score/μ-1, all[0].Score/μ
	for range 200 {
		mid, sum := (lo+hi)/2, 0.0
		for _, o := range all {
			sum += max(0, o.Score/μ-mid)
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
		q[k] = max(0, o.Score/μ-hi)
		value += q[k] * o.Score
		square += q[k] * q[k]
	}
	return value - μ/2*(square-1), q
}

// If top-K smoothing claims to be exact, it equals the ℓ₂ smoothing over all outputs; with K = 0 and a sufficient MaxK
// it always is. It is exact if and only if no output beyond the K best gets weight.
func topKSmoothingIsExact(t *rapid.T, kind registry.Kind, o oracles.Ranker) {
	θ := drawPotentials(t, kind, reals)
	s := oracles.Smoothing{Kind: oracles.L2, Mu: rapid.SampledFrom([]float64{5, 1, 0.3, 0.1}).Draw(t, "μ"), MaxK: 1000}
	s.K = rapid.IntRange(0, 5).Draw(t, "K")
	var a oracles.Answer
	s.Answer(o, θ, &a, true)
	for b := range θ.Len() {
		all := Enumerate(θ, b)
		if len(all) == 0 {
			Near(t, "value of nothing", a.Value[b], math.Inf(-1), 0)
			continue
		}
		Near(t, "max", a.Max[b], all[0].Score, 1e-5)
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
		Near(t, "value", a.Value[b], want, 1e-4)
		u := zeros(θ)
		for k, o := range all {
			u.Add(b, o.Values, float32(q[k]))
		}
		nearExample(t, "marginal", &a.U, b, u, b, 1e-4)
	}
}

func sumBelow(all []Output, k int) float64 {
	s := 0.0
	for _, o := range all[:k] {
		s += o.Score - all[k].Score
	}
	return s
}

// The mixture's weighted sum is u, and its weights sum to 1.
func mixtureIsMarginals(t *rapid.T, kind registry.Kind, o oracles.Maximiser) {
	θ, μ := drawPotentials(t, kind, integers), drawMu(t)
	for _, s := range smoothings(o, oracles.Smoothing{Kind: oracles.None},
		oracles.Smoothing{Kind: oracles.L2, Mu: μ, K: 1},
		oracles.Smoothing{Kind: oracles.L2, Mu: μ, K: 2}, oracles.Smoothing{Kind: oracles.L2, Mu: μ}) {
		var a oracles.Answer
		s.Answer(o, θ, &a, false)
		u := zeros(θ)
		for b := range θ.Len() {
			y, q := a.Mixture(b)
			if s.K > 0 && len(q) > s.K {
				t.Fatalf("%d outputs share the weight, K is %d", len(q), s.K)
			}
			n, sum := θ.Outputs[b+1]-θ.Outputs[b], 0.0
			for k, w := range q {
				u.Add(b, y[k*n:(k+1)*n], w)
				sum += float64(w)
			}
			if math.IsInf(a.Max[b], -1) {
				Near(t, "weights of nothing", sum, 0, 0)
			} else {
				Near(t, "sum of weights", sum, 1, 1e-6)
			}
		}
		NearMarginals(t, "marginal", &a.U, u, 1e-6)
	}
}

// The Gibbs probabilities of all outputs, exp(score − log Z), sum to 1.
func nBestProbabilities(t *rapid.T, kind registry.Kind, o oracles.Oracle) {
	θ := drawPotentials(t, kind, reals)
	most := 1
	for b := range θ.Len() {
		most = max(most, len(Enumerate(θ, b)))
	}
	var best oracles.KBest
	logZ := make([]float64, θ.Len())
	o.TopK(θ, most, &best)
	o.Exp(θ, 1, logZ, nil)
	for b := range θ.Len() {
		sum := 0.0
		for k := range best.Count[b] {
			sum += math.Exp(best.Score[b*best.K+k] - logZ[b])
		}
		if best.Count[b] > 0 {
			Near(t, "sum over all outputs", sum, 1, 1e-4)
		}
	}
}
