package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// outputs builds the network on g. It returns the form of the potentials and a node for each part, nil for a part that is zero.
func (s *Spec) outputs(g *Graph) (structured.Form, []*gorgonia.Node, error) {
	switch {
	case s.Parts != nil:
		return s.parts(g)
	case s.Build != nil:
		return s.chain(g)
	}
	return structured.Form{}, nil, fmt.Errorf("the Spec has neither Build nor Parts")
}

// chain builds a network of chains. The shapes of its nodes determine the form.
func (s *Spec) chain(g *Graph) (form structured.Form, outputs []*gorgonia.Node, err error) {
	node, edge, err := s.Build(g)
	if err != nil {
		return form, nil, err
	}
	n := node.Shape()
	if len(n) != 2 || n[0] != g.Rows {
		return form, nil, fmt.Errorf("node potentials have shape %v, expected [%d×labels]", n, g.Rows)
	}
	y, perPosition := n[1], false
	if edge != nil {
		e := edge.Shape()
		tied := sameShape(e, []int{y, y})
		if perPosition = !tied; !tied && !sameShape(e, []int{g.Rows, y, y}) && !sameShape(e, []int{g.Rows, y * y}) {
			return form, nil, fmt.Errorf("edge potentials have shape %v, expected [%d×%d], or [%d×%d×%d]", e, y, y, g.Rows, y, y)
		}
	}
	return chains.Form(y, perPosition), []*gorgonia.Node{node, edge}, nil
}

// parts builds a network of any structure. The Spec states its form.
func (s *Spec) parts(g *Graph) (structured.Form, []*gorgonia.Node, error) {
	outputs, err := s.Parts(g)
	if err != nil {
		return s.Form, nil, err
	}
	if len(outputs) != len(s.Form.Parts) || len(outputs) == 0 {
		return s.Form, nil, fmt.Errorf("function Parts returned %d nodes for potentials of %d parts", len(outputs), len(s.Form.Parts))
	}
	for k, shape := range s.Form.Parts {
		if !structured.PerPosition(shape.Rows) && shape.Rows != structured.Tied {
			g.needs.Pairs = true
		}
		n := outputs[k]
		if n == nil {
			continue
		}
		rows, of := g.rowsOfTable(shape.Rows), n.Shape()
		if of.TotalSize() != rows*shape.Width || rows > 1 && (len(of) == 0 || of[0] != rows) {
			return s.Form, nil, fmt.Errorf("%s potentials have shape %v, expected [%d×%d]", shape.Name, of, rows, shape.Width)
		}
	}
	return s.Form, outputs, nil
}

// rowsOfTable returns how many rows of a table the graph computes. Tables of other rows than positions and steps have one row per pair.
func (g *Graph) rowsOfTable(table string) int {
	switch table {
	case structured.Tied:
		return 1
	case structured.Positions, structured.Steps:
		return g.Rows
	}
	return g.Pairs
}
