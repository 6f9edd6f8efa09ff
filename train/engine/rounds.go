package engine

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/floats"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Rounds lets ranks improve the dual variables of different examples at the same time, as CoCoA+ does (Ma, Smith,
// Jaggi, Jordan, Richtárik and Takáč 2015). Each rank owns the dual variables of some examples (Engine.Own). In a round
// it works on these alone, from the weights w that all ranks have, and sees its own changes of w multiplied by σ′, as
// if other ranks pulled as it does. For that its steps count λ/σ′ for λ. Then the changes of all ranks add up: w ← w +
// Σ_k Δw_k.
//
// The dual is a concave function of the u_i minus a convex function r of w. With σ′ = K ranks it rises by at least the
// sum of what the ranks see it rise: r(w + Σ_k Δw_k) ≤ (1/K) Σ_k r(w + KΔw_k). Without a threshold the same holds for
// every σ′ ≥ ‖Σ_k Δw_k‖² / Σ_k ‖Δw_k‖². That quotient is K where all ranks pull in the same direction, and near 1 where
// their examples have little in common. So σ′ follows the quotients of the rounds, half-way each time, and a round
// after which the dual has fallen is undone, and followed by one with σ′ = K.
//
// With sparse inputs a round costs as much as the rows of weights that its examples touch: ranks tell each other these
// and what they have added to them, and each adds up all of it, in the order of the ranks. With dense inputs all
// weights are touched, and what ranks have added is summed as gradients are.
//
// The zero value is ready for use. For a single process a round is just its work.
type Rounds struct {
	sigma     float64   // σ′ of the next round; 0: the number of ranks
	round     uint32    // counts rounds
	visited   []int     // own examples that this round has visited, each once
	seen      []uint32  // [n] the round of the last visit of an example
	continues bool      // the weights that all ranks have are w already
	message   []float32 // scratch memory: what all ranks tell, in units of 4 bytes
	ends      []int     // where the part of each rank ends in it, in bytes
	weights   roundWeights
}

// roundWeights is what rounds know of the weights: those that all ranks have when a round begins, and what ranks add to
// them. With dense inputs that is all of them (denserounds.go), and with sparse ones the rows that are touched
// (sparserounds.go).
type roundWeights interface {
	// begin begins a round at w. If it continues, nothing has moved w since the last round.
	begin(w []float32, continues bool)
	// visit takes note of examples that may change w.
	visit(examples []int)
	// sizes returns how many spans of weights, and how many weights of them, this rank tells the others.
	sizes() (spans, weights int)
	// exchange moves w from where the round began by shares of what all ranks have added. heads are what each rank has
	// told of what it tells.
	exchange(ctx context.Context, r *Rounds, by roundShare, w []float32, heads []float64, c *changes) error
	// undo returns w to where the round began.
	undo(w []float32)
}

// roundShare is the share of what ranks have added that w moves by, and the threshold of the weights that score.
type roundShare struct{ share, τ float32 }

// DualBlock is what a method does in rounds.
type DualBlock interface {
	// Dual returns the dual point's weights before thresholding, and pointers to the terms of the dual value that are
	// sums over examples. In a round each rank changes all of these, for itself; after the round all ranks have the
	// same.
	Dual() (w []float32, terms []*float64)

	// Keep copies the dual variables of examples; if more, beside those that it has copied. Restore returns to the
	// copies: examples are all that were kept, in that order.
	Keep(examples []int, more bool)
	Restore(examples []int)
}

// roundsPerPass is how often ranks exchange what they have changed in w.
const roundsPerPass = 8

// PerPass returns the number of rounds of a pass: 1 for a single process.
func (r *Rounds) PerPass(e *Engine) int {
	if e.group.Size() == 1 {
		return 1
	}
	return roundsPerPass
}

// Continue says that nothing has moved w since the last round, so that the next one knows the weights that all ranks
// have. Other rounds begin with a copy of all weights.
func (r *Rounds) Continue() { r.continues = true }

// Round runs the work of a round with σ′, for which it needs no other rank, and sums what it has changed. The work
// calls visit with own examples before it changes their dual variables. The weights that score are soft thresholds at
// τ, and λ is that of the whole dual.
func (r *Rounds) Round(ctx context.Context, e *Engine, λ float64, τ float32, b DualBlock, work func(σ float64, visit func(examples []int)) error) error {
	if e.group.Size() == 1 {
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
			r.visit(examples)
			if !safe {
				b.Keep(r.visited[first:], first > 0)
			}
		})
	})
	for k, x := range terms {
		mine[k] = *x - start[k]
	}
	c, err := r.exchange(ctx, e, roundShare{float32(1 / σ), τ}, w, mine, failed)
	if err != nil {
		return err
	}
	rise, sizes := -λ*c.value, []float64{λ * c.size}
	for k, x := range terms {
		*x = start[k] + c.terms[k] // the same bits on all ranks
		rise, sizes = rise+c.terms[k], append(sizes, *x)
	}
	if !safe && rise < -e.Allowance(sizes...) {
		r.weights.undo(w)
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

func (r *Rounds) begin(e *Engine, w []float32) {
	if r.round++; r.round == 0 || len(r.seen) != e.Len() { // after 2³² rounds, or the first time
		r.seen, r.round = make([]uint32, e.Len()), 1
	}
	if r.weights == nil {
		r.weights = e.access.roundWeights()
	}
	r.weights.begin(w, r.continues)
	r.visited, r.continues = r.visited[:0], false
}

// visit takes note of examples.
func (r *Rounds) visit(examples []int) {
	first := len(r.visited)
	for _, i := range examples {
		if r.seen[i] != r.round {
			r.seen[i] = r.round
			r.visited = append(r.visited, i)
		}
	}
	r.weights.visit(r.visited[first:])
}

// changes are what all ranks have changed in a round.
type changes struct {
	terms    []float64 // of the dual value
	alone    float64   // Σ_k ‖Δw_k‖²
	together float64   // ‖Σ_k Δw_k‖²
	value    float64   // Σ_j φ(v_j) of the weights after less before, which is ‖w‖²/2 without thresholds and bounds
	size     float64   // Σ_j φ(v_j) after, of those that have changed
	scratch  [blockOfSpans]float32
}

// exchange moves w from where the round began by shares of what all ranks have added, and returns the changes. It fails
// on all ranks if one has failed.
func (r *Rounds) exchange(ctx context.Context, e *Engine, by roundShare, w []float32, mine []float64, failed error) (*changes, error) {
	var bad *NonFiniteError
	if failed != nil && !errors.As(failed, &bad) {
		return nil, failed // ends the run, of which the others learn
	}
	numbers := append([]float64{0, 0, 0}, mine...) // whether this rank has failed, how many spans and how many weights it tells
	if failed != nil {
		numbers[0] = 1
	}
	spans, weights := r.weights.sizes()
	numbers[1], numbers[2] = float64(spans), float64(weights)
	size, n := e.group.Size(), len(numbers)
	heads := make([]float64, size*n)
	copy(heads[e.group.Rank()*n:], numbers)
	if err := e.allGatherShares(ctx, vec.Bytes(heads), size, 8*n); err != nil {
		return nil, err
	}
	c, anyFailed := &changes{terms: make([]float64, len(mine))}, false
	r.ends = r.ends[:0]
	total := 0
	for k := range size {
		head := heads[k*n:][:n]
		anyFailed = anyFailed || head[0] != 0
		floats.Add(c.terms, head[3:])
		total += partHead + 2*int(head[1]) + int(head[2])
		r.ends = append(r.ends, 4*total)
	}
	r.message = vec.Grow(r.message, total)
	if err := r.weights.exchange(ctx, r, by, w, heads, c); err != nil {
		return nil, err
	}
	if anyFailed {
		return nil, e.SameOnAll(ctx, failed)
	}
	return c, nil
}

// partHead is the size of the square ‖Δw_k‖² before a rank's spans and what it has added there, in units of 4 bytes.
const partHead = 2

// part returns the part of a rank in the message.
func (r *Rounds) part(rank int) []float32 {
	from := 0
	if rank > 0 {
		from = r.ends[rank-1]
	}
	return r.message[from/4 : r.ends[rank]/4]
}

// gather completes the message, of which this rank has its own part, whose square it sets, and adds up the squares of
// all ranks.
func (r *Rounds) gather(ctx context.Context, e *Engine, square float64, c *changes) error {
	copy(vec.Bytes(r.part(e.group.Rank())), vec.Bytes([]float64{square}))
	if err := e.group.AllGatherV(ctx, vec.Bytes(r.message), r.ends); err != nil {
		return err
	}
	for rank := range r.ends {
		c.alone += vec.View[float64](vec.Bytes(r.part(rank)[:partHead]))[0]
	}
	return nil
}

// measure adds what a change of weights from x to y changes. All ranks measure the same numbers in the same order. Sums
// of a few thousand numbers are in float32; that is exact enough, because ‖y‖² − ‖x‖² = ⟨y−x, 2x + (y−x)⟩ is as small
// as the change.
func (c *changes) measure(o *Objective, x, y []float32) {
	for len(x) > 0 {
		n := min(len(x), len(c.scratch))
		d, plain := c.scratch[:n], o.Plain()
		copy(d, y)
		vec.Axpy(-1, x[:n], d)
		square := float64(vec.Dot(d, d))
		c.together += square
		if plain {
			c.size += float64(vec.Dot(y[:n], y[:n])) / 2
			c.value += float64(vec.Dot(d, x[:n])) + square/2
		}
		x, y = x[n:], y[n:]
	}
}

// conjugate adds what is missing in measure for soft thresholds at τ, or bounds; the weights are those from lo on.
func (c *changes) conjugate(o *Objective, τ float32, lo int, x, y []float32) {
	if !o.Plain() {
		after := o.conjugate(τ, lo, y)
		c.size += after
		c.value += after - o.conjugate(τ, lo, x)
	}
}

// conjugate returns Σ_j φ(v_j) of weights from lo on, for soft thresholds at τ (bounds.go).
func (o *Objective) conjugate(τ float32, lo int, v []float32) float64 {
	φ, total := o.primal(), 0.0
	o.eachL1(lo, lo+len(v), func(from, to int, λ1 float64) {
		t := float64(τ)
		if λ1 == 0 {
			t = 0
		}
		for _, x := range v[:to-from] {
			total += φ.value(float64(x), t)
		}
		v = v[to-from:]
	})
	return total
}

// Archive saves or restores the state between two rounds.
func (r *Rounds) Archive(a Archive) { a.Number("rounds.sigma", &r.sigma) }
