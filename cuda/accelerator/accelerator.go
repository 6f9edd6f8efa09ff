// Package accelerator trains and predicts on a GPU. Accelerator implements engine.Accelerator: it keeps the data, the
// optimiser's path and the methods' memories on the device, and replays steps as captured graphs. Kernels evaluate
// chains (Objective). For other structures the network runs on the device and the structure's oracle on the host.
package accelerator

import (
	"context"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
)

// Accelerator does the work of an engine.Engine on a device. The data, the scorer's weights, the optimiser's path and
// its memories stay on the device. So do the results of a step, until a method returns them.
type Accelerator struct {
	*shared
	oracle oracle
	scorer cudanets.Scorer
	moves  *cudanets.Linearised // the scorer if it is linearised, else nil

	steps map[resident.Capacity]*slot // of steps, by capacity
	whole *slot                       // of full passes
	last  *slot                       // of the last step

	memories []ownedMemory
	others   []*Accelerator
}

// shared is the state of all accelerators on the same data.
type shared struct {
	d         *device.Device
	data      *resident.Data
	blas      *device.BLAS
	vectors   *vectors
	descent   *descent // nil before the first
	gathering gathering
	onHost    bool              // use the host's oracle even if there are kernels
	smooths   oracles.Smoothing // how steps smooth the hinge's max

	product struct { // ⟨D, w⟩ at the path's iterate
		known bool
		dot   float64
	}
}

var (
	_ engine.DualAscender    = (*Accelerator)(nil)
	_ engine.PartAccelerator = (*Accelerator)(nil)

	_ engine.TruncatingAccelerator = (*Accelerator)(nil)
)

// NewAccelerator uploads an objective's data and returns an accelerator for it, whose steps smooth the hinge's max by
// s, with any μ, or not at all. With tf32, matrix products are in TF32. An objective that the device cannot evaluate is
// bad input. If HasKernels reports false, only the network runs on the device; the structure's oracle uses all cores of
// the host. The caller must close the accelerator.
func NewAccelerator(d *device.Device, o *engine.Objective, s oracles.Smoothing, tf32 bool) (*Accelerator, error) {
	return newAccelerator(d, o, s, tf32, false)
}

// newAccelerator is NewAccelerator; with onHost it uses the host's oracle even if there are kernels.
func newAccelerator(d *device.Device, o *engine.Objective, smooths oracles.Smoothing, tf32,
	onHost bool) (*Accelerator, error) {
	if err := CheckObjective(o); err != nil {
		return nil, err
	}
	s := &shared{d: d, onHost: onHost, smooths: smooths, data: resident.NewData(d, o.Data), blas: device.NewBLAS(d, tf32),
		vectors: newVectors(d, o.Scorer.Dim())}
	a, err := s.accelerator(o)
	if err != nil {
		s.free()
		return nil, err
	}
	return a, nil
}

// accelerator returns an accelerator for an objective on the shared data.
func (s *shared) accelerator(o *engine.Objective) (*Accelerator, error) {
	scorer, err := s.scorer(o.Scorer)
	if err != nil {
		return nil, err
	}
	return s.acceleratorWith(o, scorer)
}

// acceleratorWith returns an accelerator for an objective on the shared data, with a scorer on the device.
func (s *shared) acceleratorWith(o *engine.Objective, scorer cudanets.Scorer) (a *Accelerator, err error) {
	a = &Accelerator{shared: s, scorer: scorer, steps: map[resident.Capacity]*slot{}}
	switch {
	case !s.onHost && hasChainKernels(o):
		a.oracle = NewObjective(s.data, o, scorer, cudaoracles.NewOracle(s.d))
	case !s.onHost && hasTreeKernels(o, s.smooths):
		a.oracle, err = newTreeKernels(s.data, o, scorer)
	default:
		a.oracle, err = newHostOracle(s.data, o, scorer)
	}
	if err != nil {
		freeScorer(scorer)
		return nil, err
	}
	a.moves, _ = scorer.(*cudanets.Linearised)
	c, err := s.passCapacity(resident.PassPositions, scorer)
	if err == nil {
		a.whole, err = a.newSlot(c)
	}
	if err == nil {
		err = s.d.Err()
	}
	if err != nil {
		a.free()
	}
	return a, err
}

// passCapacity returns the capacity of a full pass over the data with a scorer, on up to that many positions at once.
func (s *shared) passCapacity(positions int, scorer cudanets.Scorer) (resident.Capacity, error) {
	var widths resident.Widths
	if net, ok := scorer.(interface {
		Widths() (resident.Widths, error)
	}); ok {
		var err error
		if widths, err = net.Widths(); err != nil {
			return resident.Capacity{}, err
		}
	}
	return s.data.PassCapacity(positions, scorer.Form(), widths), nil
}

func (a *Accelerator) Truncated() int {
	if o, ok := a.oracle.(*hostOracle); ok {
		return o.Truncated()
	}
	return 0 // kernels are exact
}

// scorer returns a scorer's counterpart on the device.
func (s *shared) scorer(of nets.Scorer) (cudanets.Scorer, error) {
	switch of := of.(type) {
	case *sparse.Linear:
		return cudanets.NewSparseLinear(of, s.data), nil
	case *nets.Net:
		return cudanets.NewExecutor(s.d, of, s.blas), nil
	case *nets.Linearised:
		return cudanets.NewLinearised(cudanets.NewExecutor(s.d, of.Net(), s.blas)), nil
	case interface{ Network() *nets.Net }:
		return cudanets.NewExecutor(s.d, of.Network(), s.blas), nil
	}
	return nil, structured.BadInput("a CUDA device runs only the networks of package nets, not %T", of)
}

func (a *Accelerator) Sibling(o *engine.Objective) (engine.Accelerator, error) {
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

func (a *Accelerator) MoveTo(w []float32) {
	if a.moves != nil {
		device.Upload(a.d, a.vectors.at, w)
		a.moves.MoveTo(a.vectors.at)
	}
}

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

func freeScorer(s cudanets.Scorer) {
	if s, ok := s.(interface{ Free() }); ok {
		s.Free()
	}
}

func (s *shared) free() {
	if s.descent != nil {
		s.descent.free()
	}
	s.gathering.free(s.d)
	s.vectors.free()
	s.data.Free()
	s.blas.Close()
}

// done returns the device's error, or an error for potentials that were not finite since its last call.
func (a *Accelerator) done() error {
	if err := a.d.Sync(); err != nil {
		return err
	}
	if err := a.oracle.NonFinite(); err != nil {
		return err
	}
	return a.d.Err()
}

// sums waits for the objective's sums and returns them.
func (a *Accelerator) sums() (engine.Sums, error) {
	s := a.oracle.ReadSums()
	return s, a.done()
}

// overData calls work for all given examples, in batches of the capacity of a full pass. It clears the sums first. kind
// identifies the work.
func (a *Accelerator) overData(ctx context.Context, w []float32, examples []int, kind any,
	work func(l evaluation)) (engine.Sums, error) {
	device.Upload(a.d, a.vectors.at, w)
	a.oracle.ClearSums()
	l := a.whole
	l.use(kind)
	for len(examples) > 0 && a.d.Err() == nil {
		if err := ctx.Err(); err != nil {
			return engine.Sums{}, err
		}
		n := a.data.Fit(examples, l.capacity)
		l.batch.Set(examples[:n])
		work(l)
		examples = examples[n:]
	}
	return a.sums()
}

// gradient calls work for all given examples, and sets g to the sum of their pullbacks.
func (a *Accelerator) gradient(ctx context.Context, w []float32, examples []int, g []float32, kind any,
	work func(l evaluation)) (engine.Sums, error) {
	device.Zero(a.d, a.vectors.grad)
	sums, err := a.overData(ctx, w, examples, kind, func(l evaluation) {
		work(l)
		l.Pullback(a.vectors.grad)
	})
	if err != nil {
		return sums, err
	}
	device.Download(a.d, g, a.vectors.grad)
	return sums, a.d.Err()
}

func (a *Accelerator) FullPass(ctx context.Context, w []float32, s oracles.Smoothing, memory engine.DeviceMemory,
	g []float32) (engine.Sums, error) {
	return a.fullPass(ctx, w, a.data.All(), s, memory, g)
}

// fullPass is FullPass over some examples.
func (a *Accelerator) fullPass(ctx context.Context, w []float32, examples []int, s oracles.Smoothing,
	memory engine.DeviceMemory, g []float32) (engine.Sums, error) {
	return a.gradient(ctx, w, examples, g, scratchOf(s), func(l evaluation) {
		l.Ask(a.vectors.at, s, true)
		if memory != nil {
			l.Remember(memory, 1)
		}
		l.Difference(nil)
	})
}

func (a *Accelerator) Recompose(ctx context.Context, w []float32, memory engine.DeviceMemory,
	g []float32) (float64, error) {
	sums, err := a.gradient(ctx, w, a.data.All(), g, "recompose", func(l evaluation) {
		l.Recall(a.vectors.at, memory)
		l.Difference(nil)
	})
	return sums.Linear, err
}

func (a *Accelerator) Value(ctx context.Context, w []float32, examples []int) (float64, error) {
	sums, err := a.overData(ctx, w, examples, "value", func(l evaluation) { l.Value(a.vectors.at) })
	return sums.Primal, err
}

// Products says what multiplies matrices, as device.BLAS.Name does.
func (a *Accelerator) Products() string { return a.blas.Name() }

// Unit returns the largest relative rounding error of an operation. train uses it to bound the rounding error of a
// certificate.
func (a *Accelerator) Unit() float64 {
	if a.blas.Tf32 {
		return 1. / (1 << 11)
	}
	return 1. / (1 << 24)
}
