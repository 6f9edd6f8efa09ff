package cuda

import (
	"context"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
)

// Accelerator does on a device what a train.Engine is asked: the data, the scorer's weights, the path of an optimiser and the
// memories stay there. What a step finds is left there as well, until somebody asks.
type Accelerator struct {
	*shared
	oracle oracle
	scorer Scorer
	moves  *Linearised // the scorer, if it is that

	steps map[capacity]*lane // of batches
	whole *lane              // of full passes
	last  *lane              // of the last step

	memories []ownedMemory
	others   []*Accelerator
}

// shared is what accelerators on the same data have in common.
type shared struct {
	d       *Device
	data    *Data
	blas    *BLAS
	vectors *vectors
	round   int  // of scratch memory: graphs that were captured in an earlier one may use what is freed
	onHost  bool // whatever the structure, the host's oracle answers

	product struct { // ⟨D, w⟩ for the path's iterate
		known bool
		dot   float64
	}
}

var _ train.Accelerator = (*Accelerator)(nil)

// NewAccelerator returns an accelerator for an objective, which uploads its data. With tf32 matrix products are in TF32. What
// the device cannot do for the objective is bad input. Where it does not HasKernels, only the network runs on the device, and the
// structure's oracle answers on all cores of the host. Close it after use.
func NewAccelerator(d *Device, o *train.Objective, tf32 bool) (*Accelerator, error) {
	return newAccelerator(d, o, tf32, false)
}

// newAccelerator is NewAccelerator; with onHost the host's oracle answers even where there are kernels.
func newAccelerator(d *Device, o *train.Objective, tf32, onHost bool) (*Accelerator, error) {
	if err := CheckObjective(o); err != nil {
		return nil, err
	}
	s := &shared{d: d, onHost: onHost, data: NewData(d, o.Data), blas: NewBLAS(d, tf32), vectors: newVectors(d, o.Scorer.Dim())}
	a, err := s.accelerator(o)
	if err != nil {
		s.free()
		return nil, err
	}
	return a, nil
}

// accelerator makes one for an objective on the shared data.
func (s *shared) accelerator(o *train.Objective) (*Accelerator, error) {
	scorer, err := s.scorer(o.Scorer)
	if err != nil {
		return nil, err
	}
	return s.acceleratorWith(o, scorer)
}

// acceleratorWith makes one whose potentials a scorer on the device computes.
func (s *shared) acceleratorWith(o *train.Objective, scorer Scorer) (a *Accelerator, err error) {
	a = &Accelerator{shared: s, scorer: scorer, steps: map[capacity]*lane{}}
	if s.onHost || !HasKernels(o) {
		if a.oracle, err = newHostOracle(s.data, o, scorer); err != nil {
			freeScorer(scorer)
			return nil, err
		}
	} else {
		a.oracle = chainKernels{NewObjective(s.data, o, scorer, NewOracle(s.d))}
	}
	a.moves, _ = scorer.(*Linearised)
	a.whole, err = a.newLane(s.data.passCapacity(passPositions, o.Scorer.Form()))
	if err == nil {
		err = s.d.Err()
	}
	if err != nil {
		a.free()
	}
	return a, err
}

// checkSparse refuses a scorer of sparse inputs for other structures than chains, as bad input.
func checkSparse(s nets.Scorer) error {
	form := s.Form()
	if _, chain := form.Structure.(chains.Chain); chain {
		return nil
	}
	if _, sparse := s.(*sparse.Linear); sparse {
		return structured.BadInput("a CUDA device has linear nets of attributes for sequences of labels alone, not for a %s; use --device cpu",
			form.Structure.Name())
	}
	return nil
}

// scorer returns a scorer's counterpart on the device.
func (s *shared) scorer(of nets.Scorer) (Scorer, error) {
	switch of := of.(type) {
	case *sparse.Linear:
		return NewSparseLinear(of, s.data), nil
	case *nets.Net:
		return NewExecutor(s.d, of, s.blas), nil
	case *nets.Linearised:
		return NewLinearised(NewExecutor(s.d, of.Net(), s.blas)), nil
	case interface{ Network() *nets.Net }:
		return NewExecutor(s.d, of.Network(), s.blas), nil
	}
	return nil, structured.BadInput("a CUDA device runs the networks of package nets alone, not %T", of)
}

// Also implements train.Accelerator.
func (a *Accelerator) Also(o *train.Objective) (train.Accelerator, error) {
	if err := CheckObjective(o); err != nil {
		return nil, err
	}
	b, err := a.accelerator(o)
	if err != nil {
		return nil, err
	}
	a.others = append(a.others, b)
	return b, nil
}

// MoveTo implements train.Accelerator.
func (a *Accelerator) MoveTo(w []float32) {
	if a.moves != nil {
		Upload(a.d, a.vectors.at, w)
		a.moves.MoveTo(a.vectors.at)
	}
}

// Close implements train.Accelerator.
func (a *Accelerator) Close() {
	a.free()
	a.shared.free()
}

func (a *Accelerator) free() {
	for _, b := range a.others {
		b.free()
	}
	for _, m := range a.memories {
		m.Free()
	}
	for _, l := range a.steps {
		l.free()
	}
	if a.whole != nil {
		a.whole.free()
	}
	a.oracle.Free()
	freeScorer(a.scorer)
}

func freeScorer(s Scorer) {
	if s, ok := s.(interface{ Free() }); ok {
		s.Free()
	}
}

func (s *shared) free() {
	s.vectors.free()
	s.data.Free()
	s.blas.Close()
}

// done returns what went wrong since it was asked last.
func (a *Accelerator) done() error {
	if err := a.d.Sync(); err != nil {
		return err
	}
	if err := a.oracle.NonFinite(); err != nil {
		return err
	}
	return a.d.Err()
}

// sums waits for the objective's sums.
func (a *Accelerator) sums() (train.Sums, error) {
	s := a.oracle.ReadSums()
	return s, a.done()
}

// overData does work of a kind on all of the given examples, as many at a time as a full pass takes, beginning with sums of
// zero.
func (a *Accelerator) overData(ctx context.Context, w []float32, examples []int, kind any, work func(l strand)) (train.Sums, error) {
	Upload(a.d, a.vectors.at, w)
	a.oracle.ClearSums()
	l := a.whole
	l.use(a.shared, kind)
	for len(examples) > 0 && a.d.Err() == nil {
		if err := ctx.Err(); err != nil {
			return train.Sums{}, err
		}
		n := a.data.fit(examples, l.capacity)
		l.batch.Set(examples[:n])
		work(l)
		examples = examples[n:]
	}
	return a.sums()
}

// gradient does work of a kind on all examples, pulls back and sets g to what that adds up to.
func (a *Accelerator) gradient(ctx context.Context, w, g []float32, kind any, work func(l strand)) (train.Sums, error) {
	Zero(a.d, a.vectors.grad)
	sums, err := a.overData(ctx, w, a.data.all(), kind, func(l strand) {
		work(l)
		l.Pullback(a.vectors.grad)
	})
	if err != nil {
		return sums, err
	}
	Download(a.d, g, a.vectors.grad)
	return sums, a.d.Err()
}

// FullPass implements train.Accelerator.
func (a *Accelerator) FullPass(ctx context.Context, w []float32, s oracles.Smoothing, memory train.RemoteMemory, g []float32) (train.Sums, error) {
	return a.gradient(ctx, w, g, scratchOf(s), func(l strand) {
		l.Ask(a.vectors.at, s, true)
		if memory != nil {
			l.Remember(memory, 1)
		}
		l.Difference(nil)
	})
}

// Recompose implements train.Accelerator.
func (a *Accelerator) Recompose(ctx context.Context, w []float32, memory train.RemoteMemory, g []float32) (float64, error) {
	sums, err := a.gradient(ctx, w, g, "recompose", func(l strand) {
		l.Recall(a.vectors.at, memory)
		l.Difference(nil)
	})
	return sums.Linear, err
}

// Value implements train.Accelerator.
func (a *Accelerator) Value(ctx context.Context, w []float32, examples []int) (float64, error) {
	sums, err := a.overData(ctx, w, examples, "value", func(l strand) { l.Value(a.vectors.at) })
	return sums.Primal, err
}

// Unit returns the largest relative error of a rounded operation, for what train allows rounding in a certificate.
func (a *Accelerator) Unit() float64 {
	if a.blas.tf32 {
		return 1. / (1 << 11)
	}
	return 1. / (1 << 24)
}
