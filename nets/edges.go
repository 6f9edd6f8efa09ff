package nets

import (
	"fmt"
	"slices"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// The kinds of edge potentials of graphs, beside EdgesNone; see graphs.Edges.
const (
	EdgesOwn   = "own"   // a table of pairs of labels for each edge
	EdgesTyped = "typed" // a learned table for each type of edges
	EdgesPotts = "potts" // a number for each edge, which counts if both ends have the same label
)

// SubmodularSoftplus keeps edges submodular: see Config.Submodular.
const SubmodularSoftplus = "softplus"

var (
	chainEdges = []string{EdgesTransition, EdgesPosition, EdgesNone}
	graphEdges = []string{EdgesOwn, EdgesTyped, EdgesPotts, EdgesNone}
)

// GraphOutput is the Output of graphs with the given number of labels, of types of edges (which only EdgesTyped reads),
// and kind of edge potentials. With EdgesNone the potentials have the form of EdgesPotts, and those of edges are zero.
func GraphOutput(labels, types int, edges string) (Output, error) {
	if edges == EdgesNone {
		edges = EdgesPotts
	}
	kind, err := graphs.ParseEdges(edges)
	if err != nil {
		return Output{}, err
	}
	return Output{labels, graphs.Pairwise{Edges: kind}.Form(labels, types)}, nil
}

// checkEdges refuses kinds of edges that the outputs do not have.
func (c Config) checkEdges(out Output) error {
	pairwise, isGraph := out.Form.Structure.(graphs.Pairwise)
	name := func() string { return out.Form.Structure.Name() }
	ofGraphs := c.Edges != EdgesNone && slices.Contains(graphEdges, c.Edges)
	switch {
	case isGraph && c.Edges == EdgesPosition:
		return structured.BadInput("edges %s: chains have them; expected one of %s for a %s", c.Edges,
			strings.Join(graphEdges, ", "), name())
	case isGraph && ofGraphs && c.Edges != pairwise.Edges.String():
		return structured.BadInput("edges %s: the potentials are those of a %s", c.Edges, name())
	case !isGraph && ofGraphs:
		return structured.BadInput("edges %s: graphs have them, not %ss", c.Edges, name())
	case !isGraph && (c.EdgeUnits != 0 || c.Submodular != ""):
		return structured.BadInput("edge-units and submodular are for graphs, not %ss", name())
	}
	return nil
}

// resolveEdges fills in the kind of edges, after Resolve, and checks it with the other settings of graphs.
func (c Config) resolveEdges(out Output) (Config, error) {
	pairwise, isGraph := out.Form.Structure.(graphs.Pairwise)
	switch kind := out.scores(); {
	case isGraph:
		if c.Edges != EdgesNone {
			c.Edges = pairwise.Edges.String()
		}
		return c, c.checkGraph(pairwise, out.Form)
	case kind != scoresRows && kind != scoresPairs:
	case c.Edges == EdgesPosition || c.Edges == EdgesNone:
		return c, structured.BadInput("edges %s: a %s has no edges; chains do", c.Edges, out.Form.Structure.Name())
	default:
		c.Edges = ""
	}
	return c, nil
}

// checkGraph checks the settings that graphs have beside Edges.
func (c Config) checkGraph(of graphs.Pairwise, form structured.Form) error {
	labels := form.Parts[0].Width
	switch {
	case c.EdgeUnits < 0:
		return structured.BadInput("edge-units %d: expected at least 1, or 0 for scores that are linear "+
			"in the features of edges", c.EdgeUnits)
	case c.EdgeUnits > 0 && (c.Edges == EdgesNone || of.Edges == graphs.Typed):
		return structured.BadInput("edge-units %d: edges %s are not computed from their ends; own and potts are", c.EdgeUnits,
			c.Edges)
	case c.EdgeUnits > 0 && c.Preset().Linear:
		return structured.BadInput("net %s has no edge-units: its edges are linear in their features; use mlp", c.Net)
	case c.Submodular != "" && c.Submodular != SubmodularSoftplus:
		return structured.BadInput("submodular %q: expected %s, or nothing", c.Submodular, SubmodularSoftplus)
	case c.Submodular != "" && c.Edges == EdgesNone:
		return structured.BadInput("submodular %s: with edges none there is nothing to constrain", c.Submodular)
	case c.Submodular != "" && of.Edges != graphs.Potts && labels != 2:
		return structured.BadInput("submodular %s: tables of %d labels have no such constraint; expected "+
			"edges potts, or 2 labels", c.Submodular, labels)
	}
	return nil
}

// isEdges reports whether a part holds the edges of a graph.
func (c Config) isEdges(form structured.Form, part structured.Shape) bool {
	_, ok := form.Structure.(graphs.Pairwise)
	return part.Rows == structured.Edges || ok && part.Rows == structured.Tied
}

// edgeScores is the output layer of the edges of a graph.
//
// The score of an edge is linear in its dense features f, with a bias. With K = EdgeUnits, a hidden layer h of K units
// is scored, too. It reads f and the layers x below of the edge's ends u and v: for tables of labels, which have an
// order,
//
//	h = φ(A x_u + B x_v + C f + c),
//
// and for Potts weights, which have none, h = φ(|A x_u − A x_v| + C f + c). Typed edges are parameters.
type edgeScores struct {
	Config
	input  graph.Input
	below  body // computes x
	labels int
}

// ordered reports whether the score of an edge depends on which of its ends is the first.
func (s *edgeScores) ordered() bool { return s.Edges != EdgesPotts }

func (s *edgeScores) params(part structured.Shape) (all []graph.Param) {
	param := func(name string, init graph.Init, shape ...int) {
		all = append(all, graph.Param{Name: part.Name + "." + name, Shape: shape, Init: init})
	}
	switch {
	case s.Edges == EdgesNone:
		return nil
	case part.Rows == structured.Tied:
		return []graph.Param{{Name: part.Name, Shape: []int{part.Width}}}
	}
	if k := s.EdgeUnits; k > 0 {
		init := initFor(s.Activation)
		param("ends", init, s.below.width, k)
		if s.ordered() {
			param("second", init, s.below.width, k)
		}
		if s.input.EdgeDim > 0 {
			param("hidden.features", init, s.input.EdgeDim, k)
		}
		param("hidden.bias", nil, k)
		param("hidden.weight", graph.Glorot, k, part.Width)
	}
	if s.input.EdgeDim > 0 {
		param("features", nil, s.input.EdgeDim, part.Width)
	}
	param("bias", nil, part.Width)
	return all
}

// score returns the potentials of edges, nil for none. x is the layer below.
func (s *edgeScores) score(g *graph.Graph, x *gorgonia.Node, part structured.Shape) (n *gorgonia.Node, err error) {
	switch {
	case s.Edges == EdgesNone:
		return nil, nil
	case part.Rows == structured.Tied:
		n = g.Param(part.Name)
	default:
		if n, err = s.rows(g, x, part); err != nil {
			return nil, err
		}
	}
	switch {
	case s.Submodular == "":
		return n, nil
	case s.Edges == EdgesPotts:
		return gorgonia.Softplus(n)
	}
	return submodularTables(g, n)
}

func (s *edgeScores) rows(g *graph.Graph, x *gorgonia.Node, part structured.Shape) (sum *gorgonia.Node, err error) {
	param := func(name string) *gorgonia.Node { return g.Param(part.Name + "." + name) }
	var f *gorgonia.Node
	if s.input.EdgeDim > 0 {
		if f, err = g.EdgeFeatures(); err != nil {
			return nil, err
		}
		if sum, err = gorgonia.Mul(f, param("features")); err != nil {
			return nil, err
		}
	}
	if s.EdgeUnits > 0 {
		h, err := s.hidden(g, x, f, param)
		if err != nil {
			return nil, err
		}
		scored, err := gorgonia.Mul(h, param("hidden.weight"))
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = scored
		} else if sum, err = gorgonia.Add(sum, scored); err != nil {
			return nil, err
		}
	}
	if sum != nil {
		return g.AddBias(sum, param("bias"))
	}
	row, err := gorgonia.Reshape(param("bias"), tensor.Shape{1, part.Width}) // the same in every row
	if err != nil {
		return nil, err
	}
	return gorgonia.Mul(gorgonia.NewConstant(tensor.Ones(g.Dtype, g.Pairs, 1)), row)
}

// hidden returns the hidden layer of edges.
func (s *edgeScores) hidden(g *graph.Graph, x, f *gorgonia.Node,
	param func(string) *gorgonia.Node) (h *gorgonia.Node, err error) {
	if h, err = s.ends(g, x, param); err != nil {
		return nil, err
	}
	if f != nil {
		of, err := gorgonia.Mul(f, param("hidden.features"))
		if err != nil {
			return nil, err
		}
		if h, err = gorgonia.Add(of, h); err != nil {
			return nil, err
		}
	}
	if h, err = g.AddBias(h, param("hidden.bias")); err != nil {
		return nil, err
	}
	return g.Activate(h, s.Activation)
}

// ends returns what the hidden layer reads of the ends.
func (s *edgeScores) ends(g *graph.Graph, x *gorgonia.Node, param func(string) *gorgonia.Node) (*gorgonia.Node, error) {
	of, err := gorgonia.Mul(x, param("ends"))
	if err != nil {
		return nil, err
	}
	first, second, err := g.Ends(of)
	if err != nil {
		return nil, err
	}
	if !s.ordered() {
		d, err := gorgonia.Sub(first, second)
		if err != nil {
			return nil, err
		}
		return gorgonia.Abs(d)
	}
	if of, err = gorgonia.Mul(x, param("second")); err != nil {
		return nil, err
	}
	if _, second, err = g.Ends(of); err != nil {
		return nil, err
	}
	return gorgonia.Add(first, second)
}

// submodularTables makes tables θ of two labels [M×4], or [M·4], submodular: with z = θ00 − θ01 − θ10 + θ11, it adds
// (softplus(z) − z)/4 = softplus(−z)/4 to θ00 and θ11 and subtracts it from θ01 and θ10, so that z becomes softplus(z)
// ≥ 0.
func submodularTables(g *graph.Graph, θ *gorgonia.Node) (*gorgonia.Node, error) {
	shape := θ.Shape().Clone()
	rows, err := gorgonia.Reshape(θ, tensor.Shape{shape.TotalSize() / 4, 4})
	if err != nil {
		return nil, err
	}
	z, err := gorgonia.Mul(rows, literal(g, []float64{-1, 1, 1, -1}, 4, 1)) // −z
	if err != nil {
		return nil, err
	}
	if z, err = gorgonia.Softplus(z); err != nil {
		return nil, err
	}
	if z, err = gorgonia.Mul(z, literal(g, []float64{0.25, -0.25, -0.25, 0.25}, 1, 4)); err != nil {
		return nil, err
	}
	if rows, err = gorgonia.Add(rows, z); err != nil {
		return nil, err
	}
	return gorgonia.Reshape(rows, shape)
}

// literal returns a constant of the graph's element type.
func literal(g *graph.Graph, xs []float64, shape ...int) *gorgonia.Node {
	if g.Dtype == tensor.Float64 {
		return gorgonia.NewConstant(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(xs)))
	}
	small := make([]float32, len(xs))
	for i, x := range xs {
		small[i] = float32(x)
	}
	return gorgonia.NewConstant(tensor.New(tensor.WithShape(shape...), tensor.WithBacking(small)),
		gorgonia.WithName(fmt.Sprint(xs)))
}
