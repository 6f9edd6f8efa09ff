// Package sparse scores sparse inputs linearly: the weights of an attribute are one row, which is added to the potentials of every
// row of the data that has the attribute. Beside scoring it adds gradients to the weights in parallel and measures how their norm
// changes (Scatter, Shared), and lists the rows of weights that a batch touches (Rows).
package sparse

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Linear is the linear scorer of sparse inputs. Row r of part p of the potentials has attributes x_r. Its potentials are the sum
// of the attributes' rows of weights, plus a bias if the part has one:
//
//	θ_p(r) = b_p + Σ_a x_r(a) W_p(a)      [Width]
//
// Weights start at zero.
type Linear struct {
	form   structured.Form
	parts  []part
	layout graph.Layout
	τ      float32 // threshold of the weights (Thresholded)
}

var _ nets.Network = (*Linear)(nil)

// part says where the weights of one part of the potentials lie in w.
type part struct {
	structured.Shape
	attributes int
	bias       int   // offset of the bias in w; −1 if there is none
	rows       int   // offset of the attributes' rows in w
	first      int32 // number of the part's first row (Rows), which is the bias if there is one
	wide       bool  // each row is divided among all stripes instead of belonging to one (Scatter)
}

// Part configures the weights of one part of the potentials.
type Part struct {
	Attributes int    // number of attributes; 0: none
	Weights    string // name of the attributes' weights [Attributes×Width]
	Bias       string // name of the bias [Width]; empty: none
	Wide       bool   // rows of weights are so wide that threads share the work on each
	Row        []int  // shape of a row in Layout, Width numbers in all; nil: [Width]
}

// New returns the scorer for potentials of the given form; parts[k] configures part k.
func New(form structured.Form, parts []Part) *Linear {
	s := &Linear{form: form}
	add := func(name string, shape ...int) int {
		a := graph.Array{Name: name, Shape: shape, Offset: s.layout.Dim()}
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

// NewChain returns the scorer of chains for the given numbers of attributes of positions (nodes) and of steps (edges) and Y labels.
// It has Y weights for each attribute of positions, transitions [Y×Y], and Y×Y weights for each attribute of steps. Edge potentials
// differ between positions only if edges > 0. kind is nets.EdgesTransition, or nets.EdgesNone for independent positions, which
// requires edges = 0.
func NewChain(nodes, edges, labels int, kind string) (*Linear, error) {
	switch {
	case labels < 1 || nodes < 0 || edges < 0:
		return nil, structured.BadInput("%d attributes, %d attributes of steps and %d labels make no linear net", nodes, edges, labels)
	case kind == nets.EdgesNone && edges > 0:
		return nil, structured.BadInput("edges none leave no place for the %d attributes of steps that the data has", edges)
	case kind != nets.EdgesNone && kind != nets.EdgesTransition:
		return nil, structured.BadInput("edges %s: the linear net of attributes has transition or none; templates of steps (B) give it more", kind)
	}
	edge := Part{Attributes: edges, Weights: "edge_attributes", Wide: true, Row: []int{labels, labels}}
	if kind == nets.EdgesTransition {
		edge.Bias = "transitions"
	}
	return New(chains.Form(labels, edges > 0), []Part{{Attributes: nodes, Weights: "attributes"}, edge}), nil
}

// First returns the scorer of the first part only. Its weights are the first of w.
func (s *Linear) First() *Linear {
	return &Linear{
		form:   structured.Form{Structure: s.form.Structure, Parts: s.form.Parts[:1]},
		parts:  s.parts[:1],
		layout: s.layout[:min(1, len(s.layout))],
		τ:      s.τ,
	}
}

// Thresholded returns the scorer with the soft thresholds of weights: Score of its workers scores with sign(w_j)·max(|w_j| − τ, 0)
// instead of w_j, and the norms of Scatter are those of the soft thresholds. Scatter changes w itself.
func (s *Linear) Thresholded(τ float32) *Linear {
	other := *s
	other.τ = τ
	return &other
}

// Name returns "linear".
func (s *Linear) Name() string { return "linear" }

// Dim returns the number of weights.
func (s *Linear) Dim() int { return s.layout.Dim() }

// Form returns the form of the potentials.
func (s *Linear) Form() structured.Form { return s.form }

// Affine returns true.
func (s *Linear) Affine() bool { return true }

// Layout says where each parameter lies in w.
func (s *Linear) Layout() graph.Layout { return s.layout }

// Init returns zeros, whatever the seed.
func (s *Linear) Init(uint64) []float32 { return make([]float32, s.Dim()) }

// NewWorker returns a worker.
func (s *Linear) NewWorker() nets.Worker { return &worker{s: s} }

// Weights returns the bias of part k of the potentials, nil if it has none, and the weights [attributes×Width] of its attributes.
func (s *Linear) Weights(k int, w []float32) (bias, rows []float32) {
	p := s.parts[k]
	if p.bias >= 0 {
		bias = w[p.bias : p.bias+p.Width]
	}
	return bias, w[p.rows : p.rows+p.attributes*p.Width]
}
