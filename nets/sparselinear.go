package nets

import "github.com/dsp-go/dsp/structured"

// SparseLinear is the linear scorer of sparse inputs, whose weights are one row of Y numbers for each attribute of
// positions, the transitions [Y×Y], and Y×Y numbers for each attribute of steps:
//
//	θ_t(y) = Σ_a x_t(a) W(a,y),    θ_t(y',y) = U(y',y) + Σ_e z_t(e) V(e,y',y).
//
// Edge potentials differ from position to position only where steps have attributes. Weights start at zero.
type SparseLinear struct {
	nodes, edges, labels int
	layout               Layout
	transitions          int // where they begin in w; −1 if there are none
	edgeRows             int // where the rows of the steps' attributes begin
}

// NewSparseLinear returns the scorer for so many attributes of positions and of steps, and labels. Edges is
// EdgesTransition, or EdgesNone for independent positions, where edges must be 0.
func NewSparseLinear(nodes, edges, labels int, kind string) (*SparseLinear, error) {
	switch {
	case labels < 1 || nodes < 0 || edges < 0:
		return nil, structured.BadInput("%d attributes, %d attributes of steps and %d labels make no linear net", nodes, edges, labels)
	case kind == EdgesNone && edges > 0:
		return nil, structured.BadInput("--edges none has no place for the %d attributes of steps that the data has", edges)
	case kind != EdgesNone && kind != EdgesTransition:
		return nil, structured.BadInput("--edges %s: the linear net of attributes has transition, or none; templates of steps (B) give it more", kind)
	}
	s := &SparseLinear{nodes: nodes, edges: edges, labels: labels, transitions: -1}
	add := func(name string, shape ...int) {
		if product(shape) > 0 {
			s.layout = append(s.layout, Array{Name: name, Shape: shape, Offset: s.layout.Dim()})
		}
	}
	add("attributes", nodes, labels)
	if kind == EdgesTransition {
		s.transitions = s.layout.Dim()
		add("transitions", labels, labels)
	}
	s.edgeRows = s.layout.Dim()
	add("edge_attributes", edges, labels, labels)
	return s, nil
}

// Name returns "linear".
func (s *SparseLinear) Name() string { return "linear" }

// Dim returns the number of weights.
func (s *SparseLinear) Dim() int { return s.layout.Dim() }

// Labels returns Y.
func (s *SparseLinear) Labels() int { return s.labels }

// PerPosition reports whether edge potentials differ from position to position.
func (s *SparseLinear) PerPosition() bool { return s.edges > 0 }

// Affine returns true.
func (s *SparseLinear) Affine() bool { return true }

// Layout says where each parameter lives in w.
func (s *SparseLinear) Layout() Layout { return s.layout }

// Init returns zeros, whatever the seed.
func (s *SparseLinear) Init(uint64) []float32 { return make([]float32, s.Dim()) }

// NewWorker returns a worker.
func (s *SparseLinear) NewWorker() Worker { return &sparseWorker{s: s} }
