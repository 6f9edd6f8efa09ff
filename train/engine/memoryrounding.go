package engine

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// roundMemory is roundAnswers for a dual point from memory.
func (e *Evaluation) roundMemory(sh *Shard) {
	if !e.bounds {
		return
	}
	if e.Loss == Quadratic {
		e.roundQuadratic(sh)
		return
	}
	for b, i := range sh.Batch.Examples {
		sh.tally().Below += measure(&sh.Theta, b, e.mostLost(sh, b), &sh.V).below(e.Data.Weight(i), e.centre(i), max(e.blurs[i], e.blurred), 1)
	}
}

// EntropyRounding bounds the rounding error of (1/n) Σ c_i H(u_i), for points u_i that are the marginals of the
// potentials φ_i, computed by the oracle, and whose entropies are log Z(φ_i) − ⟨u_i, φ_i⟩. Only the given examples have
// an error. It is +∞ where potentials are too large for marginals that are known to float32: those may be far from all
// points of the polytope, and prove nothing.
func (e *Engine) EntropyRounding(u, φ *structured.Marginals, examples []int) float64 {
	type share struct{ rounded, beyond float64 } // of an example
	shares := make([]share, len(examples))
	threads := max(1, min(e.team.threads, len(examples)))
	e.Parallel(threads, func(k int) {
		var one structured.Potentials
		var point, v structured.Marginals
		oracle := e.kind.Oracle()
		for j := len(examples) * k / threads; j < len(examples)*(k+1)/threads; j++ {
			i := examples[j]
			φ.AsPotentials(i, e.Data.OutputLength(i), &one)
			u.View(i, &point)
			v.Copy(&point)
			switch {
			case e.Soft:
				v.AddScaled(0, -1, &e.Completion.Marginals, i)
			case !e.Data.Partial(i):
				v.Add(0, e.Data.Gold(i), -1)
			}
			s := measure(&one, 0, 1, &v)
			beyond := s.beyond(e.backend.answering(oracle), &one, 0, 1)
			ω := oracles.Rounding(oracle, &one, 0, 1)
			// u_i is the maximiser of a bound that errs like that of roundAnswers
			shares[j] = share{ω + min(2*ω, ω*ω/2) + s.below(1, central{}, beyond, 1) + beyond, beyond}
		}
	})
	total := 0.0
	e.blurs = nil
	for j, i := range examples {
		if shares[j].beyond > mostBlurred {
			return math.Inf(1)
		}
		e.blur(i, shares[j].beyond)
		total += e.Data.Weight(i) * shares[j].rounded
	}
	return total / float64(e.Len())
}

// mostBlurred is the largest relative error of marginals from which a dual point in memory proves something, if it
// includes an entropy.
const mostBlurred = 1e-3

// Blur is EntropyRounding for the hinge, whose dual has no entropy: u_i may be any points of the polytope, and how far
// they are from the marginals of φ_i, which are such points, the next pullback of a memory charges. It needs no charge
// where potentials are smaller: marginals are known to float32 then, whatever temperature φ_i stands for.
func (e *Engine) Blur(φ *structured.Marginals, examples []int) {
	var one structured.Potentials
	e.blurs = nil
	oracle := e.backend.answering(e.kind.Oracle())
	for _, i := range examples {
		φ.AsPotentials(i, e.Data.OutputLength(i), &one)
		e.blur(i, beyond(oracle, &one, 0, 1))
	}
}

// beyond is sizes.beyond for example b of θ.
func beyond(o oracles.Maximiser, θ *structured.Potentials, b int, μ float64) float64 {
	s := measure(θ, b, 1, nil)
	for k := range θ.Parts { // tied rows, too
		s.largest = max(s.largest, 1+oracles.Largest(θ.Parts[k].Of(b)))
	}
	return s.beyond(o, θ, b, μ)
}

// Watch measures from now on what the marginals of answers err beyond float32.
func (e *Engine) Watch() {
	e.watches = e.backend.answering(e.kind.Oracle()) != nil && e.Scorer.Affine()
	e.watched.Store(0)
}

// watch measures the lane's answers, if they are to be watched.
func (e *Evaluation) watch(sh *Shard, by oracles.Smoothing) {
	if !e.watches || by.Kind != oracles.Entropy {
		return
	}
	most := 0.0
	for b := range sh.Batch.Examples {
		most = max(most, beyond(sh.Oracle, &sh.Theta, b, by.Mu))
	}
	for now := math.Float64bits(most); ; { // the bits of numbers from 0 have their order
		was := e.watched.Load()
		if now <= was || e.watched.CompareAndSwap(was, now) {
			return
		}
	}
}

// RecomposeWatched is Recompose for a memory of answers that were all given since Watch: it charges each as much as one
// of them errs beyond float32.
func (e *Engine) RecomposeWatched(ctx context.Context, w []float32, of DualPoint) (u Recomposed, err error) {
	e.watches = false
	if e.blurred, err = e.SumOverRanks(ctx, math.Float64frombits(e.watched.Load())); err != nil { // at least the largest
		return u, err
	}
	u, err = e.Recompose(ctx, w, of)
	e.blurred = 0
	return u, err
}

// blur makes known that the marginals of example i in memory err beyond float32, if they do.
func (e *Evaluation) blur(i int, beyond float64) {
	if beyond == 0 {
		return
	}
	if e.blurs == nil {
		e.blurs = map[int]float64{}
	}
	e.blurs[i] = beyond
}
