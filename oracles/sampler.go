package oracles

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Sampler draws outputs at random from the Gibbs distribution, exactly: a draw has the probability of its output, up to
// the rounding of the sums.
type Sampler interface {
	Summer
	// Sample draws n outputs of every example b, independently of each other, with probabilities proportional to
	// exp(⟨θ,1_y⟩/μ), for a temperature μ > 0. What it draws for an example depends on that example's potentials and on
	// seed[b] alone. An example without an allowed output, or with potentials that are errors of the scorer, gets none.
	Sample(θ *structured.Potentials, μ float64, n int, seed []uint64, s *Samples)
}

// Samples holds the outputs that were drawn for each of B examples.
type Samples struct {
	Count  []int   // [B] number of outputs: as many as were asked for, or 0
	Values []int32 // [n×N] outputs, N the total length of all examples' outputs: output k is Values[k*N:(k+1)*N]
	N      int
}

// Resize gives s the shape for n outputs of each example of a batch and reuses its memory. The values are undefined,
// the counts n.
func (s *Samples) Resize(θ *structured.Potentials, n int) {
	s.N = θ.OutputSize()
	s.Count, s.Values = vec.Grow(s.Count, θ.Len()), vec.Grow(s.Values, n*s.N)
	for b := range s.Count {
		s.Count[b] = n
	}
}

// Output returns places lo to hi-1, among the batch's outputs, of output k.
func (s *Samples) Output(k, lo, hi int) []int32 { return s.Values[k*s.N+lo : k*s.N+hi] }

// Draws is a stream of random numbers. The zero value is one of seed 0.
type Draws struct{ pcg rand.PCG }

// Seed begins the stream of a seed.
func (r *Draws) Seed(seed uint64) { r.pcg.Seed(seed, 0x9e3779b97f4a7c15) }

// Uniform returns a number from 0 to 1, 1 excluded.
func (r *Draws) Uniform() float64 { return float64(r.pcg.Uint64()>>11) * 0x1p-53 }

// Pick returns the first i at which the running sum of the weights x_i ≥ 0 exceeds at. Where rounding leaves the whole
// sum below, it returns the last i with a positive weight, −1 if there is none.
func Pick[F float32 | float64](x []F, at float64) int {
	last, sum := -1, 0.0
	for i, w := range x {
		if w > 0 {
			if sum += float64(w); sum > at {
				return i
			}
			last = i
		}
	}
	return last
}
