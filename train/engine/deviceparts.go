package engine

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train/ranks"
)

// A device evaluates a batch in one go, and its sums have other bits than those of parts of the batch. So that several ranks can share a batch, it may be cut into
// parts, each of which a device evaluates as a batch of its own. Their gradients come to the host, where they are added in order: from rank to rank, if there are several.
// So the bits depend on the number of parts and not on that of ranks. All examples are cut in the same way in passes without a memory.

// PartAccelerator is an Accelerator that evaluates batches in parts.
type PartAccelerator interface {
	Descender
	// Part evaluates a part of a batch as Step does without a memory, waits for its D and copies it to g [Dim]. Unless losses [len(examples)] is nil, it sets them to
	// the f_i of a smooth loss.
	Part(ctx context.Context, w []float32, examples []int, s oracles.Smoothing, dropout uint64, g []float32, losses []float64) (Sums, error)
	// PartOfPass sets g [Dim] to the sum over some examples of what FullPass sums over all.
	PartOfPass(ctx context.Context, w []float32, examples []int, s oracles.Smoothing, g []float32) (Sums, error)
	// SetStep makes sums and D = g those of the last step.
	SetStep(sums Sums, g []float32)
	// Move moves the iterate of the open descent along the D of the last step, on a batch of examples. ProxRule needs their losses if the loss is smooth.
	Move(examples []int, losses []float64, m Move) error
}

// Cut has the device, which must be a PartAccelerator, evaluate batches in parts. With one, it evaluates them in one go.
func (e *Engine) Cut(parts int) { e.parts = parts }

// parts returns the device if batches are cut; else nil.
func (r *remote) parts() PartAccelerator {
	if r.engine.parts <= 1 {
		return nil
	}
	return r.device.(PartAccelerator)
}

// evaluator evaluates a part of some examples: its gradient and losses as PartAccelerator.Part does.
type evaluator func(part []int, g []float32, losses []float64) (Sums, error)

// overParts cuts examples into parts, has each rank evaluate its share of them, and returns the total of their sums. Unless g and losses are nil, it sets them to the sum of
// the parts' gradients, and to the losses of all examples.
func (e *Engine) overParts(ctx context.Context, examples []int, g []float32, losses []float64, evaluate evaluator) (total Sums, err error) {
	group, n := e.Ranks(), min(e.parts, len(examples))
	from := func(k int) int { return len(examples) * k / n }
	lossesOf := func(k int) []float64 {
		if losses == nil {
			return nil
		}
		return losses[from(k):from(k+1)]
	}
	lo, hi := ranks.Share(group, n)
	gradients := &e.shared.parts
	for len(*gradients) < hi-lo && g != nil {
		*gradients = append(*gradients, make([]float32, len(g)))
	}
	sums := make([]Sums, n)
	for k := lo; k < hi && err == nil; k++ {
		var to []float32
		if g != nil {
			to = (*gradients)[k-lo]
		}
		sums[k], err = evaluate(examples[from(k):from(k+1)], to, lossesOf(k))
	}
	err = e.tell(ctx, err, func(rank int, do func(x []byte)) {
		for k := n * rank / group.Size(); k < n*(rank+1)/group.Size(); k++ {
			do(ranks.Bytes(sums[k : k+1]))
			do(ranks.Bytes(lossesOf(k)))
		}
	})
	if err != nil {
		return total, err
	}
	for _, s := range sums {
		total.add(s)
	}
	if g == nil {
		return total, nil
	}
	return total, group.Sum(ctx, cut(g), 1, func(k, _ int) error {
		a, b := k*pieceNumbers, min((k+1)*pieceNumbers, len(g))
		for l := lo; l < hi; l++ {
			if from := (*gradients)[l-lo][a:b]; l == 0 {
				copy(g[a:b], from)
			} else {
				vec.Axpy(1, from, g[a:b])
			}
		}
		return nil
	})
}

// stepInParts evaluates a batch in parts and makes it the device's last step. A nil w is the path's iterate.
func (r *remote) stepInParts(ctx context.Context, device PartAccelerator, w []float32, examples []int, s oracles.Smoothing, dropout uint64, losses []float64) error {
	e := r.engine
	e.narrow = vec.Grow(e.narrow, e.Scorer.Dim())
	sums, err := e.overParts(ctx, examples, e.narrow, losses, func(part []int, g []float32, losses []float64) (Sums, error) {
		return device.Part(ctx, w, part, s, dropout, g, losses)
	})
	if err == nil {
		device.SetStep(sums, e.narrow)
	}
	return err
}
