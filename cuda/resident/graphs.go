package resident

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/structured"
)

// Edges are the edges of a data set's graphs, numbered in the order of the examples.
type Edges struct {
	table    *structured.Table
	Features device.Array[float32] // [edges×Dim]
	Ends     device.Array[int32]   // [edges×2] positions within the example; empty if the data has no graphs
	Incident [2]Incidence          // by side
}

// Incidence lists the edges of which each position is the first end, or the second, in order: position t has entries
// From[t] to From[t+1]-1 of List.
type Incidence struct {
	From, List device.Array[int32] // [ΣT+1], [edges]
}

// newEdges uploads the edges of graphs if the data has any.
func (data *Data) newEdges() {
	const what = "the edges"
	set, d := data.Set, data.Device
	t := set.Table(structured.Edges)
	if t == nil {
		return
	}
	e := &Edges{table: t, Features: device.NewFrom(d, t.Features, "the features of edges")}
	data.Edges, data.Pairs = e, device.NewFrom(d, narrow[int32](t.Offsets), what)
	if set.CheckGraphs(data.All()) != nil {
		return // a network that reads the ends refuses the data
	}
	ends := make([]int32, 0, 2*t.Offsets[set.Len()])
	for _, g := range set.Graphs {
		for _, uv := range g.Ends {
			ends = append(ends, uv[0], uv[1])
		}
	}
	e.Ends = device.NewFrom(d, ends, what)
	for side := range e.Incident {
		from, list := incident(set, side)
		e.Incident[side] = Incidence{device.NewFrom(d, from, what), device.NewFrom(d, list, what)}
	}
}

// incident returns the arrays of an incidence. The data has valid graphs.
func incident(set *structured.Dataset, side int) (from, list []int32) {
	from = make([]int32, set.Positions()+1)
	at := func(i int, uv [2]int32) int { return set.Offsets[i] + int(uv[side]) }
	rows := 0
	for i, g := range set.Graphs {
		for _, uv := range g.Ends {
			from[at(i, uv)+1]++
			rows++
		}
	}
	for t := range set.Positions() {
		from[t+1] += from[t]
	}
	list, next := make([]int32, rows), append([]int32(nil), from...)
	row := int32(0)
	for i, g := range set.Graphs {
		for _, uv := range g.Ends {
			t := at(i, uv)
			list[next[t]] = row
			next[t]++
			row++
		}
	}
	return from, list
}

func (e *Edges) free(d *device.Device) {
	device.Free(d, e.Features)
	device.Free(d, e.Ends)
	for _, x := range e.Incident {
		device.Free(d, x.From)
		device.Free(d, x.List)
	}
}
