package minibucket

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The mean of many draws is Z, between a lower and an upper bound, within a few standard errors; assignments that are
// drawn are allowed, and one seed draws the same ones.
func TestSampler(t *testing.T) {
	never := func() bool { return false }
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 26))
		m := grid(r, 4, 1.2)
		if seed%3 == 0 {
			for f := range m.Factors {
				if len(m.Factors[f].Scope) == 2 && r.IntN(3) == 0 {
					m.Factors[f].Table[r.IntN(4)] = math.Inf(-1)
				}
			}
		}
		want := exact(m)
		b := New(m, 4)
		for range 3 {
			b.Pass()
		}
		s, again := b.Sampler(seed), b.Sampler(seed)
		s.Draw(3000, never)
		again.Draw(3000, never)
		log, deviation := s.Estimate()
		if !(math.Abs(log-want) <= 5*deviation+1e-9) || deviation > 0.5 {
			t.Errorf("seed %d: %v ± %v, want %v", seed, log, deviation, want)
		}
		if same, _ := again.Estimate(); same != log {
			t.Errorf("seed %d: %v, then %v", seed, log, same)
		}
		if states, value := s.Best(); states == nil || value != m.Value(states) || value > want {
			t.Errorf("seed %d: the best of the draws has %v, log Z is %v", seed, value, want)
		}
	}
}

// Where no bucket is split, every draw says log Z. Where nothing was drawn that is allowed, nothing is known.
func TestSamplerEnds(t *testing.T) {
	m := grid(rand.New(rand.NewPCG(1, 26)), 3, 1)
	b := New(m, 1<<12)
	s := b.Sampler(1)
	if _, deviation := s.Estimate(); !math.IsInf(deviation, 1) {
		t.Error("an estimate without draws")
	}
	s.Draw(9, func() bool { return false })
	if log, deviation := s.Estimate(); math.Abs(log-b.Upper()) > 1e-9 || deviation > 1e-6 {
		t.Errorf("%v ± %v, want %v", log, deviation, b.Upper())
	}
}
