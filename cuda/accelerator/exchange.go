package accelerator

import (
	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/structured"
)

// exchange holds the potentials of batches of one capacity, or a cotangent to pull back, on the device and on the host. All parts are in
// one array, so that one copy moves them. Tied parts come first; padding at the end is not copied.
type exchange struct {
	all   device.Array[float32]
	host  []float32
	parts cudanets.Parts // slices of the device array
	at    []int          // start of each part
	used  int            // length of host that the batch uses
}

// partAlignment is the alignment of parts, counted in float32; it is that of arrays.
const partAlignment = device.Alignment / 4

func newExchange(d *device.Device, form structured.Form, b *resident.Batch) exchange {
	x := exchange{parts: make(cudanets.Parts, len(form.Parts)), at: make([]int, len(form.Parts))}
	size := 0
	place := func(tied bool) {
		for k, part := range form.Parts {
			if (part.Rows == structured.Tied) == tied {
				x.at[k] = size
				size += device.CeilDiv(b.RowsOf(part.Rows)*part.Width, partAlignment) * partAlignment
			}
		}
	}
	place(true)
	place(false)
	x.all, x.host = device.New[float32](d, size, "potentials"), make([]float32, size)
	for k, part := range form.Parts {
		x.parts[k] = x.all.Slice(x.at[k], x.at[k]+b.RowsOf(part.Rows)*part.Width)
	}
	return x
}

// numbersOf returns the size of a part for a batch, and the offsets of its examples' rows; nil if they share one row.
func numbersOf(batch *structured.Batch, part structured.Shape) (n int, offsets []int) {
	if part.Rows == structured.Tied {
		return part.Width, nil
	}
	offsets = batch.Rows(part.Rows)
	return offsets[len(offsets)-1] * part.Width, offsets
}

// shape sets used for a batch, and zeroes the padding on the host.
func (x *exchange) shape(batch *structured.Batch, form structured.Form) {
	x.used = 0
	for k, part := range form.Parts {
		n, _ := numbersOf(batch, part)
		clear(x.host[x.at[k]+n : x.at[k]+x.parts[k].Len()])
		x.used = max(x.used, x.at[k]+n)
	}
}

// download copies the batch's potentials to the host and makes θ a view of them.
func (x *exchange) download(d *device.Device, batch *structured.Batch, form structured.Form, θ *structured.Potentials) {
	x.shape(batch, form)
	device.Download(d, x.host[:x.used], x.all)
	θ.Structure, θ.Outputs = form.Structure, batch.Outputs
	θ.Annotate(batch, form)
	θ.Parts = append(θ.Parts[:0], make([]structured.Part, len(form.Parts))...)
	for k, part := range form.Parts {
		n, offsets := numbersOf(batch, part)
		θ.Parts[k] = structured.Part{Shape: part, Offsets: offsets, Values: x.host[x.at[k]:][:n:n]}
	}
}

// upload copies the host's part of the batch to the device, and zeroes the rest there.
func (x *exchange) upload(d *device.Device) {
	device.Upload(d, x.all, x.host[:x.used])
	device.Zero(d, x.all.Slice(x.used, x.all.Len()))
}

// rangeOf makes some a view of examples lo to hi-1 of θ.
func rangeOf(θ *structured.Potentials, lo, hi int, some *structured.Potentials) {
	some.Structure = θ.Structure
	some.Outputs = between(some.Outputs, θ.Outputs, lo, hi)
	some.Gold, some.Graphs = some.Gold[:0], some.Graphs[:0]
	if len(θ.Gold) > 0 {
		some.Gold = append(some.Gold, θ.Gold[lo:hi]...)
	}
	if len(θ.Graphs) > 0 {
		some.Graphs = append(some.Graphs, θ.Graphs[lo:hi]...)
	}
	if len(some.Parts) != len(θ.Parts) {
		some.Parts = make([]structured.Part, len(θ.Parts))
	}
	for k := range θ.Parts {
		from, to := &θ.Parts[k], &some.Parts[k]
		to.Shape, to.Values = from.Shape, from.Values
		if from.Offsets != nil {
			first, end := from.Offsets[lo]*from.Width, from.Offsets[hi]*from.Width
			to.Offsets, to.Values = between(to.Offsets, from.Offsets, lo, hi), from.Values[first:end:end]
		}
	}
}

// between returns offsets lo to hi, counted from offset lo.
func between(to, offsets []int, lo, hi int) []int {
	to = to[:0]
	for _, at := range offsets[lo : hi+1] {
		to = append(to, at-offsets[lo])
	}
	return to
}
