package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
)

// Inverse lists the rows that have a key, for a large set of keys of which few occur: for example the positions of a
// batch that have an attribute. Gradients of sparse inputs use it to sum rows by key without floating-point atomics.
// Build and Sum may be part of captured graphs.
type Inverse struct {
	d    *device.Device
	keys int

	count, begin                 device.Array[int32]   // [keys], freed with the Inverse from NewInverse
	shares                       bool                  // count and begin belong to the Inverse from NewInverse
	header                       device.Array[int32]   // [3]
	touched, lo, length, longest device.Array[int32]   // keys that occur
	live                         device.Array[int32]   // [rows] rows that are not zero
	row                          device.Array[int32]   // [entries] the lists
	value                        device.Array[float32] // [entries], or empty: all 1
}

const (
	// entries; a whole block sums a longer list (cuda/devicecode/cudanets/inverse.cu has the same constant)
	longList   = 64
	sumThreads = 512  // of a block that sums; one block sums the longest list
	turnBlocks = 1056 // blocks that loop over work: an H200 runs this many of 256 threads at once
)

// NewInverse returns lists for keys 0 to keys-1 and for the given number of rows, which have up to entries entries in
// total. With valued, entries have values; otherwise all values are 1.
func NewInverse(d *device.Device, keys, rows, entries int, valued bool) *Inverse {
	v := &Inverse{d: d, keys: keys, count: device.New[int32](d, keys, listsByKey),
		begin: device.New[int32](d, keys, listsByKey)}
	device.Zero(d, v.count)
	v.allocate(rows, entries, valued)
	return v
}

const listsByKey = "lists of entries by key"

// sized returns lists for the same keys with other capacities for rows and entries. The lists share the memory per key,
// so call Sum on one before Build on the other.
func (v *Inverse) sized(rows, entries int, valued bool) *Inverse {
	w := &Inverse{d: v.d, keys: v.keys, count: v.count, begin: v.begin, shares: true}
	w.allocate(rows, entries, valued)
	return w
}

func (v *Inverse) allocate(rows, entries int, valued bool) {
	d, slots := v.d, min(v.keys, entries)
	v.header, v.live = device.New[int32](d, 3, listsByKey), device.New[int32](d, rows, listsByKey)
	v.touched, v.lo, v.length = device.New[int32](d, slots, listsByKey), device.New[int32](d, slots, listsByKey),
		device.New[int32](d, slots, listsByKey)
	v.longest, v.row = device.New[int32](d, entries/longList+1, listsByKey), device.New[int32](d, entries, listsByKey)
	if valued {
		v.value = device.New[float32](d, entries, listsByKey)
	}
}

// Free releases the memory. An Inverse from NewInverse also releases the memory per key.
func (v *Inverse) Free() {
	if !v.shares {
		device.Free(v.d, v.count)
		device.Free(v.d, v.begin)
	}
	for _, x := range []device.Array[int32]{v.header, v.live, v.touched, v.lo, v.length, v.longest, v.row} {
		device.Free(v.d, x)
	}
	device.Free(v.d, v.value)
}

// Build lists the rows of x [rows×width] that are not zero. Row t has the attributes of position source[t]; none if
// that is −1.
func (v *Inverse) Build(attributes *resident.Sparse, source device.Array[int32], x device.Array[float32], width int) {
	rows := source.Len()
	grid, block := device.Dim{X: device.CeilDiv(rows, device.BlockThreads/32)}, device.Dim{X: device.BlockThreads}
	device.Zero(v.d, v.header)
	v.d.Launch("inverse_count", grid, block, 0, source, attributes.Offsets, attributes.Index, x, v.live,
		v.count, v.header, v.touched, int32(rows), int32(width))
	v.d.Launch("inverse_begin", device.Dim{X: min(turnBlocks, device.CeilDiv(v.touched.Len(), device.BlockThreads))},
		block, 0,
		v.count, v.header, v.touched, v.lo, v.length, v.begin, v.longest)
	v.d.Launch("inverse_place", grid, block, 0, source, attributes.Offsets, attributes.Index, attributes.Value, v.live,
		v.count, v.begin, v.row, v.value, int32(rows))
}

// Sum adds to each key's row of to [keys×width] the rows of from [·×width] in its list, times their values. The bits of
// a sum do not depend on the order of the list.
func (v *Inverse) Sum(from device.Array[float32], width int, to device.Array[float32]) {
	group := lanesFor(width)
	v.d.Launch("inverse_sum", device.Dim{X: min(turnBlocks, device.CeilDiv(v.touched.Len(), sumThreads/group)),
		Y: device.CeilDiv(width, 32)},
		device.Dim{X: sumThreads}, sumThreads*8, v.header, v.touched, v.lo, v.length, v.longest, v.row, v.value, from, to,
		int32(width), int32(group))
}

// lanesFor returns how many lanes of a warp process a row of the given width: 4, 8, 16 or 32.
func lanesFor(width int) int {
	lanes := 4
	for lanes < min(width, 32) {
		lanes *= 2
	}
	return lanes
}
