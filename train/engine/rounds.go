package engine

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"gonum.org/v1/gonum/floats"

	"github.com/dsp-go/dsp/nets/sparse"
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
// With sparse inputs a round costs as much as the rows of weights that its examples touch: ranks tell each other these and what they have added to them, and
// each adds up all of it, in the order of the ranks. With dense inputs all weights are touched, and what ranks have added is summed as gradients are.
//
// The zero value is ready for use. For a single process a round is just its work.
type Rounds struct {
	sigma   float64   // σ′ of the next round; 0: the number of ranks
	list    uint32    // counts lists of rows
	visited []int     // own examples that this round has visited, each once
	seen    []uint32  // [n] list at the last visit of an example
	rows    []int32   // a list of rows: that this rank has touched, and then that all have, in the same order on all ranks
	touched []uint32  // [NumRows] the last list that has a row
	before  []float32 // weights of the rows before the round, one row after the other; all weights for dense inputs
	after   []float32 // the same after it
	added   []float32 // scratch memory: what a rank has added to its rows, or all ranks for dense inputs
	message []byte    // scratch memory
	bits    []uint64  // scratch memory: a bit for each row, all zero
	batch   structured.Batch
	found   sparse.Rows
}

// DualBlock is what a method does in rounds.
type DualBlock interface {
	// Dual returns the dual point's weights before thresholding, and pointers to the terms of the dual value that are sums over examples. In a round
	// each rank changes all of these, for itself; after the round all ranks have the same.
	Dual() (w []float32, terms []*float64)

	// Keep copies the dual variables of examples; if more, beside those that it has copied. Restore returns to the copies: examples are all that
	// were kept, in that order.
	Keep(examples []int, more bool)
	Restore(examples []int)
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

// Round runs the work of a round with σ′, for which it needs no other rank, and sums what it has changed. The work calls visit with own examples
// before it changes their dual variables. The weights that score are soft thresholds at τ, and λ is that of the whole dual.
func (r *Rounds) Round(ctx context.Context, e *Engine, λ float64, τ float32, b DualBlock, work func(σ float64, visit func(examples []int)) error) error {
	if e.group == nil {
		return work(1, func([]int) {})
	}
	most := float64(e.group.Size())
	σ := min(max(1, r.sigma), most) // a run that is resumed may have fewer ranks
	if r.sigma == 0 {
		σ = most
	}
	safe := σ == most
	w, terms := b.Dual()
	r.begin(e, w)
	start, mine := make([]float64, len(terms)), make([]float64, len(terms)) // the terms before the round, and how this rank changes them
	for k, x := range terms {
		start[k] = *x
	}
	failed := e.apart(func() error {
		return work(σ, func(examples []int) {
			first := len(r.visited)
			r.visit(e, w, examples)
			if !safe {
				b.Keep(r.visited[first:], first > 0)
			}
		})
	})
	for k, x := range terms {
		mine[k] = *x - start[k]
	}
	c, err := r.exchange(ctx, e, τ, float32(1/σ), w, mine, failed)
	if err != nil {
		return err
	}
	rise, sizes := -λ*c.value, []float64{λ * c.size}
	for k, x := range terms {
		*x = start[k] + c.terms[k] // the same bits on all ranks
		rise, sizes = rise+c.terms[k], append(sizes, *x)
	}
	if !safe && rise < -e.Allowance(sizes...) {
		r.undo(e, w)
		for k, x := range terms {
			*x = start[k]
		}
		b.Restore(r.visited)
		r.sigma = 0
		return nil
	}
	if c.alone > 0 {
		r.sigma = (σ + max(1, c.together/c.alone)) / 2
	}
	return nil
}

// begin begins a round at w.
func (r *Rounds) begin(e *Engine, w []float32) {
	if len(r.seen) != e.Len() {
		r.seen = make([]uint32, e.Len())
		if e.sparse != nil {
			r.touched, r.bits = make([]uint32, e.sparse.NumRows()), make([]uint64, e.sparse.NumRows()/64+1)
		}
	}
	r.visited = r.visited[:0]
	r.forget()
	if e.sparse == nil {
		r.before = append(r.before, w...)
	}
}

// forget begins a new list of rows.
func (r *Rounds) forget() {
	if r.list++; r.list == 0 { // after 2³² lists
		clear(r.seen)
		clear(r.touched)
		r.list = 1
	}
	r.rows, r.before = r.rows[:0], r.before[:0]
}

// visit takes note of examples, and of the weights that they may change.
func (r *Rounds) visit(e *Engine, w []float32, examples []int) {
	first := len(r.visited)
	for _, i := range examples {
		if r.seen[i] != r.list {
			r.seen[i] = r.list
			r.visited = append(r.visited, i)
		}
	}
	if e.sparse == nil {
		return
	}
	r.batch.Reset(e.Data, r.visited[first:])
	e.sparse.Rows(&r.batch, &r.found)
	r.eachInOrder(r.found.Index, func(row int32) {
		lo, hi := e.sparse.Row(row)
		r.touch(row, w[lo:hi])
	})
}

// eachInOrder calls do for rows in the order of their numbers, so that memory is read in order.
func (r *Rounds) eachInOrder(rows []int32, do func(row int32)) {
	if len(rows) < len(r.bits) { // few: not worth a look at all bits
		slices.Sort(rows)
		for _, row := range rows {
			do(row)
		}
		return
	}
	for _, row := range rows {
		r.bits[row/64] |= 1 << (row % 64)
	}
	for k, x := range r.bits {
		for ; x != 0; x &= x - 1 {
			do(int32(k*64 + bits.TrailingZeros64(x)))
		}
		r.bits[k] = 0
	}
}

// touch takes note of the weights of a row before they change.
func (r *Rounds) touch(row int32, w []float32) {
	if r.touched[row] != r.list {
		r.touched[row] = r.list
		r.rows, r.before = append(r.rows, row), append(r.before, w...)
	}
}

// changes are what all ranks have changed in a round.
type changes struct {
	terms    []float64 // of the dual value
	alone    float64   // Σ_k ‖Δw_k‖²
	together float64   // ‖Σ_k Δw_k‖²
	value    float64   // Σ_j φ(v_j) of the weights after less before, which is ‖w‖²/2 without thresholds and bounds
	size     float64   // Σ_j φ(v_j) after, of those that have changed
}

// exchange moves w from where the round began by shares of what all ranks have added, and returns the changes. It fails on all ranks if one has failed.
func (r *Rounds) exchange(ctx context.Context, e *Engine, τ, share float32, w []float32, mine []float64, failed error) (*changes, error) {
	var bad *NonFiniteError
	if failed != nil && !errors.As(failed, &bad) {
		return nil, failed // ends the run, of which the others learn
	}
	r.added = vec.Grow(r.added, len(r.before))
	numbers := append([]float64{0, float64(len(r.rows)), r.give(e, w, share)}, mine...)
	if failed != nil {
		numbers[0] = 1
	}
	r.message = append(r.message[:0], ranks.Bytes(numbers)...)
	if e.sparse != nil {
		r.message = append(append(r.message, ranks.Bytes(r.rows)...), ranks.Bytes(r.added)...)
		r.forget()
	}
	all, err := e.group.Gather(ctx, r.message)
	if err != nil {
		return nil, err
	}
	c, anyFailed := &changes{terms: make([]float64, len(mine))}, false
	for _, x := range all {
		if x, err = take(x, numbers); err != nil {
			return nil, err
		}
		anyFailed = anyFailed || numbers[0] != 0
		c.alone += numbers[2]
		floats.Add(c.terms, numbers[3:])
		if e.sparse != nil {
			if err = r.add(e, w, int(numbers[1]), x); err != nil {
				return nil, err
			}
		}
	}
	if anyFailed {
		return nil, e.SameOnAll(ctx, failed)
	}
	if e.sparse == nil {
		if err = r.sum(ctx, e, w); err != nil {
			return nil, err
		}
	}
	r.collect(e, w)
	c.together = vec.Dist2(r.after, r.before)
	c.size = r.conjugate(e.Objective, τ, r.after)
	c.value = c.size - r.conjugate(e.Objective, τ, r.before)
	return c, nil
}

// collect leaves the weights of the touched rows in after.
func (r *Rounds) collect(e *Engine, w []float32) {
	r.after = r.after[:0]
	if e.sparse == nil {
		r.after = append(r.after, w...)
	}
	for _, row := range r.rows {
		lo, hi := e.sparse.Row(row)
		r.after = append(r.after, w[lo:hi]...)
	}
}

// give returns w to where the round began, leaves in added a share of what was added to it, and returns the square of the length of that.
func (r *Rounds) give(e *Engine, w []float32, share float32) (square float64) {
	before, added := r.before, r.added
	part := func(w []float32) {
		x, d := before[:len(w)], added[:len(w)]
		before, added = before[len(w):], added[len(w):]
		for j := range w {
			d[j] = share * (w[j] - x[j])
			w[j] = x[j]
			square += float64(d[j]) * float64(d[j])
		}
	}
	if e.sparse == nil {
		part(w)
	}
	for _, row := range r.rows {
		lo, hi := e.sparse.Row(row)
		part(w[lo:hi])
	}
	return square
}

// add adds to w what a rank has added to some rows.
func (r *Rounds) add(e *Engine, w []float32, rows int, message []byte) error {
	if rows < 0 || len(message) < 4*rows {
		return fmt.Errorf("another rank sent %d bytes, too few for %d rows", len(message), rows)
	}
	added := ranks.View[float32](message[4*rows:])
	for _, row := range ranks.View[int32](message[:4*rows]) {
		lo, hi := e.sparse.Row(row)
		to := w[lo:hi]
		r.touch(row, to)
		for j, d := range added[:len(to)] {
			to[j] += d
		}
		added = added[len(to):]
	}
	return nil
}

// sum adds to w what all ranks have added to all weights.
func (r *Rounds) sum(ctx context.Context, e *Engine, w []float32) error {
	r.after = vec.Grow(r.after, len(w))
	clear(r.after)
	err := e.group.Sum(ctx, cut(r.after), 1, func(k, _ int) error {
		lo, hi := k*pieceNumbers, min((k+1)*pieceNumbers, len(w))
		vec.Axpy(1, r.added[lo:hi], r.after[lo:hi])
		return nil
	})
	vec.Axpy(1, r.after, w)
	return err
}

// conjugate returns Σ_j φ(v_j) of the weights of the touched rows, for soft thresholds at τ (bounds.go).
func (r *Rounds) conjugate(o *Objective, τ float32, v []float32) float64 {
	if o.Plain() {
		return vec.Norm2(v) / 2
	}
	φ, total := o.primal(), 0.0
	each := func(lo, n int) {
		o.eachL1(lo, lo+n, func(from, to int, λ1 float64) {
			t := float64(τ)
			if λ1 == 0 {
				t = 0
			}
			for _, x := range v[:to-from] {
				total += φ.value(float64(x), t)
			}
			v = v[to-from:]
		})
	}
	linear, ok := o.Scorer.(*sparse.Linear)
	if !ok {
		each(0, len(v))
	}
	for _, row := range r.rows {
		lo, hi := linear.Row(row)
		each(lo, hi-lo)
	}
	return total
}

// undo returns w to where the round began.
func (r *Rounds) undo(e *Engine, w []float32) {
	if e.sparse == nil {
		copy(w, r.before)
	}
	before := r.before
	for _, row := range r.rows {
		lo, hi := e.sparse.Row(row)
		before = before[copy(w[lo:hi], before):]
	}
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
