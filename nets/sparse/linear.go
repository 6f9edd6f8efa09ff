package sparse

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Linear is the linear scorer of sparse inputs. Row r of part p of the potentials has attributes x_r, and its potentials
// are the sum of their rows of weights, with a bias where the part has one:
//
//	θ_p(r) = b_p + Σ_a x_r(a) W_p(a)      [Width]
//
// Weights start at zero.
type Linear struct {
	form   structured.Form
	parts  []part
	layout nets.Layout
}

var _ nets.Network = (*Linear)(nil)

// part is where the weights of a part of the potentials are.
type part struct {
	structured.Shape
	attributes int
	bias       int   // where it begins in w; −1 if there is none
	rows       int   // where the attributes' rows begin in w
	first      int32 // number of the part's first row, which is the bias where there is one (Rows)
	wide       bool  // a row is cut into pieces, one for each stripe, instead of being one stripe's (Scatter)
}

// Part says what the potentials of one part are made of.
type Part struct {
	Attributes int    // how many attributes its rows can have; 0: none
	Weights    string // name of their weights [Attributes×Width]
	Bias       string // name of the bias [Width]; empty: none
	Wide       bool   // rows of weights are very wide: threads share the work on each
	Row        []int  // shape of a row as users see it, of Width numbers; nil: [Width]
}

// New returns the scorer for potentials of a form, whose parts are made as parts say.
func New(form structured.Form, parts []Part) *Linear {
	s := &Linear{form: form}
	add := func(name string, shape ...int) int {
		a := nets.Array{Name: name, Shape: shape, Offset: s.layout.Dim()}
		if a.Len() > 0 {
			s.layout = append(s.layout, a)
		}
		return a.Offset
	}
	rows := 0
	for k, p := range parts {
		to := part{Shape: form.Parts[k], attributes: p.Attributes, bias: -1, first: int32(rows), wide: p.Wide}
		row := p.Row
		if row == nil {
			row = []int{to.Width}
		}
		if p.Bias != "" {
			to.bias = add(p.Bias, row...)
			rows++
		}
		to.rows = add(p.Weights, append([]int{p.Attributes}, row...)...)
		rows += p.Attributes
		s.parts = append(s.parts, to)
	}
	return s
}

// NewChain returns the scorer of chains for so many attributes of positions and of steps, and labels: a row of Y weights
// for each attribute of positions, the transitions [Y×Y], and Y×Y weights for each attribute of steps. Edge potentials differ
// from position to position only where steps have attributes. Edges is EdgesTransition, or EdgesNone for independent
// positions, where edges must be 0.
func NewChain(nodes, edges, labels int, kind string) (*Linear, error) {
	switch {
	case labels < 1 || nodes < 0 || edges < 0:
		return nil, structured.BadInput("%d attributes, %d attributes of steps and %d labels make no linear net", nodes, edges, labels)
	case kind == nets.EdgesNone && edges > 0:
		return nil, structured.BadInput("--edges none has no place for the %d attributes of steps that the data has", edges)
	case kind != nets.EdgesNone && kind != nets.EdgesTransition:
		return nil, structured.BadInput("--edges %s: the linear net of attributes has transition, or none; templates of steps (B) give it more", kind)
	}
	edge := Part{Attributes: edges, Weights: "edge_attributes", Wide: true, Row: []int{labels, labels}}
	if kind == nets.EdgesTransition {
		edge.Bias = "transitions"
	}
	return New(chains.Form(labels, edges > 0), []Part{{Attributes: nodes, Weights: "attributes"}, edge}), nil
}

// First returns the scorer of the first part alone, whose weights are the first of w.
func (s *Linear) First() *Linear {
	return &Linear{
		form:   structured.Form{Structure: s.form.Structure, Parts: s.form.Parts[:1]},
		parts:  s.parts[:1],
		layout: s.layout[:min(1, len(s.layout))],
	}
}

// Name returns "linear".
func (s *Linear) Name() string { return "linear" }

// Dim returns the number of weights.
func (s *Linear) Dim() int { return s.layout.Dim() }

// Form returns the form of the potentials.
func (s *Linear) Form() structured.Form { return s.form }

// Affine returns true.
func (s *Linear) Affine() bool { return true }

// Layout says where each parameter lives in w.
func (s *Linear) Layout() nets.Layout { return s.layout }

// Init returns zeros, whatever the seed.
func (s *Linear) Init(uint64) []float32 { return make([]float32, s.Dim()) }

// NewWorker returns a worker.
func (s *Linear) NewWorker() nets.Worker { return &worker{s: s} }
