package engine

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"gonum.org/v1/gonum/floats"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train/ranks"
)

// Rounds lets ranks improve the dual variables of different examples at the same time, as CoCoA+ does (Ma, Smith, Jaggi, Jordan, Richtárik and
// Takáč 2015). Each rank owns the dual variables of some examples (Engine.Own). In a round it works on these alone, from the weights w that all
// ranks have, and sees its own changes of w multiplied by σ′, as if other ranks pulled as it does. For that its steps count λ/σ′ for λ. Then
// the changes of all ranks add up: w ← w + Σ_k Δw_k.
//
// The dual is a concave function of the u_i minus a convex function r of w. With σ′ = K ranks it rises by at least the sum of what the ranks see it
// rise: r(w + Σ_k Δw_k) ≤ (1/K) Σ_k r(w + KΔw_k). Without a threshold the same holds for every σ′ ≥ ‖Σ_k Δw_k‖² / Σ_k ‖Δw_k‖². That quotient is K
// where all ranks pull in the same direction, and near 1 where their examples have little in common. So σ′ follows the quotients of the
// rounds, half-way each time, and a round after which the dual has fallen is undone, and followed by one with σ′ = K.
//
// The zero value is ready for use. For a single process a round is just its work.
type Rounds struct {
	sigma  float64 // σ′ of the next round; 0: the number of ranks
	before []float32
	after  []float32
}

// DualBlock is what a method does in rounds.
type DualBlock interface {
	// Dual returns the dual point's weights before thresholding, and pointers to the terms of the dual value that are sums over examples. In a round
	// each rank changes all of these, for itself; after the round all ranks have the same.
	Dual() (w []float32, terms []*float64)

	// Keep copies the dual variables of own examples; Restore returns to these.
	Keep(own []int)
	Restore(own []int)
}

// roundsPerPass is how often ranks exchange what they have changed in w.
const roundsPerPass = 8

// PerPass returns the number of rounds of a pass: 1 for a single process.
func (r *Rounds) PerPass(e *Engine) int {
	if e.group == nil {
		return 1
	}
	return roundsPerPass
}

// Round runs the work of a round with σ′, for which it needs no other rank, and sums what it has changed. The weights that score are soft
// thresholds at τ, and λ is that of the whole dual.
func (r *Rounds) Round(ctx context.Context, e *Engine, λ float64, τ float32, b DualBlock, work func(σ float64) error) error {
	g, own := e.group, e.Own()
	if g == nil {
		return work(1)
	}
	most := float64(g.Size())
	σ := min(max(1, r.sigma), most) // a run that is resumed may have fewer ranks
	if r.sigma == 0 {
		σ = most
	}
	safe := σ == most
	if !safe {
		b.Keep(own)
	}
	w, terms := b.Dual()
	r.before = append(r.before[:0], w...)
	begin := make([]float64, len(terms))
	for k, x := range terms {
		begin[k] = *x
	}
	if err := e.Alone(ctx, func() error { return work(σ) }); err != nil {
		return err
	}
	w, terms = b.Dual()
	changes, err := r.sum(ctx, e, w, σ, begin, terms)
	if err != nil {
		return err
	}
	value, was := -λ*e.conjugate(r.after, τ), -λ*e.conjugate(r.before, τ)
	sizes := []float64{value}
	for k, x := range terms {
		*x = begin[k] + changes[k]
		value, was, sizes = value+*x, was+begin[k], append(sizes, *x)
	}
	if !safe && value < was-e.Allowance(sizes...) {
		copy(w, r.before)
		for k, x := range terms {
			*x = begin[k]
		}
		b.Restore(own)
		r.sigma = 0
		return nil
	}
	copy(w, r.after)
	if alone := changes[len(terms)]; alone > 0 {
		r.sigma = (σ + max(1, vec.Dist2(r.after, r.before)/alone)) / 2
	}
	return nil
}

// sum leaves the weights after a round in r.after, and returns the changes of the terms and Σ_k ‖Δw_k‖².
func (r *Rounds) sum(ctx context.Context, e *Engine, w []float32, σ float64, begin []float64, terms []*float64) ([]float64, error) {
	mine := make([]float64, len(terms)+1)
	for k, x := range terms {
		mine[k] = *x - begin[k]
	}
	mine[len(terms)] = vec.Dist2(w, r.before) / (σ * σ)
	total, err := e.sumNumbers(ctx, mine)
	if err != nil {
		return nil, err
	}
	r.after = append(r.after[:0], r.before...)
	by := float32(1 / σ)
	err = e.group.Sum(ctx, cut(r.after), 1, func(k, _ int) error {
		lo, hi := k*pieceNumbers, min((k+1)*pieceNumbers, len(w))
		to, from, now := r.after[lo:hi], r.before[lo:hi], w[lo:hi]
		for j := range to {
			to[j] += by * (now[j] - from[j])
		}
		return nil
	})
	return total, err
}

// Archive saves or restores the state between two rounds.
func (r *Rounds) Archive(a Archive) { a.Number("rounds.sigma", &r.sigma) }

// Own returns the examples that this rank has in full passes, and whose dual variables it owns: all of them without other ranks.
func (e *Engine) Own() []int {
	if e.group == nil {
		return e.all
	}
	if e.own == nil {
		e.own = slices.Clone(e.OwnOf(e.group.Rank()))
	}
	return e.own
}

// OwnOf returns the examples that a rank owns, until the next call.
func (e *Engine) OwnOf(rank int) []int {
	if e.group == nil {
		return e.all
	}
	return e.examplesOf(rank)
}

// All returns all examples.
func (e *Engine) All() []int { return e.all }

// Assemble completes marginals of all examples, of which each rank knows those of its own.
func (e *Engine) Assemble(ctx context.Context, u *structured.Marginals) error {
	return e.exchange(ctx, u)
}

// AssembleMemory is Assemble for a memory.
func (e *Engine) AssembleMemory(ctx context.Context, m *Memory) error {
	if e.group == nil {
		return nil
	}
	m.KeepRest()
	rest := m.Marginals
	rest.Parts = append([]structured.Part(nil), m.Parts...)
	for k := range rest.Parts {
		rest.Parts[k].Values = m.rest[k]
	}
	if err := e.Assemble(ctx, &m.Marginals); err != nil {
		return err
	}
	return e.Assemble(ctx, &rest)
}

// AssembleNumbers completes numbers x [n] of the examples, of which each rank knows those of its own.
func AssembleNumbers[E float32 | float64](ctx context.Context, e *Engine, x []E) error {
	if e.group == nil {
		return nil
	}
	var mine []E
	for _, i := range e.Own() {
		mine = append(mine, x[i])
	}
	all, err := GatherNumbers(ctx, e, mine)
	if err != nil {
		return err
	}
	for rank, from := range all {
		of := e.OwnOf(rank)
		if len(from) != len(of) {
			return fmt.Errorf("rank %d sent %d numbers, expected %d", rank, len(from), len(of))
		}
		for k, i := range of {
			x[i] = from[k]
		}
	}
	return nil
}

// GatherNumbers returns the numbers that each rank gives.
func GatherNumbers[E int32 | float32 | float64](ctx context.Context, e *Engine, mine []E) ([][]E, error) {
	all, err := e.Ranks().Gather(ctx, ranks.Bytes(mine))
	if err != nil {
		return nil, err
	}
	lists := make([][]E, len(all))
	for rank, x := range all {
		lists[rank] = make([]E, len(x)/int(unsafe.Sizeof(*new(E))))
		if err := ranks.Numbers(x, lists[rank]); err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// SumOverRanks returns the sum of a number over the ranks.
func (e *Engine) SumOverRanks(ctx context.Context, x float64) (float64, error) {
	if e.group == nil {
		return x, nil
	}
	total, err := e.sumNumbers(ctx, []float64{x})
	if err != nil {
		return 0, err
	}
	return total[0], nil
}

// sumNumbers sums numbers, as many on each rank, over the ranks.
func (e *Engine) sumNumbers(ctx context.Context, mine []float64) ([]float64, error) {
	all, err := GatherNumbers(ctx, e, mine)
	if err != nil {
		return nil, err
	}
	total := make([]float64, len(mine))
	for rank, x := range all {
		if len(x) != len(mine) {
			return nil, fmt.Errorf("rank %d sent %d numbers, expected %d", rank, len(x), len(mine))
		}
		floats.Add(total, x)
	}
	return total, nil
}
