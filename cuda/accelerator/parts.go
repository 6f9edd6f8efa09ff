package accelerator

import (
	"context"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// Part implements engine.PartAccelerator. What of the gradient is final leaves for pinned memory of the host while the
// rest is computed (package device).
func (a *Accelerator) Part(ctx context.Context, at engine.Place, examples []int, s oracles.Smoothing, dropout uint64,
	leaves bool) error {
	if leaves {
		a.d.Deliver(a.vectors.grad)
		a.d.OnMark(a.d.Send)
		defer a.d.OnMark(nil)
	}
	err := a.step(ctx, at, examples, stepKey{s: s, leaves: leaves}, dropout)
	if leaves {
		a.d.Send(a.vectors.dim)
	}
	return err
}

func (a *Accelerator) Arrived(to []float32, lo int) error {
	a.d.Arrived(to, lo)
	return a.d.Err()
}

func (a *Accelerator) EndPart(losses []float64) (engine.Sums, error) {
	if losses != nil {
		value, gold := a.last.losses()
		device.Download(a.d, losses, value)
		if !gold.IsEmpty() {
			of := make([]float64, len(losses))
			device.Download(a.d, of, gold)
			for k, x := range of {
				losses[k] -= x
			}
		}
	}
	return a.sums()
}

func (a *Accelerator) PartOfPass(ctx context.Context, w []float32, examples []int, s oracles.Smoothing,
	g []float32) (engine.Sums, error) {
	return a.fullPass(ctx, w, examples, s, nil, g)
}

func (a *Accelerator) SetStep(s engine.Sums, g []float32) {
	a.product.known = false
	device.Upload(a.d, a.vectors.grad, g) // nothing, if it is nil
	sums := numbersOfSums(s)
	device.Upload(a.d, a.oracle.sums(), sums[:])
}

func (a *Accelerator) Move(examples []int, losses []float64, m engine.DeviceMove) error {
	x := a.descent
	key := x.prepare(m, len(examples), len(losses))
	var of func() batchLosses
	if losses != nil {
		of = func() batchLosses { return x.upload(examples, losses, a.data.Set.Weight) }
	}
	x.move(key, a.oracle.sums(), of)
	return a.d.Err()
}

// upload copies the losses of a batch to the device. weight returns the c_i of an example.
func (x *descent) upload(examples []int, losses []float64, weight func(i int) float64) batchLosses {
	const what = "the losses of a batch"
	d, b, n := x.d, &x.batch, len(examples)
	numbers, weights := make([]int32, n), make([]float32, n)
	for k, i := range examples {
		numbers[k], weights[k] = int32(i), float32(weight(i))
	}
	all := batchLosses{value: device.Grow(d, &b.value, n, what), examples: device.Grow(d, &b.examples, n, what),
		weight: device.Grow(d, &b.weight, n, what)}
	device.Upload(d, all.value, losses)
	device.Upload(d, all.examples, numbers)
	device.Upload(d, all.weight, weights)
	return all
}

// gathering is what the exchange of parts' gradients between devices needs.
type gathering struct {
	with *device.Communicator    // nil: gradients go through the host
	own  []device.Array[float32] // [Dim] D of this rank's parts
	all  device.Array[float32]   // the same block of all ranks' parts
}

// gatheredNumbers is how many numbers a block has, of all ranks' parts together: 64 MiB.
var gatheredNumbers = 16 << 20

// GatherOver has the devices of a group exchange D of their parts, instead of their hosts.
func (a *Accelerator) GatherOver(with *device.Communicator) { a.gathering.with = with }

func (a *Accelerator) Gathers() bool { return a.gathering.with != nil }

// reserveParts makes room for D of so many parts of this rank.
func (a *Accelerator) reserveParts(n int) {
	x := &a.gathering
	for len(x.own) < n {
		x.own = append(x.own, device.New[float32](a.d, a.vectors.dim, "gradients of parts"))
	}
}

func (a *Accelerator) KeepPart(l int) {
	a.reserveParts(l + 1)
	device.Copy(a.d, a.gathering.own[l], a.vectors.grad)
}

// AddParts implements engine.PartAccelerator. Blocks of weights are gathered and added one after the other, so that the
// memory for all parts is bounded.
func (a *Accelerator) AddParts(parts int, g []float32, ended func() error) error {
	x, v, size := &a.gathering, a.vectors, a.gathering.with.Size()
	slots := device.CeilDiv(parts, size)
	a.reserveParts(slots)
	block := min(v.dim, max(partAlignment, gatheredNumbers/(slots*size)/partAlignment*partAlignment))
	all := device.Grow(a.d, &x.all, slots*size*block, "gradients of all parts")
	for lo := 0; lo < v.dim; lo += block {
		hi := min(lo+block, v.dim)
		n := hi - lo
		for l := range slots {
			x.with.AllGather(all.Slice(l*size*n, (l+1)*size*n), x.own[l].Slice(lo, hi))
		}
		a.d.Launch("add_parts", device.Dim{X: min(4096, device.CeilDiv(n, vectorThreads))}, device.Dim{X: vectorThreads}, 0,
			all, v.grad.Slice(lo, hi), int32(parts), int32(size), int64(n))
	}
	a.product.known = false
	if err := x.with.Wait(ended); err != nil {
		return err
	}
	device.Download(a.d, g, v.grad)
	return a.d.Err()
}

func (x *gathering) free(d *device.Device) {
	for _, own := range x.own {
		device.Free(d, own)
	}
	device.Free(d, x.all)
}
