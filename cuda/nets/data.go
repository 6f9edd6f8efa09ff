package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured"
)

// Data is a structured.Dataset in a device's memory, uploaded once. Arrays that the data set lacks are empty.
type Data struct {
	Set    *structured.Dataset
	Device *device.Device

	Offsets  device.Array[int32]   // [n+1]
	Labels   device.Array[int32]   // [ΣT] gold labels; empty unless an output is one label per position
	Weights  device.Array[float32] // [n] c_i
	Features device.Array[float32] // [ΣT×Dim]
	Ids      device.Array[int32]   // [ΣT×len(Vocab)]

	Attributes, EdgeAttributes *Sparse     // or nil
	Characters                 *Characters // or nil
	PairAttributes             *Sparse     // of pairs of source and target items, by row of the table structured.Pairs; or nil

	pairs   device.Array[int32] // [n+1] first row of each example in that table
	sources *structured.Table   // of source items, or nil
}

// Sparse is a structured.Sparse on a device: position t owns entries Offsets[t] to Offsets[t+1]-1.
type Sparse struct {
	Offsets device.Array[int64]   // [ΣT+1]
	Index   device.Array[int32]   // attributes, by number
	Value   device.Array[float32] // values; empty: all 1
}

// NewData uploads a data set. Call Free when it is no longer used.
func NewData(d *device.Device, set *structured.Dataset) *Data {
	data := &Data{
		Set:      set,
		Device:   d,
		Offsets:  device.NewFrom(d, narrow[int32](set.Offsets), "the examples"),
		Features: device.NewFrom(d, set.Features, "the features"),
		Ids:      device.NewFrom(d, set.Ids, "the discrete inputs"),
		sources:  set.Table(structured.Sources),
	}
	data.newPairAttributes()
	if set.Outputs == nil {
		data.Labels = device.NewFrom(d, set.Labels, "the gold labels")
	}
	if set.Weights != nil {
		data.Weights = device.NewFrom(d, narrow[float32](set.Weights), "the examples' weights")
	}
	if c := set.Characters; c != nil {
		data.Characters = &Characters{device.NewFrom(d, narrow[int32](c.Offsets), "the characters"), device.NewFrom(d, c.Ids, "the characters")}
	}
	data.Attributes = newSparse(d, set.Attributes, "the attributes")
	data.EdgeAttributes = newSparse(d, set.EdgeAttributes, "the attributes of transitions")
	return data
}

// Free releases the memory.
func (data *Data) Free() {
	d := data.Device
	device.Free(d, data.Offsets)
	device.Free(d, data.Labels)
	device.Free(d, data.Weights)
	device.Free(d, data.Features)
	device.Free(d, data.Ids)
	if c := data.Characters; c != nil {
		device.Free(d, c.Offsets)
		device.Free(d, c.Ids)
	}
	device.Free(d, data.pairs)
	for _, x := range []*Sparse{data.Attributes, data.EdgeAttributes, data.PairAttributes} {
		if x != nil {
			device.Free(d, x.Offsets)
			device.Free(d, x.Index)
			device.Free(d, x.Value)
		}
	}
}

func newSparse(d *device.Device, x *structured.Sparse, what string) *Sparse {
	if x == nil {
		return nil
	}
	return &Sparse{
		Offsets: device.NewFrom(d, narrow[int64](x.Offsets), what),
		Index:   device.NewFrom(d, x.Index, what),
		Value:   device.NewFrom(d, x.Value, what),
	}
}

// narrow converts x to the narrower type in which the device stores it.
func narrow[To int32 | int64 | float32, From int | float64](x []From) []To {
	to := make([]To, len(x))
	for i, v := range x {
		to[i] = To(v)
	}
	return to
}
