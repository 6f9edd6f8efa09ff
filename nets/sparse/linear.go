// Package sparse scores sparse inputs linearly: the weights of an attribute are one row, which is added to the
// potentials of every row of the data that has the attribute. Dense inputs of positions may be beside them (dense.go).
// Beside scoring it adds gradients to the weights in parallel and measures how their norm changes (Scatter, Shared),
// and lists the rows of weights that a batch touches (Rows).
package sparse

import (
	"slices"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/segments"
)

// Linear is the linear scorer of sparse inputs. Row r of part p of the potentials has attributes x_r. Its potentials
// are the sum of the attributes' rows of weights, plus a bias if the part has one, plus products of dense inputs z of
// positions (Dense):
//
//	θ_p(r) = b_p + Σ_a x_r(a) W_p(a) + Σ z_r D_p      [Width]
//
// Weights start at zero.
type Linear struct {
	form   structured.Form
	parts  []part
	layout graph.Layout
	dim    int     // dense inputs of a position; 0: it reads none
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
	dense      []block
	free       bool // the bias has no threshold
}

// Part configures the weights of one part of the potentials.
type Part struct {
	Attributes int    // number of attributes; 0: none
	Weights    string // name of the attributes' weights [Attributes×Width]
	Bias       string // name of the bias [Width]; empty: none
	Wide       bool   // rows of weights are so wide that threads share the work on each
	Row        []int  // shape of a row in Layout, Width numbers in all; nil: [Width]
	Dense      []Dense
}

// New returns the scorer for potentials of the given form; parts[k] configures part k. All dense inputs are the same
// ones.
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
	for _, p := range parts {
		for _, d := range p.Dense {
			s.dim = d.Dim
		}
	}
	for k, p := range parts {
		to := part{Shape: form.Parts[k], attributes: p.Attributes, bias: -1, first: int32(rows), wide: p.Wide}
		row := p.Row
		if row == nil {
			row = []int{to.Width}
		}
		if p.Bias != "" {
			to.bias, to.free = add(p.Bias, row...), s.dim > 0
			rows++
		}
		to.rows = add(p.Weights, append([]int{p.Attributes}, row...)...)
		rows += p.Attributes
		for _, d := range p.Dense {
			b := block{of: d.Of, dim: d.Dim, hi: d.Dim, width: d.columns(to.Width), firstRow: int32(rows)}
			b.offset = add(d.Weights, d.shape(row)...)
			to.dense = append(to.dense, b)
			rows += d.Dim
		}
		s.parts = append(s.parts, to)
	}
	return s
}

// NewChain returns the scorer of chains for the given numbers of attributes of positions (nodes) and of steps (edges)
// and Y labels. It has Y weights for each attribute of positions, transitions [Y×Y], and Y×Y weights for each attribute
// of steps. Edge potentials differ between positions only if edges > 0. kind is nets.EdgesTransition, or nets.EdgesNone
// for independent positions, which requires edges = 0.
func NewChain(nodes, edges, labels int, kind string) (*Linear, error) {
	return NewDenseChain(nodes, edges, 0, labels, kind)
}

// NewDenseChain is NewChain with dim dense inputs of positions, which have dim×Y weights and Y biases unless dim is 0.
func NewDenseChain(nodes, edges, dim, labels int, kind string) (*Linear, error) {
	switch {
	case labels < 1 || nodes < 0 || edges < 0 || dim < 0:
		return nil, structured.BadInput("%d attributes, %d attributes of steps and %d labels make no linear net", nodes,
			edges, labels)
	case kind == nets.EdgesNone && edges > 0:
		return nil, structured.BadInput("edges none leave no place for the %d attributes of steps that the data has", edges)
	case kind != nets.EdgesNone && kind != nets.EdgesTransition:
		return nil, structured.BadInput("edges %s: the linear net of attributes has transition or none; templates of steps "+
			"(B) give it more", kind)
	}
	edge := Part{Attributes: edges, Weights: "edge_attributes", Wide: true, Row: []int{labels, labels}}
	if kind == nets.EdgesTransition {
		edge.Bias = "transitions"
	}
	node := Part{Attributes: nodes, Weights: "attributes"}
	if dim > 0 {
		node.Bias, node.Dense = "bias", []Dense{{Weights: "dense", Dim: dim}}
	}
	return New(chains.Form(labels, edges > 0), []Part{node, edge}), nil
}

// NewSecondChain is NewDenseChain for second-order chains of the given form. Triples of labels have a weight each;
// there must be no attributes of steps.
func NewSecondChain(nodes, edges, dim int, form structured.Form) (*Linear, error) {
	if edges > 0 {
		return nil, structured.BadInput("second-order chains leave no place for the %d attributes of steps that the data "+
			"has: leave out the lines of the template that begin with B", edges)
	}
	node := Part{Attributes: nodes, Weights: "attributes"}
	if dim > 0 {
		node.Bias, node.Dense = "bias", []Dense{{Weights: "dense", Dim: dim}}
	}
	return New(form, []Part{node, {Bias: "transitions"}, {Bias: "triples"}}), nil
}

// NewSegments returns the scorer of segments of the given form, for numbers of attributes of positions, of steps (there
// must be none of these) and of whole segments, and dim dense inputs of positions. Each attribute has a weight for each
// tag and, if the form scores last positions, for each label there; those of whole segments have one for each label.
func NewSegments(nodes, edges, wholes, dim int, form structured.Form) (*Linear, error) {
	if edges > 0 {
		return nil, structured.BadInput("segments leave no place for the %d attributes of steps that the data has: leave "+
			"out the lines of the template that begin with B", edges)
	}
	parts := make([]Part, len(form.Parts))
	for k, p := range form.Parts {
		switch p.Rows {
		case structured.Tied:
			parts[k].Bias = p.Name
			continue
		case structured.Examples: // what the structure knows itself
			continue
		case segments.Rows:
			parts[k] = Part{Attributes: wholes, Weights: wholeAttributes}
			continue
		}
		prefix := ""
		if k > 0 {
			prefix = p.Name + "_"
		}
		parts[k] = Part{Attributes: nodes, Weights: prefix + "attributes"}
		if dim > 0 {
			parts[k].Bias, parts[k].Dense = prefix+"bias", []Dense{{Weights: prefix + "dense", Dim: dim}}
		}
	}
	return New(form, parts), nil
}

const wholeAttributes = "segment_attributes"

// Attributes returns the scorer of the attributes of the first part only. Their weights lie in w as they did.
func (s *Linear) Attributes() *Linear {
	p := s.parts[0]
	p.bias, p.dense = -1, nil
	return s.with(structured.Form{Structure: s.form.Structure, Parts: s.form.Parts[:1]}, p)
}

// DenseShare returns the scorer of share k of n of the dense inputs, in all parts, and of nothing else. Their weights
// lie in w as they did.
func (s *Linear) DenseShare(k, n int) *Linear {
	parts := slices.Clone(s.parts)
	for i := range parts {
		p := &parts[i]
		p.attributes, p.bias, p.dense = 0, -1, slices.Clone(p.dense)
		for j := range p.dense {
			b := &p.dense[j]
			b.lo, b.hi = b.dim*k/n, b.dim*(k+1)/n
		}
	}
	return s.with(s.form, parts...)
}

// Rest returns the scorer of all that Attributes and DenseShare leave out. Its weights lie in w as they did.
func (s *Linear) Rest() *Linear {
	parts := slices.Clone(s.parts)
	parts[0].attributes = 0
	for i := range parts {
		parts[i].dense = nil
	}
	return s.with(s.form, parts...)
}

// Scores reports whether the scorer has weights of part k; without any, its potentials are zero.
func (s *Linear) Scores(k int) bool {
	p := &s.parts[k]
	return p.attributes > 0 || p.bias >= 0 || len(p.dense) > 0
}

// with returns the scorer with other parts.
func (s *Linear) with(form structured.Form, parts ...part) *Linear {
	other := *s
	other.form, other.parts, other.dim = form, parts, 0
	for _, p := range parts {
		if len(p.dense) > 0 {
			other.dim = s.dim
		}
	}
	return &other
}

// Thresholded returns the scorer with the soft thresholds of weights: Score of its workers scores with
// sign(w_j)·max(|w_j| − τ, 0) instead of w_j, and the norms of Scatter are those of the soft thresholds. Scatter
// changes w itself. Weights that Unshrunk lists have no threshold.
func (s *Linear) Thresholded(τ float32) *Linear {
	other := *s
	other.τ = τ
	return &other
}

func (s *Linear) Name() string { return "linear" }

// Dim returns the number of weights.
func (s *Linear) Dim() int { return s.layout.Dim() }

// Form returns the form of the potentials.
func (s *Linear) Form() structured.Form { return s.form }

func (s *Linear) Affine() bool { return true }

// Layout says where each parameter lies in w.
func (s *Linear) Layout() graph.Layout { return s.layout }

// Init returns zeros, whatever the seed.
func (s *Linear) Init(uint64) []float32 { return make([]float32, s.Dim()) }

func (s *Linear) NewWorker() nets.Worker { return &worker{s: s} }

// Weights returns the bias of part k of the potentials, nil if it has none, and the weights [attributes×Width] of its
// attributes.
func (s *Linear) Weights(k int, w []float32) (bias, rows []float32) {
	p := s.parts[k]
	if p.bias >= 0 {
		bias = w[p.bias : p.bias+p.Width]
	}
	return bias, w[p.rows : p.rows+p.attributes*p.Width]
}
