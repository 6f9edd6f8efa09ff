package accelerator

import (
	"github.com/dsp-go/dsp/cuda/device"
)

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

// AddParts implements engine.PartAccelerator. Blocks of weights are gathered and added one after the other, so that the memory for all parts is bounded.
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
