package inputs

import (
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/images"
)

// Edges is the shape of what a network reads of an edge of a graph.
type Edges struct {
	Dim   int `json:"dim"`   // dense features
	Types int `json:"types"` // 0: edges have no types
}

// patches is the shape of the pixels of variables; zero for data without them.
func patches(d *structured.Dataset) graph.Map {
	if c, ok := d.Source.(*images.Crops); ok {
		return graph.Map{Height: c.Side, Width: c.Side, Channels: images.Channels}
	}
	return graph.Map{}
}

// FitGraphs is Fit for graphs: the features of variables and edges are there already.
func FitGraphs(c *config.Config, t Training) (Inputs, error) {
	train := t.All
	in := Inputs{Features: c.Features, Map: patches(train),
		Edges: Edges{Dim: train.Table(graphs.EdgeRows).Dim, Types: graphs.Types(train)}}
	if c.Edges == nets.EdgesTyped && in.Edges.Types == 0 {
		return in, structured.BadInput("%s: the edges have no types, which --edges typed reads; use --edges own or potts",
			train.Name)
	}
	return in, nil
}
