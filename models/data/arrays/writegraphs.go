package arrays

import (
	"io"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// WriteGraphs writes a data set of graphs as an archive that Graphs reads. Labels that are not known for certain become
// −1.
func WriteGraphs(w io.Writer, d *structured.Dataset) error {
	edges := d.Table(graphs.EdgeRows)
	rows := edges.Offsets[d.Len()]
	var sizes, ends []int64
	var types []int32
	for i, g := range d.Graphs {
		sizes = append(sizes, int64(d.Length(i)), int64(len(g.Ends)))
		for _, e := range g.Ends {
			ends = append(ends, int64(e[0]), int64(e[1]))
		}
		types = append(types, g.Types...)
	}
	return WriteNPZ(w, func(n NPZWriter) error {
		if err := Add(n, "node_features", d.Features, d.Positions(), d.Dim); err != nil {
			return err
		}
		if err := Add(n, "edges", ends, rows, 2); err != nil {
			return err
		}
		if err := Add(n, "sizes", sizes, d.Len(), 2); err != nil {
			return err
		}
		if edges.Dim > 0 {
			if err := Add(n, "edge_features", edges.Features, rows, edges.Dim); err != nil {
				return err
			}
		}
		if len(types) > 0 {
			if err := Add(n, "edge_types", types, rows); err != nil {
				return err
			}
		}
		if d.Costs != nil {
			if err := Add(n, "weights", d.Costs, d.Positions()); err != nil {
				return err
			}
		}
		if d.Labels == nil {
			return nil
		}
		labels := make([]int32, len(d.Labels))
		for v, l := range d.Labels {
			labels[v] = max(l, -1)
		}
		if err := Add(n, "labels", labels, len(labels)); err != nil {
			return err
		}
		return n.AddText("label_names", d.Alphabet.Names())
	})
}
