package oracletest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
)

// answersAreReused checks that what an oracle answers does not depend on what it, and what it writes to, held before:
// batches of other sizes, and longer lists. Some batches allow no output at all, which all answers say, and whose score
// is −∞ whatever Max leaves.
func answersAreReused(t *testing.T, kind registry.Kind, o oracles.Maximiser) {
	var used answers
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 17))
		θ := kind.Small(r)
		allowed := r.IntN(4) > 0
		for k := range θ.Parts {
			for i := range θ.Parts[k].Values {
				if θ.Parts[k].Values[i] = float32(r.IntN(5) - 2); !allowed || r.IntN(8) == 0 {
					θ.Parts[k].Values[i] = minusInf
				}
			}
		}
		kind.Prepare(θ)
		k, μ := 1+r.IntN(5), 0.5
		used.ask(o, θ, k, μ)
		var fresh answers
		fresh.ask(o, θ, k, μ)
		for b := range θ.Len() {
			used.compare(t, int(seed), θ, b, &fresh)
			// An example of no positions has the empty output, whose score is 0.
			if allowed || θ.Outputs[b] == θ.Outputs[b+1] {
				continue
			}
			if v, score := used.value[b], θ.Score(b, used.y[θ.Outputs[b]:θ.Outputs[b+1]]); !math.IsInf(v, -1) ||
				!math.IsInf(score, -1) {
				t.Errorf("seed %d: the best of no outputs scores %g, and what is left %g", seed, v, score)
			}
		}
	}
}

// answers are the memory of all answers of an oracle.
type answers struct {
	y          []int32
	value, sum []float64
	best       oracles.KBest
	u          structured.Marginals
	samples    oracles.Samples
	smoothed   oracles.Answer
}

func (a *answers) ask(o oracles.Maximiser, θ *structured.Potentials, k int, μ float64) {
	a.y, a.value, a.sum = slices.Grow(a.y[:0], θ.OutputSize())[:θ.OutputSize()], make([]float64, θ.Len()),
		make([]float64, θ.Len())
	o.Max(θ, a.y, a.value)
	if r, ok := o.(oracles.Ranker); ok {
		r.TopK(θ, k, &a.best)
	}
	if s, ok := o.(oracles.Summer); ok {
		s.Exp(θ, μ, a.sum, &a.u)
	}
	if s, ok := o.(oracles.Sampler); ok {
		s.Sample(θ, μ, k, make([]uint64, θ.Len()), &a.samples)
	}
	for _, s := range smoothings(o, oracles.Smoothing{Kind: oracles.None}, oracles.Smoothing{Kind: oracles.L2, Mu: μ}) {
		s.Answer(o, θ, &a.smoothed, true)
	}
}

// compare compares the answers for example b with others.
func (a *answers) compare(t *testing.T, seed int, θ *structured.Potentials, b int, want *answers) {
	t.Helper()
	lo, hi := θ.Outputs[b], θ.Outputs[b+1]
	if a.value[b] != want.value[b] || !slices.Equal(a.y[lo:hi], want.y[lo:hi]) || a.sum[b] != want.sum[b] ||
		a.smoothed.Value[b] != want.smoothed.Value[b] {
		t.Errorf("seed %d: values %g, %g, %g, want %g, %g, %g", seed, a.value[b], a.sum[b], a.smoothed.Value[b],
			want.value[b], want.sum[b], want.smoothed.Value[b])
	}
	for k := range a.u.Parts {
		if !slices.Equal(a.u.Parts[k].Of(b), want.u.Parts[k].Of(b)) ||
			!slices.Equal(a.smoothed.U.Parts[k].Of(b), want.smoothed.U.Parts[k].Of(b)) {
			t.Errorf("seed %d: marginals of part %d are %g, want %g", seed, k, a.u.Parts[k].Of(b), want.u.Parts[k].Of(b))
		}
	}
	if a.best.Count != nil {
		n := want.best.Count[b]
		if a.best.Count[b] != n || !slices.Equal(a.best.Score[b*a.best.K:][:n], want.best.Score[b*a.best.K:][:n]) {
			t.Errorf("seed %d: %d outputs, want %d", seed, a.best.Count[b], n)
		}
	}
	if a.samples.Count != nil && a.samples.Count[b] != want.samples.Count[b] {
		t.Errorf("seed %d: %d samples, want %d", seed, a.samples.Count[b], want.samples.Count[b])
	}
}
