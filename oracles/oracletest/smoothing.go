package oracletest

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"pgregory.net/rapid"
)

// Adding a number to all labels of a position adds it to the value and moves no marginal.
func shift(t *rapid.T, o oracles.Oracle) {
	θ, μ := drawPotentials(t, integers), drawMu(t)
	shifted, by := clone(θ), make([]float64, θ.Len())
	for b := range by {
		for p := θ.Offsets[b]; p < θ.Offsets[b+1]; p++ {
			s := rapid.IntRange(-1000, 1000).Draw(t, "shift")
			by[b] += float64(s)
			for l := range θ.Y {
				shifted.Node[p*θ.Y+l] += float32(s)
			}
		}
	}
	for _, s := range []oracles.Smoothing{{Kind: oracles.None}, {Kind: oracles.L2, Mu: μ, K: 3}, {Kind: oracles.L2, Mu: μ}, {Kind: oracles.Entropy, Mu: μ}} {
		var before, after oracles.Answer
		s.Answer(o, θ, &before, true)
		s.Answer(o, shifted, &after, true)
		for b := range by {
			Near(t, "value", after.Value[b], before.Value[b]+by[b], 1e-5*max(1, μ))
			Near(t, "max", after.Max[b], before.Max[b]+by[b], 0)
		}
		if s.Kind != oracles.L2 { // which of tied outputs come first may change
			NearAll(t, "node marginal", after.U.Node, before.U.Node, 1e-5)
			NearAll(t, "edge marginal", after.U.Edge, before.U.Edge, 1e-5)
		}
	}
}

// A chain's answer has the same bits alone, in any batch, and the second time.
func batchDoesNotMatter(t *rapid.T, o oracles.Oracle) {
	θ, μ := drawPotentials(t, reals), drawMu(t)
	for _, s := range []oracles.Smoothing{{Kind: oracles.None}, {Kind: oracles.L2, Mu: μ}, {Kind: oracles.Entropy, Mu: μ}} {
		var batch, again, alone oracles.Answer
		s.Answer(o, θ, &batch, true)
		s.Answer(o, θ, &again, true)
		NearAll(t, "node marginal, again", again.U.Node, batch.U.Node, 0)
		for b := range θ.Len() {
			s.Answer(o, view(θ, b), &alone, true)
			Near(t, "value", alone.Value[0], batch.Value[b], 0)
			Near(t, "max", alone.Max[0], batch.Max[b], 0)
			NearAll(t, "node marginal", alone.U.Node, batch.U.NodeOf(b), 0)
			NearAll(t, "edge marginal", alone.U.Edge, batch.U.EdgeOf(b), 0)
		}
	}
}

// 0 ≤ h_μ1 − h_μ2 ≤ (μ1 − μ2)·D for μ1 ≥ μ2 (Pillutla et al. 2019, Prop. 2), and h is h_0.
func smoothingBounds(t *rapid.T, o oracles.Oracle) {
	θ := drawPotentials(t, reals)
	μ1, μ2 := drawMu(t), drawMu(t)
	if μ1 < μ2 {
		μ1, μ2 = μ2, μ1
	}
	for _, kind := range []oracles.Kind{oracles.L2, oracles.Entropy} {
		var more, less oracles.Answer
		oracles.Smoothing{Kind: kind, Mu: μ1, MaxK: 1000}.Answer(o, θ, &more, true)
		oracles.Smoothing{Kind: kind, Mu: μ2, MaxK: 1000}.Answer(o, θ, &less, true)
		for b := range θ.Len() {
			all := Enumerate(θ, b)
			if len(all) == 0 {
				continue
			}
			d := oracles.Smoothing{Kind: kind}.Bound(math.Log(float64(len(all))))
			if diff := more.Value[b] - less.Value[b]; diff < -2e-5 || diff > (μ1-μ2)*d+2e-5 {
				t.Fatalf("%v: h_%g − h_%g = %g, not in [0, %g]", kind, μ1, μ2, diff, (μ1-μ2)*d)
			}
			if diff := less.Value[b] - less.Max[b]; diff < -2e-5 || diff > μ2*d+2e-5 {
				t.Fatalf("%v: h_%g − h = %g, not in [0, %g]", kind, μ2, diff, μ2*d)
			}
		}
	}
}

// bisectSimplex smooths max z in the ℓ₂ sense by finding the threshold τ with Σ max(0, z/μ − τ) = 1 by bisection.
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

// Where it says that it is exact, the top-K smoothing is the ℓ₂ smoothing over all outputs; with K = 0 and room it always is;
// it is exact if and only if no output beyond the K best gets weight.
func topKSmoothingIsExact(t *rapid.T, o oracles.Oracle) {
	θ := drawPotentials(t, reals)
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
		u := new(structured.Marginals)
		u.Resize(θ.Offsets, θ.Y, θ.PerPosition)
		u.Clear()
		for k, o := range all {
			u.AddLabeling(b, o.Labels, float32(q[k]))
		}
		NearAll(t, "node marginal", a.U.NodeOf(b), u.NodeOf(b), 1e-4)
		NearAll(t, "edge marginal", a.U.EdgeOf(b), u.EdgeOf(b), 1e-4)
	}
}

func sumBelow(all []Output, k int) float64 {
	s := 0.0
	for _, o := range all[:k] {
		s += o.Score - all[k].Score
	}
	return s
}

// The mixture recombines to u, and the weights sum to 1.
func mixtureIsMarginals(t *rapid.T, o oracles.Oracle) {
	θ, μ := drawPotentials(t, integers), drawMu(t)
	for _, s := range []oracles.Smoothing{{Kind: oracles.None}, {Kind: oracles.L2, Mu: μ, K: 1}, {Kind: oracles.L2, Mu: μ, K: 2}, {Kind: oracles.L2, Mu: μ}} {
		var a oracles.Answer
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
				Near(t, "weights of nothing", sum, 0, 0)
			} else {
				Near(t, "sum of weights", sum, 1, 1e-6)
			}
		}
		NearAll(t, "node marginal", a.U.Node, u.Node, 1e-6)
		NearAll(t, "edge marginal", a.U.Edge, u.Edge, 1e-6)
	}
}

func nBestProbabilities(t *rapid.T, o oracles.Oracle) {
	θ := drawPotentials(t, reals)
	var nb oracles.NBest
	nb.Find(o, θ, 1100)
	for b := range θ.Len() {
		sum := 0.0
		for k := range nb.Count[b] {
			sum += nb.Probability(b, k)
		}
		if nb.Count[b] > 0 {
			Near(t, "sum over all outputs", sum, 1, 1e-4)
		}
	}
}
