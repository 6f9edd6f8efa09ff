package nets

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// scored is what the output layer of a network computes scores for.
type scored int

const (
	scoresLabels scored = iota // labels of the positions of chains, and transitions
	scoresRows                 // positions, whatever their structure
	scoresArcs                 // pairs of positions of trees
	scoresPairs                // pairs of source and target items
)

// name names the outputs, in the plural.
func (o Output) name() string {
	if o.Form.Structure == nil {
		return "outputs with parts " + fmt.Sprint(o.Form.Parts)
	}
	return o.Form.Structure.Name() + "s"
}

// what says the same as a preset does.
func (s scored) what() string {
	switch s {
	case scoresArcs:
		return ScoresArcs
	case scoresPairs:
		return ScoresPairs
	}
	return ScoresPositions
}

// scores says which output layer a network needs: that of chains, one row for each position and for each edge of a
// graph (parts that are shared by all examples are parameters, those with a row for each example zero), that of trees,
// or that of matchings.
func (o Output) scores() scored {
	if _, ok := o.Form.Structure.(chains.Chain); ok {
		return scoresLabels
	}
	kind := scoresRows
	for _, part := range o.Form.Parts {
		switch {
		case part.Rows == structured.Sources, part.Rows == structured.Pairs:
			return scoresPairs
		case part.Rows == structured.Edges: // beside rows for positions
		case graph.PairTable(part.Rows):
			kind = scoresArcs
		}
	}
	return kind
}

// parts adds the output layer of a structure whose parts are per position, per edge, tied or per example. A part per
// position is linear in the last layer and, if the net is wide, in the attributes. A part of edges is as edgeScores
// says. A tied part is a parameter that starts at zero. A part per example is zero: it holds what the structure itself
// knows of an example, such as its loss.
func (b body) parts(c Config, input graph.Input, form structured.Form) graph.Spec {
	spec := graph.Spec{Name: c.Net, Params: append([]graph.Param(nil), b.params...), Form: form}
	var init graph.Init
	if !c.Preset().Linear {
		init = graph.Glorot
	}
	edges := edgeScores{Config: c, input: input, below: b, labels: form.Parts[0].Width}
	for _, part := range form.Parts {
		switch {
		case c.isEdges(form, part):
			spec.Params = append(spec.Params, edges.params(part)...)
		case part.Rows == structured.Tied:
			spec.Params = append(spec.Params, graph.Param{Name: part.Name, Shape: []int{part.Width}})
		case structured.PerPosition(part.Rows):
			spec.Params = append(spec.Params,
				graph.Param{Name: part.Name + ".weight", Shape: []int{b.width, part.Width}, Init: init},
				graph.Param{Name: part.Name + ".bias", Shape: []int{part.Width}})
			if b.wide > 0 {
				spec.Params = append(spec.Params, graph.Param{Name: part.Name + ".attributes", Shape: []int{b.wide, part.Width}})
			}
		}
	}
	spec.Parts = func(g *graph.Graph) ([]*gorgonia.Node, error) {
		h, err := b.build(g)
		if err != nil {
			return nil, err
		}
		nodes := make([]*gorgonia.Node, len(form.Parts))
		for k, part := range form.Parts {
			switch {
			case c.isEdges(form, part):
				if nodes[k], err = edges.score(g, h, part); err != nil {
					return nil, err
				}
			case part.Rows == structured.Tied:
				nodes[k] = g.Param(part.Name)
			case structured.PerPosition(part.Rows):
				if nodes[k], err = b.score(g, h, part.Name); err != nil {
					return nil, err
				}
			}
		}
		return nodes, nil
	}
	return spec
}

// score returns the scores of a part per position, from the last layer h.
func (b body) score(g *graph.Graph, h *gorgonia.Node, part string) (*gorgonia.Node, error) {
	n, err := g.Dense(h, g.Param(part+".weight"), g.Param(part+".bias"))
	if err != nil || b.wide == 0 {
		return n, err
	}
	linear, err := g.Bag(g.Param(part + ".attributes"))
	if err != nil {
		return nil, err
	}
	return gorgonia.Add(n, linear)
}
