package graphs

import "github.com/dsp-go/dsp/structured"

// Void marks what has no label in masks and data files: it counts nowhere.
const Void = 255

// PixelRows is a table with a row for each variable that stands for pixels: how many have each label. Attribute l of a
// row is label l, and its value is the number of pixels.
const PixelRows = "pixel"

// Types returns the number of edge types, from 0 to the largest that occurs; 0 if the edges have none.
func Types(d *structured.Dataset) int {
	n := int32(0)
	for _, g := range d.Graphs {
		for _, t := range g.Types {
			n = max(n, t+1)
		}
	}
	return int(n)
}

// WithoutUnknown returns the data without the variables whose label is not known for certain, and without their edges.
// The loss of the rest is convex in the potentials; that of partial labels is not. It returns d itself if all labels
// are known. Of tables it keeps EdgeRows and PixelRows.
func WithoutUnknown(d *structured.Dataset) *structured.Dataset {
	s := selection{to: &structured.Dataset{
		Name: d.Name, Offsets: make([]int, 1, len(d.Offsets)), Alphabet: d.Alphabet, Dim: d.Dim, IDs: d.IDs,
		Weights: d.Weights, CostRows: d.CostRows, Looks: d.Looks,
	}, from: d, number: make([]int32, d.Positions())}
	for i := range d.Len() {
		kept := int32(0)
		for v := d.Offsets[i]; v < d.Offsets[i+1]; v++ {
			s.number[v] = -1
			if d.Labels[v] >= 0 {
				s.number[v] = kept
				s.variables = append(s.variables, v)
				kept++
			}
		}
		s.to.Offsets = append(s.to.Offsets, len(s.variables))
	}
	if len(s.variables) == d.Positions() {
		return d
	}
	s.to.Labels = make([]int32, len(s.variables))
	for k, v := range s.variables {
		s.to.Labels[k] = d.Labels[v]
		if d.Features != nil {
			s.to.Features = append(s.to.Features, d.Features[v*d.Dim:(v+1)*d.Dim]...)
		}
		if d.Costs != nil {
			s.to.Costs = append(s.to.Costs, d.Costs[v])
		}
	}
	s.to.Source = d.SelectSource(s.variables)
	s.edges()
	s.pixels()
	return s.to
}

// selection copies the variables that are kept.
type selection struct {
	from, to  *structured.Dataset
	variables []int   // those that are kept, in order
	number    []int32 // [ΣV] the number of each variable in its graph from now on, or −1
}

func (s *selection) edges() {
	from := s.from.Table(EdgeRows)
	to := &structured.Table{Name: EdgeRows, Offsets: make([]int, 1, len(from.Offsets)), Dim: from.Dim}
	rows := 0
	for i, g := range s.from.Graphs {
		kept, number := &structured.Graph{}, s.number[s.from.Offsets[i]:]
		for e, ends := range g.Ends {
			a, b := number[ends[0]], number[ends[1]]
			if a < 0 || b < 0 {
				continue
			}
			kept.Ends = append(kept.Ends, [2]int32{a, b})
			if g.Types != nil {
				kept.Types = append(kept.Types, g.Types[e])
			}
			row := from.Offsets[i] + e
			to.Features = append(to.Features, from.Features[row*from.Dim:(row+1)*from.Dim]...)
		}
		rows += len(kept.Ends)
		s.to.Graphs, to.Offsets = append(s.to.Graphs, kept), append(to.Offsets, rows)
	}
	s.to.Tables = append(s.to.Tables, to)
}

func (s *selection) pixels() {
	from := s.from.Table(PixelRows)
	if from == nil {
		return
	}
	counts := &structured.Sparse{Offsets: make([]int, 1, len(s.variables)+1)}
	for _, v := range s.variables {
		labels, pixels := from.Attributes.Row(v)
		counts.Index, counts.Value = append(counts.Index, labels...), append(counts.Value, pixels...)
		counts.Offsets = append(counts.Offsets, len(counts.Index))
	}
	s.to.Tables = append(s.to.Tables, &structured.Table{Name: PixelRows, Offsets: s.to.Offsets, Attributes: counts})
}
