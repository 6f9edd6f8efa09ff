package nets

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

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

type sparseWorker struct {
	s     *SparseLinear
	batch *structured.Batch // of the last Score
}

// Score implements Worker.
func (k *sparseWorker) Score(w []float32, batch *structured.Batch, θ *structured.Potentials) error {
	s, y := k.s, k.s.labels
	k.batch = batch
	θ.Resize(batch.Offsets, y, s.PerPosition())
	clear(θ.Node)
	k.rows(batch.Data.Attributes, func(t int, row int32, x float32) {
		vec.Axpy(x, w[int(row)*y:][:y], θ.Node[t*y:][:y])
	})
	yy := y * y
	if !s.PerPosition() {
		clear(θ.Edge)
		if s.transitions >= 0 {
			copy(θ.Edge, w[s.transitions:][:yy])
		}
		return nil
	}
	for t := range batch.Positions() {
		copy(θ.Edge[t*yy:(t+1)*yy], w[s.transitions:])
	}
	k.rows(batch.Data.EdgeAttributes, func(t int, row int32, x float32) {
		vec.Axpy(x, w[s.edgeRows+int(row)*yy:][:yy], θ.Edge[t*yy:][:yy])
	})
	return nil
}

// Pullback implements Worker.
func (k *sparseWorker) Pullback(v *structured.Marginals, grad []float32) error {
	s, y := k.s, k.s.labels
	k.rows(k.batch.Data.Attributes, func(t int, row int32, x float32) {
		vec.Axpy(x, v.Node[t*y:][:y], grad[int(row)*y:][:y])
	})
	if s.transitions < 0 {
		return nil
	}
	yy := y * y
	to := grad[s.transitions:][:yy]
	for from := 0; from < len(v.Edge); from += yy {
		vec.Axpy(1, v.Edge[from:][:yy], to)
	}
	if s.PerPosition() {
		k.rows(k.batch.Data.EdgeAttributes, func(t int, row int32, x float32) {
			vec.Axpy(x, v.Edge[t*yy:][:yy], grad[s.edgeRows+int(row)*yy:][:yy])
		})
	}
	return nil
}

// rows calls do for every attribute of the batch, with its position in the batch.
func (k *sparseWorker) rows(x *structured.Sparse, do func(t int, row int32, x float32)) {
	if x == nil {
		return
	}
	for b, i := range k.batch.Examples {
		at := k.batch.Offsets[b] - k.batch.Data.Offsets[i]
		for t := k.batch.Data.Offsets[i]; t < k.batch.Data.Offsets[i+1]; t++ {
			index, value := x.Row(t)
			for j, row := range index {
				c := float32(1)
				if value != nil {
					c = value[j]
				}
				do(at+t, row, c)
			}
		}
	}
}
