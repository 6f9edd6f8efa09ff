package requests

import (
	"fmt"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// edgesPerVariable bounds the edges of a graph: its limit is that of variables, times this.
const edgesPerVariable = 16

// graphReader reads graphs with features of variables and edges.
type graphReader struct {
	names  *structured.Alphabet // of the labels
	dim    int
	edges  inputs.Edges // with Types 0 where the model does not read them
	limits Limits
}

func newGraphs(m *models.Model, limits Limits) *graphReader {
	r := &graphReader{m.Labels, m.Dim, m.Edges, limits}
	if m.Config.Edges != nets.EdgesTyped {
		r.edges.Types = 0
	}
	return r
}

// graph is the content of an example.
type graph struct {
	graph        *structured.Graph
	nodes, edges []float32
	labels       []string // what is known of them, or nil
}

func (r *graphReader) Inputs() []Input { return []Input{{Name: "example", Kind: Objects}} }

func (r *graphReader) Sample() string {
	text := `{"node_features": [[…], […]], "edges": [[0, 1]]`
	if r.edges.Dim > 0 {
		text += `, "edge_features": [[…]]`
	}
	if r.edges.Types > 0 {
		text += `, "edge_types": [0]`
	}
	return text + fmt.Sprintf("} with %d numbers per variable and %d per edge", r.dim, r.edges.Dim)
}

func (r *graphReader) Members() []string {
	return []string{"node_features", "edges", "edge_features", "edge_types", "labels"}
}

func (r *graphReader) Known() string { return labelsOf("variable") }

// Example implements Reader. A graph without edges may leave them out.
func (r *graphReader) Example(o *Object) (Example, error) {
	if err := o.only(r); err != nil {
		return Example{}, err
	}
	n := len(o.NodeFeatures)
	if n == 0 {
		return Example{}, o.missing("node_features", r.Sample())
	}
	if err := most(n, r.limits.Positions, "variables"); err != nil {
		return Example{}, err
	}
	if err := most(len(o.Edges), edgesPerVariable*r.limits.Positions, "edges"); err != nil {
		return Example{}, err
	}
	g := &graph{graph: &structured.Graph{}}
	var err error
	if g.nodes, err = matrix(nil, o.NodeFeatures, r.dim, "node_features", "variable"); err != nil {
		return Example{}, err
	}
	if err := r.addEdges(g, o, n); err != nil {
		return Example{}, err
	}
	if g.labels = o.Labels; g.labels != nil {
		if err := checkCells("labels", o.Labels, n, "variable"); err != nil {
			return Example{}, err
		}
	}
	e := o.example(n, g)
	e.Extent.Pairs = max(1, len(o.Edges))
	return e, nil
}

// addEdges checks the edges of a graph of n variables.
func (r *graphReader) addEdges(g *graph, o *Object, n int) error {
	seen := map[[2]int32]int{}
	for k, end := range o.Edges {
		if len(end) != 2 {
			return structured.BadInput("edges[%d] has %d numbers, expected the two variables that it joins", k, len(end))
		}
		v, w := end[0], end[1]
		switch {
		case min(v, w) < 0 || max(v, w) >= n:
			return structured.BadInput("edges[%d] joins variables %d and %d, expected 0 to %d", k, v, w, n-1)
		case v == w:
			return structured.BadInput("edges[%d] joins variable %d with itself", k, v)
		}
		pair := [2]int32{int32(min(v, w)), int32(max(v, w))}
		if before, twice := seen[pair]; twice {
			return structured.BadInput("edges[%d] and edges[%d] both join variables %d and %d", before, k, v, w)
		}
		seen[pair] = k
		g.graph.Ends = append(g.graph.Ends, [2]int32{int32(v), int32(w)})
	}
	if r.edges.Dim > 0 || o.EdgeFeatures != nil {
		if len(o.EdgeFeatures) != len(o.Edges) {
			return structured.BadInput("edge_features has %d rows, expected %d, one per edge", len(o.EdgeFeatures), len(o.Edges))
		}
		var err error
		if g.edges, err = matrix(nil, o.EdgeFeatures, r.edges.Dim, "edge_features", "edge"); err != nil {
			return err
		}
	}
	if r.edges.Types == 0 {
		return nil
	}
	if len(o.EdgeTypes) != len(o.Edges) {
		return structured.BadInput("edge_types has %d entries, expected %d, one per edge", len(o.EdgeTypes), len(o.Edges))
	}
	for k, kind := range o.EdgeTypes {
		if kind < 0 || kind >= r.edges.Types {
			return structured.BadInput("edge_types[%d] is %d, expected 0 to %d", k, kind, r.edges.Types-1)
		}
		g.graph.Types = append(g.graph.Types, int32(kind))
	}
	return nil
}

// Dataset implements Reader. All examples have labels, or none has.
func (r *graphReader) Dataset(all []Example) (*structured.Dataset, error) {
	edges := &structured.Table{Name: graphs.EdgeRows, Offsets: make([]int, 1, len(all)+1), Dim: r.edges.Dim}
	d := &structured.Dataset{Offsets: offsets(all), Dim: r.dim, Tables: []*structured.Table{edges}}
	var labels []string
	for i, e := range all {
		g := e.content.(*graph)
		labels = append(labels, g.labels...)
		d.Features, edges.Features = append(d.Features, g.nodes...), append(edges.Features, g.edges...)
		d.Graphs = append(d.Graphs, g.graph)
		edges.Offsets = append(edges.Offsets, edges.Offsets[i]+len(g.graph.Ends))
	}
	if named(d, all); labels == nil {
		return d, nil
	}
	return d, text.PartialLabels(d, labels, r.names)
}
