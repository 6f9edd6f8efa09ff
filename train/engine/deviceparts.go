package engine

import (
	"cmp"
	"context"
	"errors"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/machine/vec"
	"github.com/dsp-go/dsp/train/ranks"
)

// A device evaluates a batch in one go, and its sums have other bits than those of parts of the batch. So that several ranks can share a batch, it may be cut into
// parts, each of which a device evaluates as a batch of its own. Their gradients come to the host, where they are added in order: from rank to rank, if there are several, and piece by piece, the first weights
// while the device computes the gradients of the next. Or the ranks' devices exchange them, and each adds all of them in the same order. So the bits depend on the number of parts and not on that of ranks. All examples are cut in the same way in passes without a memory.

// PartAccelerator is an Accelerator that evaluates batches in parts.
type PartAccelerator interface {
	Descender
	// Part begins to evaluate a part of a batch as Step does without a memory. If D is to leave, Arrived waits for some of it, the numbers from lo on, and copies them; all of it must have
	// arrived before the next part begins. EndPart waits for the end and returns the sums. Unless losses [len(examples)] is nil, it sets them to the f_i of a smooth loss.
	Part(ctx context.Context, w []float32, examples []int, s oracles.Smoothing, dropout uint64, leaves bool) error
	Arrived(to []float32, lo int) error
	EndPart(losses []float64) (Sums, error)
	// PartOfPass makes D the sum over some examples of what FullPass sums over all, and copies it to g [Dim], unless g is nil.
	PartOfPass(ctx context.Context, w []float32, examples []int, s oracles.Smoothing, g []float32) (Sums, error)
	// SetStep makes sums and D = g those of the last step. With a nil g, D is that of the last AddParts.
	SetStep(sums Sums, g []float32)
	// Move moves the iterate of the open descent along the D of the last step, on a batch of examples. ProxRule needs their losses if the loss is smooth.
	Move(examples []int, losses []float64, m Move) error

	// Gathers reports whether the ranks' devices exchange D of their parts. Then KeepPart keeps D of the last part on the device as that of this rank's part l, and AddParts makes D
	// the sum over all ranks' parts, in their order, and copies it to g [Dim], unless g is nil. Rank r of R has parts parts·r/R to parts·(r+1)/R−1. ended is asked
	// now and then why not to wait for other ranks any longer.
	Gathers() bool
	KeepPart(l int)
	AddParts(parts int, g []float32, ended func() error) error
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

// parting is how some examples are cut into parts.
type parting struct {
	group    ranks.Group
	examples []int
	losses   []float64 // of the examples, or nil
	sums     []Sums    // by part
	lo, hi   int       // parts of this rank
}

func (e *Engine) cutExamples(examples []int, losses []float64) *parting {
	p := &parting{group: e.Ranks(), examples: examples, losses: losses, sums: make([]Sums, min(e.parts, len(examples)))}
	p.lo, p.hi = ranks.Share(p.group, len(p.sums))
	return p
}

func (p *parting) from(k int) int { return len(p.examples) * k / len(p.sums) }

// part returns the examples of part k.
func (p *parting) part(k int) []int { return p.examples[p.from(k):p.from(k+1)] }

// lossesOf returns the losses of part k; nil without losses.
func (p *parting) lossesOf(k int) []float64 {
	if p.losses == nil {
		return nil
	}
	return p.losses[p.from(k):p.from(k+1)]
}

// tellParts tells all ranks the sums and losses of all parts, or an error, and returns the total of the sums.
func (e *Engine) tellParts(ctx context.Context, p *parting, failed error) (total Sums, err error) {
	n, size := len(p.sums), p.group.Size()
	err = e.tell(ctx, failed, func(rank int, do func(x []byte)) {
		for k := n * rank / size; k < n*(rank+1)/size; k++ {
			do(ranks.Bytes(p.sums[k : k+1]))
			do(ranks.Bytes(p.lossesOf(k)))
		}
	})
	for _, s := range p.sums {
		total.add(s)
	}
	return total, err
}

// addParts sets g to the sum of the gradients of all parts, those of this rank first to last. arrived is called before numbers a to b−1 of the last one are read.
func (p *parting) addParts(ctx context.Context, gradients [][]float32, g []float32, arrived func(a, b int) error) error {
	return p.group.Sum(ctx, cut(g), 1, func(k, _ int) error {
		a, b := k*pieceNumbers, min((k+1)*pieceNumbers, len(g))
		if err := arrived(a, b); err != nil {
			return err
		}
		for l, part := range gradients {
			if from := part[a:b]; p.lo+l == 0 {
				copy(g[a:b], from)
			} else {
				vec.Axpy(1, from, g[a:b])
			}
		}
		return nil
	})
}

// partGradients returns memory for gradients of n parts.
func (e *Engine) partGradients(n int) [][]float32 {
	for len(e.shared.parts) < n {
		e.shared.parts = append(e.shared.parts, make([]float32, e.Scorer.Dim()))
	}
	return e.shared.parts[:n]
}

// stepInParts evaluates a batch in parts and makes it the device's last step. A nil w is the path's iterate. losses [len(examples)] are set unless they are nil.
func (r *remote) stepInParts(ctx context.Context, device PartAccelerator, w []float32, examples []int, s oracles.Smoothing, dropout uint64, losses []float64) error {
	e, p := r.engine, r.engine.cutExamples(examples, losses)
	begin := func(k int, leaves bool) error { return device.Part(ctx, w, p.part(k), s, dropout, leaves) }
	var bad error // potentials of some part that are not finite: all ranks go on until they have told each other
	end := func(k int) (err error) {
		p.sums[k], err = device.EndPart(p.lossesOf(k))
		if not := (*NonFiniteError)(nil); errors.As(err, &not) {
			bad, err = cmp.Or(bad, err), nil
		}
		return err
	}
	if device.Gathers() {
		for k := p.lo; k < p.hi; k++ {
			if err := begin(k, false); err != nil {
				return err
			}
			device.KeepPart(k - p.lo)
			if err := end(k); err != nil {
				return err
			}
		}
		sums, err := e.tellParts(ctx, p, bad)
		if err == nil {
			err = device.AddParts(len(p.sums), nil, func() error { return p.group.Ended(ctx) })
		}
		if err == nil {
			device.SetStep(sums, nil)
		}
		return err
	}
	e.narrow = vec.Grow(e.narrow, e.Scorer.Dim())
	gradients := e.partGradients(p.hi - p.lo)
	for k := p.lo; k < p.hi; k++ {
		err := begin(k, true)
		if err == nil && k < p.hi-1 {
			if err = device.Arrived(gradients[k-p.lo], 0); err == nil {
				err = end(k)
			}
		}
		if err != nil {
			return err
		}
	}
	err := p.addParts(ctx, gradients, e.narrow, func(a, b int) error {
		if p.lo == p.hi {
			return nil
		}
		return device.Arrived(gradients[p.hi-1-p.lo][a:b], a)
	})
	if err == nil && p.lo < p.hi {
		err = end(p.hi - 1)
	}
	if err != nil {
		return err
	}
	sums, err := e.tellParts(ctx, p, bad)
	if err == nil {
		device.SetStep(sums, e.narrow)
	}
	return err
}

// passInParts evaluates all examples in parts, and sets g [Dim] to the gradient.
func (r *remote) passInParts(ctx context.Context, device PartAccelerator, w []float32, s oracles.Smoothing, g []float32) (Sums, error) {
	e, p := r.engine, r.engine.cutExamples(r.engine.all, nil)
	var gradients [][]float32
	if !device.Gathers() {
		gradients = e.partGradients(p.hi - p.lo)
	}
	var err error
	for k := p.lo; k < p.hi && err == nil; k++ {
		var to []float32
		if gradients != nil {
			to = gradients[k-p.lo]
		}
		if p.sums[k], err = device.PartOfPass(ctx, w, p.part(k), s, to); gradients == nil {
			device.KeepPart(k - p.lo)
		}
	}
	total, err := e.tellParts(ctx, p, err)
	switch {
	case err != nil:
		return total, err
	case device.Gathers():
		return total, device.AddParts(len(p.sums), g, func() error { return p.group.Ended(ctx) })
	}
	return total, p.addParts(ctx, gradients, g, func(a, b int) error { return nil })
}

// valueInParts returns the sums of the objective's value over some examples.
func (r *remote) valueInParts(ctx context.Context, w []float32, examples []int) (Sums, error) {
	p := r.engine.cutExamples(examples, nil)
	var err error
	for k := p.lo; k < p.hi && err == nil; k++ {
		p.sums[k].Primal, err = r.device.Value(ctx, w, p.part(k))
	}
	return r.engine.tellParts(ctx, p, err)
}
