// Package foreign answers questions about potentials that lie in the memory of a caller in another language: plain
// arrays, described by numbers. It checks every number before it trusts it, divides a batch among threads, and returns
// errors instead of panics. The C library (cmd/libdsp) is a thin layer over it.
package foreign

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Every question takes the values of the potentials, an array for each part [rows × width], and a Run. It answers for
// examples from run.First on and returns the number of the first one that it has not answered: Len, unless the budget
// was used up. Answers of an example depend on its potentials alone, not on the batch, the threads or the budget.

// asked are the potentials that the oracle is asked about: those of the share, or the wider trees of several roots.
func (l *lane) asked(t *Batch) *structured.Potentials {
	if t.rooted == nil {
		return &l.θ
	}
	l.rooted.widen(t.rooted, &l.θ, forbidden)
	return &l.rooted.θ
}

// Max writes the best output of every example to y [Numbers], and its score to value [B]: for structures that are
// answered by bounds an upper bound of the best score. An example without an output has value −∞ and zeros, and one
// whose potentials are not valid NaN and an output: standIn.
func (t *Batch) Max(values [][]float32, run Run, y []int32, value []float64) (int, error) {
	if err := t.fits(y, 1, value, 1); err != nil {
		return 0, err
	}
	return t.each(values, run, func(l *lane, lo, hi int) {
		l.max(t, y[t.outputs[lo]:t.outputs[hi]], value[lo:hi])
		for b := lo; b < hi; b++ {
			if math.IsNaN(value[b]) {
				l.standIn(t, values, b, y[t.outputs[b]:t.outputs[b+1]])
			}
		}
	})
}

// max is Max for a share.
func (l *lane) max(t *Batch, y []int32, value []float64) {
	if t.rooted == nil {
		l.oracle.Max(&l.θ, y, value)
		return
	}
	θ := l.asked(t)
	l.rooted.y = vec.Grow(l.rooted.y, θ.OutputSize())
	l.oracle.Max(θ, l.rooted.y, value)
	narrowOutputs(y, l.rooted.y, l.outputs)
}

// Exp writes μ·log Σ_y exp(⟨θ,1_y⟩/μ) of every example to value [B] and, if u is not nil, the marginals to u, an array
// for each part [MarginalSize]. Potentials that are NaN, +∞ or too large give NaN in both.
func (t *Batch) Exp(values [][]float32, run Run, μ float64, value []float64, u [][]float32) (int, error) {
	if err := t.sums(value, μ, u); err != nil {
		return 0, err
	}
	return t.each(values, run, func(l *lane, lo, hi int) {
		l.exp(t, μ, lo, hi, value, u)
		l.endMarginals(t, u, lo, hi)
	})
}

// exp is Exp for a share.
func (l *lane) exp(t *Batch, μ float64, lo, hi int, value []float64, u [][]float32) {
	θ, summer := l.asked(t), l.oracle.(oracles.Summer)
	switch {
	case u == nil:
		summer.Exp(θ, μ, value[lo:hi], nil)
		return
	case t.rooted != nil:
		summer.Exp(θ, μ, value[lo:hi], &l.rooted.u)
		l.into(t, u, lo, hi)
		l.u.Like(&l.θ)
		l.rooted.narrow(&l.u, l.outputs)
	default:
		l.into(t, u, lo, hi)
		summer.Exp(θ, μ, value[lo:hi], &l.u)
	}
}

// Loss writes −log p(y) of the outputs y [Numbers] at temperature 1 to value [B], never less than 0, and its gradient,
// the marginals less the indicator of y, to gradient. An output that potentials forbid has the loss +∞ and a gradient
// of NaN.
func (t *Batch) Loss(values [][]float32, run Run, y []int32, value []float64, gradient [][]float32) (int, error) {
	if err := t.sums(value, 1, gradient); err != nil {
		return 0, err
	}
	if gradient == nil {
		return 0, fmt.Errorf("the loss has no place for its gradient")
	}
	if err := t.CheckOutputs(y); err != nil {
		return 0, err
	}
	return t.each(values, run, func(l *lane, lo, hi int) {
		l.exp(t, 1, lo, hi, value, gradient)
		for b := range hi - lo {
			gold := y[t.outputs[lo+b]:t.outputs[lo+b+1]]
			score := l.θ.Score(b, gold)
			if math.IsInf(score, -1) {
				value[lo+b] = math.Inf(1)
				for k := range l.u.Parts {
					fill(l.u.Parts[k].Of(b), notANumber)
				}
				continue
			}
			if value[lo+b] -= score; value[lo+b] < 0 { // a probability of nearly 1, rounded
				value[lo+b] = 0
			}
			l.u.Add(b, gold, -1)
		}
		l.endMarginals(t, gradient, lo, hi)
	})
}

// TopK writes the k best outputs: count [B], score [B×k], and y, where output j of example b has place k·outputs[b] +
// j·(its length). Of potentials that are not valid it is one output of the score NaN: standIn.
func (t *Batch) TopK(values [][]float32, run Run, k int, y []int32, score []float64, count []int) (int, error) {
	if k < 1 || k > mostNumbers || t.Numbers() > 0 && k > math.MaxInt/16/t.Numbers() {
		return 0, fmt.Errorf("%d best outputs, expected at least 1", k)
	}
	if err := t.can(t.form.Description.Ranks, "K best outputs"); err != nil {
		return 0, err
	}
	if err := t.fits(y, k, score, k); err != nil {
		return 0, err
	}
	if len(count) != t.Len() {
		return 0, fmt.Errorf("%d counts, expected %d", len(count), t.Len())
	}
	return t.each(values, run, func(l *lane, lo, hi int) {
		θ := l.asked(t)
		l.oracle.(oracles.Ranker).TopK(θ, k, &l.best)
		copy(count[lo:hi], l.best.Count)
		for b := range hi - lo {
			size := l.outputs[b+1] - l.outputs[b]
			for j := range l.best.Count[b] {
				score[(lo+b)*k+j] = l.best.Score[b*k+j]
				to := y[k*t.outputs[lo+b]+j*size:][:size]
				l.copyOutput(t, to, l.best.Output(j, θ.Outputs[b], θ.Outputs[b+1]))
			}
		}
		for b := lo; b < hi; b++ {
			if count[b] > 0 && math.IsNaN(score[b*k]) {
				l.standIn(t, values, b, y[k*t.outputs[b]:][:t.outputs[b+1]-t.outputs[b]])
			}
		}
	})
}

// Sample draws k outputs of every example at temperature μ, by a seed per example [B]: count [B] is k, or 0 where there
// is no output or potentials are not valid; y as in TopK.
func (t *Batch) Sample(values [][]float32, run Run, μ float64, k int, seeds []uint64, y []int32, count []int) (int, error) {
	if k < 1 || k > mostNumbers || t.Numbers() > 0 && k > math.MaxInt/16/t.Numbers() {
		return 0, fmt.Errorf("%d samples, expected at least 1", k)
	}
	if err := t.can(t.form.Description.Draws, "samples"); err != nil {
		return 0, err
	}
	if !(μ > 0) || math.IsInf(μ, 1) {
		return 0, fmt.Errorf("temperature %g, expected a number above 0", μ)
	}
	if len(y) != k*t.Numbers() || len(seeds) != t.Len() || len(count) != t.Len() {
		return 0, fmt.Errorf("%d numbers, %d seeds and %d counts, expected %d, %d and %d", len(y), len(seeds), len(count), k*t.Numbers(),
			t.Len(), t.Len())
	}
	return t.each(values, run, func(l *lane, lo, hi int) {
		θ := l.asked(t)
		l.oracle.(oracles.Sampler).Sample(θ, μ, k, seeds[lo:hi], &l.samples)
		copy(count[lo:hi], l.samples.Count)
		for b := range hi - lo {
			size := l.outputs[b+1] - l.outputs[b]
			for j := range l.samples.Count[b] {
				to := y[k*t.outputs[lo+b]+j*size:][:size]
				l.copyOutput(t, to, l.samples.Output(j, θ.Outputs[b], θ.Outputs[b+1]))
			}
		}
	})
}

func (l *lane) copyOutput(t *Batch, to, from []int32) {
	if t.rooted != nil {
		narrowOutput(to, from)
		return
	}
	copy(to, from)
}

// Score writes the scores ⟨θ,1_y⟩ of the outputs y [Numbers] to value [B], summed in float64.
func (t *Batch) Score(values [][]float32, run Run, y []int32, value []float64) (int, error) {
	if err := t.CheckOutputs(y); err != nil {
		return 0, err
	}
	if err := t.fits(y, 1, value, 1); err != nil {
		return 0, err
	}
	return t.each(values, run, func(l *lane, lo, hi int) {
		for b := range hi - lo {
			value[lo+b] = l.θ.Score(b, y[t.outputs[lo+b]:t.outputs[lo+b+1]])
		}
	})
}

// Divergence writes, for every example, Σ_y p(y)·(log p(y) − log q(y)) in nats to value [B], for the Gibbs
// distributions p and q of two values of the potentials at temperature μ. Without q it writes the entropy of p. Both
// are differences of numbers as large as the scores over μ: expect errors of some 1e-7 of these, and never less than 0.
func (t *Batch) Divergence(p, q [][]float32, run Run, μ float64, value []float64) (int, error) {
	if err := t.sums(value, μ, nil); err != nil {
		return 0, err
	}
	if !t.form.Description.Exact {
		return 0, fmt.Errorf("entropies and divergences need exact sums over outputs; those of a %s are bounds", t.form.Settings.Structure)
	}
	if q != nil {
		for k := range t.parts {
			if len(q[k]) != t.Size(k) {
				return 0, fmt.Errorf("part %q has %d numbers, expected %d", t.parts[k].Name, len(q[k]), t.Size(k))
			}
		}
	}
	return t.each(p, run, func(l *lane, lo, hi int) {
		θ, summer := l.asked(t), l.oracle.(oracles.Summer)
		var u structured.Marginals
		summer.Exp(θ, μ, value[lo:hi], &u)
		if q == nil {
			for b := range hi - lo {
				value[lo+b] = notBelowZero(oracles.CrossEntropy(&u, b, θ, b, μ, value[lo+b]))
			}
			return
		}
		entropy := make([]float64, hi-lo)
		for b := range entropy {
			entropy[b] = oracles.CrossEntropy(&u, b, θ, b, μ, value[lo+b])
		}
		l.share(t, q, lo, hi)
		θ = l.asked(t)
		summer.Exp(θ, μ, value[lo:hi], nil)
		for b := range entropy {
			value[lo+b] = notBelowZero(oracles.CrossEntropy(&u, b, θ, b, μ, value[lo+b]) - entropy[b])
		}
	})
}

// Hessian writes the product of the Hessian of μ·log Σ_y exp(⟨θ,1_y⟩/μ) of every example with a direction to product,
// which has the form of marginals [MarginalSize]: their derivative along it. The direction has the form of the
// potentials, and must be finite. It is computed in float64 by the chart that the structure declares (oracles/chart),
// which takes some 10 to 50 times as long as Exp of the fastest kernels. It is 0 where there is no output, and NaN
// where the potentials or the direction are not valid. With own, every example has a direction of its own, in the form
// of marginals.
func (t *Batch) Hessian(values [][]float32, run Run, μ float64, direction [][]float32, own bool, product [][]float32) (int, error) {
	if err := t.can(t.form.Description.Hessian, "products with the Hessian"); err != nil {
		return 0, err
	}
	if direction == nil || product == nil {
		return 0, fmt.Errorf("products with the Hessian need a direction, and a place")
	}
	for k := range t.parts {
		size := t.Size(k)
		if own {
			size = t.MarginalSize(k)
		}
		if len(direction[k]) != size {
			return 0, fmt.Errorf("the direction of part %q has %d numbers, expected %d", t.parts[k].Name, len(direction[k]), size)
		}
	}
	if err := t.sums(make([]float64, t.Len()), μ, product); err != nil {
		return 0, err
	}
	return t.each(values, run, func(l *lane, lo, hi int) {
		if l.chart == nil {
			l.chart = chart.New(t.form.kind.Chart)
		}
		θ := l.asked(t)
		l.along(t, direction, own, lo, hi)
		if t.rooted == nil {
			l.into(t, product, lo, hi)
			l.chart.HessianProduct(θ, μ, &l.direction, &l.u)
			l.endMarginals(t, product, lo, hi)
			return
		}
		l.widened.widen(t.rooted, &l.direction, 0)
		l.chart.HessianProduct(θ, μ, &l.widened.θ, &l.rooted.u)
		l.into(t, product, lo, hi)
		l.u.Like(&l.θ)
		l.rooted.narrow(&l.u, l.outputs)
	})
}

// notBelowZero returns x, 0 for a number below it, and NaN for NaN.
func notBelowZero(x float64) float64 {
	if x < 0 {
		return 0
	}
	return x
}

var notANumber = float32(math.NaN())

func fill(x []float32, with float32) {
	for i := range x {
		x[i] = with
	}
}

// CheckOutputs refuses y [Numbers] if it does not hold an output of every example.
func (t *Batch) CheckOutputs(y []int32) error {
	if len(y) != t.Numbers() {
		return fmt.Errorf("outputs of %d numbers, expected %d", len(y), t.Numbers())
	}
	for b := range t.Len() {
		if err := t.checkOutput(b, y[t.outputs[b]:t.outputs[b+1]]); err != nil {
			return err
		}
	}
	return nil
}

func (t *Batch) checkOutput(b int, y []int32) error {
	if err := t.form.output(example{t, b, len(y)}, y); err != nil {
		return fmt.Errorf("output of example %d: %w", b, err)
	}
	return nil
}

// sums refuses a question about sums that the structure or its arguments do not allow.
func (t *Batch) sums(value []float64, μ float64, u [][]float32) error {
	if err := t.can(t.form.Description.Sums, sumsOver); err != nil {
		return err
	}
	if !(μ > 0) || math.IsInf(μ, 1) {
		return fmt.Errorf("temperature %g, expected a number above 0", μ)
	}
	if len(value) != t.Len() {
		return fmt.Errorf("%d values, expected %d", len(value), t.Len())
	}
	if u != nil {
		for k := range t.parts {
			if len(u[k]) != t.MarginalSize(k) {
				return fmt.Errorf("marginals of part %q have %d numbers, expected %d", t.parts[k].Name, len(u[k]), t.MarginalSize(k))
			}
		}
	}
	return nil
}

// sumsOver is what oracles.Unsummable give a reason for.
const sumsOver = "sums over outputs (log partition, marginals, losses)"

// can refuses what the structure does not have, with the reason that its oracle gives.
func (t *Batch) can(does bool, what string) error {
	if does {
		return nil
	}
	why := ""
	if u, ok := t.form.kind.Oracle().(oracles.Unsummable); ok && what == sumsOver {
		why = ": " + u.WhyNoSums()
	}
	return fmt.Errorf("a %s has no %s%s", t.form.Settings.Structure, what, why)
}

func (t *Batch) fits(y []int32, outputs int, value []float64, values int) error {
	if len(y) != outputs*t.Numbers() || len(value) != values*t.Len() {
		return fmt.Errorf("%d numbers and %d values, expected %d and %d", len(y), len(value), outputs*t.Numbers(), values*t.Len())
	}
	return nil
}
