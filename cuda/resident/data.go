// Package resident keeps data in the memory of a GPU. Data is a data set, and Batch a choice of its examples, within a
// Capacity that captured graphs can rely on.
package resident

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// Data is a structured.Dataset in a device's memory, uploaded once. Arrays that the data set lacks are empty.
type Data struct {
	Set    *structured.Dataset
	Device *device.Device

	Offsets  device.Array[int32]   // [n+1]
	Labels   device.Array[int32]   // [ΣT] gold labels; empty unless an output is one label per position
	Weights  device.Array[float32] // [n] c_i
	Features device.Array[float32] // [ΣT×Dim]
	Crops    *Crops                // in place of Features, or nil
	Ids      device.Array[int32]   // [ΣT×len(Vocab)]

	Attributes, EdgeAttributes *Sparse     // or nil
	Characters                 *Characters // or nil
	// of pairs of source and target items, by row of the table structured.Pairs; or nil
	PairAttributes *Sparse

	Pairs   device.Array[int32] // [n+1] first row of each example in the table of pairs, or in that of edges
	sources *structured.Table   // of source items, or nil
	Edges   *Edges              // of graphs, or nil
}

// Sparse is a structured.Sparse on a device: position t owns entries Offsets[t] to Offsets[t+1]-1.
type Sparse struct {
	Offsets device.Array[int64]   // [ΣT+1]
	Index   device.Array[int32]   // attributes, by number
	Value   device.Array[float32] // values; empty: all 1
}

// Characters are the characters of the words of a data set on a device: position t owns entries Offsets[t] to
// Offsets[t+1]-1 of Ids.
type Characters struct {
	Offsets device.Array[int32] // [ΣT+1]
	Ids     device.Array[int32]
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
	if c, ok := set.Source.(*images.Crops); ok {
		data.Crops = newCrops(d, c)
	}
	data.newPairAttributes()
	data.newEdges()
	if set.Outputs == nil {
		data.Labels = device.NewFrom(d, set.Labels, "the gold labels")
	}
	if set.Weights != nil {
		data.Weights = device.NewFrom(d, narrow[float32](set.Weights), "the examples' weights")
	}
	if c := set.Characters; c != nil {
		data.Characters = &Characters{device.NewFrom(d, narrow[int32](c.Offsets), "the characters"),
			device.NewFrom(d, c.Ids, "the characters")}
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
	if c := data.Crops; c != nil {
		c.free(d)
	}
	if c := data.Characters; c != nil {
		device.Free(d, c.Offsets)
		device.Free(d, c.Ids)
	}
	device.Free(d, data.Pairs)
	if e := data.Edges; e != nil {
		e.free(d)
	}
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

// pairsOf returns how many source items and pairs example i has: n·m of n source and m target items, the edges of its
// graph if the data has graphs, and otherwise n·n of n positions.
func (data *Data) pairsOf(i int) (sources, pairs int) {
	length := data.Set.Length(i)
	if e := data.Edges; e != nil {
		return 0, e.table.Offsets[i+1] - e.table.Offsets[i]
	}
	if data.sources == nil {
		return 0, length * length
	}
	n := data.sources.Offsets[i+1] - data.sources.Offsets[i]
	return n, n * (length - n)
}

// newPairAttributes uploads the attributes of pairs of source and target items, and the first row of each example among
// them.
func (data *Data) newPairAttributes() {
	t := data.Set.Table(structured.Pairs)
	if t == nil || t.Attributes == nil {
		return
	}
	data.PairAttributes = newSparse(data.Device, t.Attributes, "the attributes of pairs")
	data.Pairs = device.NewFrom(data.Device, narrow[int32](t.Offsets), "the pairs")
}
