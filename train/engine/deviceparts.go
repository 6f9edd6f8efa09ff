package engine

import (
	"context"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// A device evaluates a batch in one go, and its sums have other bits than those of parts of the batch. So that several
// ranks can share a batch, it may be cut into parts, each of which a device evaluates as a batch of its own. Their
// gradients come to the host, where they are added in order: from rank to rank, if there are several, and piece by
// piece, the first weights while the device computes the gradients of the next. Or the ranks' devices exchange them,
// and each adds all of them in the same order. So the bits depend on the number of parts and not on that of ranks. All
// examples are cut in the same way in passes without a memory.

// PartAccelerator is an Accelerator that evaluates batches in parts.
type PartAccelerator interface {
	Descender
	// Part begins to evaluate a part of a batch as Step does without a memory. If D is to leave, Arrived waits for some
	// of it, the numbers from lo on, and copies them; all of it must have arrived before the next part begins. EndPart
	// waits for the end and returns the sums. Unless losses [len(examples)] is nil, it sets them to the f_i of a smooth
	// loss.
	Part(ctx context.Context, at Place, examples []int, s oracles.Smoothing, dropout uint64, leaves bool) error
	Arrived(to []float32, lo int) error
	EndPart(losses []float64) (Sums, error)
	// PartOfPass makes D the sum over some examples of what FullPass sums over all, and copies it to g [Dim], unless g
	// is nil.
	PartOfPass(ctx context.Context, w []float32, examples []int, s oracles.Smoothing, g []float32) (Sums, error)
	// SetStep makes sums and D = g those of the last step. With a nil g, D is that of the last AddParts.
	SetStep(sums Sums, g []float32)
	// Move moves the iterate of the open descent along the D of the last step, on a batch of examples. ProxRule needs
	// their losses if the loss is smooth.
	Move(examples []int, losses []float64, m DeviceMove) error

	// Gathers reports whether the ranks' devices exchange D of their parts. Then KeepPart keeps D of the last part on
	// the device as that of this rank's part l, and AddParts makes D the sum over all ranks' parts, in their order, and
	// copies it to g [Dim], unless g is nil. Rank r of R has parts parts·r/R to parts·(r+1)/R−1. ended is asked now and
	// then why not to wait for other ranks any longer.
	Gathers() bool
	KeepPart(l int)
	AddParts(parts int, g []float32, ended func() error) error
}

// Cut has the device, which must be a PartAccelerator, evaluate batches in parts. With one, it evaluates them in one
// go.
func (e *Engine) Cut(parts int) { e.backend.cutInto(parts) }

func (r *deviceBackend) cutInto(parts int) { r.cut = parts }

func (r *deviceBackend) mostRanks() int {
	if r.cut > 1 {
		return r.cut
	}
	return hostBackend{r.engine}.mostRanks()
}

// inParts returns the device if batches are cut.
func (r *deviceBackend) inParts() (device PartAccelerator, cut bool) {
	if r.cut <= 1 {
		return nil, false
	}
	return r.device.(PartAccelerator), true
}

// partsOfBatch are the strands of a batch on a device: parts of it.
type partsOfBatch struct {
	backend  *deviceBackend
	device   PartAccelerator
	examples []int
	losses   []float64 // of the examples, or nil
	sums     []Sums    // by part
	// evaluates part k alone; its gradient goes to memory, if there is some
	evaluate func(ctx context.Context, k int, to []float32) error
	// of this rank's parts; empty if they stay on the device
	gradients [][]float32
	g         []float32 // their sum
	arrives   bool      // the last part's gradient is still on its way
	keeps     bool      // gradients stay on the device
}

func (r *deviceBackend) partsOf(device PartAccelerator, examples []int) *partsOfBatch {
	return &partsOfBatch{backend: r, device: device, examples: examples, sums: make([]Sums, min(r.cut, len(examples)))}
}

// addTo makes g the memory of the sum of the parts' gradients, unless the device keeps them.
func (p *partsOfBatch) addTo(g []float32) {
	if p.keeps = p.device.Gathers(); !p.keeps {
		p.g = g
	}
}

// evaluateAndAdd evaluates the parts and returns the total of their sums.
func (p *partsOfBatch) evaluateAndAdd(ctx context.Context) (total Sums, err error) {
	err = p.backend.engine.evaluateAndAdd(ctx, p.backend.engine.group.Group, p)
	for _, s := range p.sums {
		total.add(s)
	}
	return total, err
}

func (p *partsOfBatch) len() int { return len(p.sums) }

func (p *partsOfBatch) from(k int) int { return len(p.examples) * k / len(p.sums) }

func (p *partsOfBatch) part(k int) []int { return p.examples[p.from(k):p.from(k+1)] }

// lossesOf returns the losses of part k; nil without losses.
func (p *partsOfBatch) lossesOf(k int) []float64 {
	if p.losses == nil {
		return nil
	}
	return p.losses[p.from(k):p.from(k+1)]
}

func (p *partsOfBatch) run(ctx context.Context, lo, hi int) error {
	if p.g != nil {
		p.gradients = p.backend.gradients(hi - lo)
	}
	for k := lo; k < hi; k++ {
		var to []float32
		if p.g != nil {
			to = p.gradients[k-lo]
		}
		if err := p.evaluate(ctx, k, to); err != nil {
			return err
		}
		if p.keeps {
			p.device.KeepPart(k - lo)
		}
	}
	return nil
}

func (p *partsOfBatch) total() total { return cut(p.g) }

func (p *partsOfBatch) add(lo, hi, from, to int) (err error) {
	eachPiece(from, to, len(p.g), func(a, b int) {
		if p.arrives && err == nil {
			err = p.device.Arrived(p.gradients[hi-1-lo][a:b], a)
		}
		for l, part := range p.gradients {
			if from := part[a:b]; lo+l == 0 {
				copy(p.g[a:b], from)
			} else {
				vec.Axpy(1, from, p.g[a:b])
			}
		}
	})
	return err
}

func (p *partsOfBatch) end(_, hi int) (err error) {
	if p.arrives {
		p.sums[hi-1], err = p.device.EndPart(p.lossesOf(hi - 1))
	}
	return err
}

func (p *partsOfBatch) gather(k int, _ bool, do func([]byte)) {
	do(vec.Bytes(p.sums[k : k+1]))
	do(vec.Bytes(p.lossesOf(k)))
}

// addAll makes the device's D the sum over the parts of all ranks, and copies it to g, unless that is nil.
func (p *partsOfBatch) addAll(ctx context.Context, g []float32) error {
	return p.device.AddParts(len(p.sums), g, func() error { return p.backend.engine.group.Ended(ctx) })
}

// gradients returns memory for gradients of n parts.
func (r *deviceBackend) gradients(n int) [][]float32 {
	for len(r.parts) < n {
		r.parts = append(r.parts, make([]float32, r.engine.Scorer.Dim()))
	}
	return r.parts[:n]
}

// stepInParts evaluates a batch in parts and makes it the device's last step. losses [len(examples)] are set unless
// they are nil.
func (r *deviceBackend) stepInParts(
	ctx context.Context, device PartAccelerator, at Place, examples []int, s oracles.Smoothing, dropout uint64,
	losses []float64,
) error {
	e, p := r.engine, r.partsOf(device, examples)
	p.losses = losses
	p.addTo(e.vectors.narrowNumbers(e.Scorer.Dim()))
	_, last := e.group.share(len(p.sums))
	p.evaluate = func(ctx context.Context, k int, to []float32) error {
		err := device.Part(ctx, at, p.part(k), s, dropout, to != nil)
		if p.arrives = to != nil && k == last-1; err != nil || p.arrives {
			// others add to the first numbers while the last ones arrive
			return err
		}
		if to != nil {
			err = device.Arrived(to, 0)
		}
		if err == nil {
			p.sums[k], err = device.EndPart(p.lossesOf(k))
		}
		return err
	}
	sums, err := p.evaluateAndAdd(ctx)
	if err == nil && p.keeps {
		err = p.addAll(ctx, nil)
	}
	if err == nil {
		device.SetStep(sums, p.g)
	}
	return err
}

// passInParts evaluates all examples in parts, and sets g [Dim] to the gradient.
func (r *deviceBackend) passInParts(ctx context.Context, device PartAccelerator, w []float32, s oracles.Smoothing,
	g []float32) (Sums, error) {
	p := r.partsOf(device, r.engine.layout.all)
	p.addTo(g)
	p.evaluate = func(ctx context.Context, k int, to []float32) (err error) {
		p.sums[k], err = device.PartOfPass(ctx, w, p.part(k), s, to)
		return err
	}
	sums, err := p.evaluateAndAdd(ctx)
	if err == nil && p.keeps {
		err = p.addAll(ctx, g)
	}
	return sums, err
}

// valueInParts returns the sums of the objective's value over some examples.
func (r *deviceBackend) valueInParts(ctx context.Context, device PartAccelerator, w []float32,
	examples []int) (Sums, error) {
	p := r.partsOf(device, examples)
	p.evaluate = func(ctx context.Context, k int, _ []float32) (err error) {
		p.sums[k].Primal, err = r.device.Value(ctx, w, p.part(k))
		return err
	}
	return p.evaluateAndAdd(ctx)
}
