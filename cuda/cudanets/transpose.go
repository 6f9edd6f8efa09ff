package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured"
)

// transpose lists the positions of each attribute, in order. Lists are split into segments, so that the work per
// attribute is balanced.
type transpose struct {
	width    int
	segments int
	cut      int // attributes with more than one segment

	attribute device.Array[int32]   // [segments]
	lo        device.Array[int64]   // [segments+1] first entry of each segment
	part      device.Array[int32]   // [segments] its row of parts, or −1
	position  device.Array[int32]   // [entries]
	value     device.Array[float32] // [entries], or empty: all 1
	place     device.Array[int32]   // [ΣT] 1 + the batch's row for this position; 0: none
	cuts      device.Array[int32]   // [cut] attributes with more than one segment
	first     device.Array[int32]   // [cut+1] their first rows of parts
	parts     device.Array[float32] // [·×width] sums of segments
}

// segmentEntries is the most entries per segment.
const segmentEntries = 128

func newTranspose(d *device.Device, x *structured.Sparse, attributes, width int) *transpose {
	next := make([]int64, attributes+1) // first the start of each attribute's entries, then the index of its next entry
	for _, a := range x.Index {
		next[a+1]++
	}
	for a := range attributes {
		next[a+1] += next[a]
	}
	t := &transpose{width: width}
	var attribute, part, cuts []int32
	var lo []int64
	first := []int32{0}
	for a := range int32(attributes) {
		begin, end := next[a], next[a+1]
		several, parts := end-begin > segmentEntries, first[len(first)-1]
		for at := begin; at < end; at += segmentEntries {
			attribute, lo = append(attribute, a), append(lo, at)
			if several {
				part = append(part, parts)
				parts++
			} else {
				part = append(part, -1)
			}
		}
		if several {
			cuts, first = append(cuts, a), append(first, parts)
		}
	}
	lo = append(lo, next[attributes])
	position, value := make([]int32, len(x.Index)), make([]float32, len(x.Value))
	for p := range len(x.Offsets) - 1 {
		for e := x.Offsets[p]; e < x.Offsets[p+1]; e++ {
			at := next[x.Index[e]]
			next[x.Index[e]]++
			position[at] = int32(p)
			if x.Value != nil {
				value[at] = x.Value[e]
			}
		}
	}
	what := "the transposed attributes"
	t.segments, t.cut = len(attribute), len(cuts)
	t.attribute, t.lo, t.part = device.NewFrom(d, attribute, what), device.NewFrom(d, lo, what),
		device.NewFrom(d, part, what)
	t.position, t.value = device.NewFrom(d, position, what), device.NewFrom(d, value, what)
	t.cuts, t.first = device.NewFrom(d, cuts, what), device.NewFrom(d, first, what)
	t.parts = device.New[float32](d, int(first[len(first)-1])*width, what)
	t.place = device.New[int32](d, len(x.Offsets)-1, what)
	return t
}

func (t *transpose) free(d *device.Device) {
	for _, x := range []device.Array[int32]{t.attribute, t.part, t.position, t.place, t.cuts, t.first} {
		device.Free(d, x)
	}
	device.Free(d, t.lo)
	device.Free(d, t.value)
	device.Free(d, t.parts)
}

// pullback adds rows of v [rows×width], times the values of their attributes, to the attributes' rows of to. Row r of v
// is that of row source[r] of the data.
func (t *transpose) pullback(d *device.Device, v device.Array[float32], source device.Array[int32],
	to device.Array[float32]) {
	block, warps, columns := device.Dim{X: device.BlockThreads}, device.BlockThreads/32, device.CeilDiv(t.width, 32)
	device.Zero(d, t.place)
	d.Launch("transpose_mark", device.Dim{X: device.CeilDiv(source.Len(), warps)}, block, 0, source, v, t.place,
		int32(source.Len()), int32(t.width))
	d.Launch("transpose_sum", device.Dim{X: device.CeilDiv(t.segments, warps), Y: columns}, block, 0, t.attribute, t.lo,
		t.position, t.value, t.part,
		t.place, v, to, t.parts, int32(t.segments), int32(t.width), int32(lanesFor(t.width)))
	d.Launch("transpose_join", device.Dim{X: t.cut, Y: columns}, device.Dim{X: sumThreads}, sumThreads*4, t.cuts, t.first,
		t.parts, to, int32(t.width))
}
