package cudanets

import (
	"slices"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
)

// SparseLinear is sparse.Linear on a device.
type SparseLinear struct {
	net         *sparse.Linear
	labels      int
	perPosition bool
	data        *resident.Data
	nodes       sparseRows                    // weights of attributes of positions
	edges       sparseRows                    // weights of attributes of transitions
	transitions int                           // start of the transition matrix in w; −1: none
	batch       *resident.Batch               // batch of the last Score
	blockSums   map[int]device.Array[float64] // partial sums of per-position edges, by a batch's rows
}

// sparseRows is a part of the weights with one row per attribute.
type sparseRows struct {
	lo, hi     int // w[lo:hi]
	width      int // length of a row
	attributes *resident.Sparse
	host       *structured.Sparse
	pairs      bool                   // rows are pairs of source and target items, not positions
	transposed *transpose             // for large batches; nil until one is reserved
	lists      map[batchSize]*Inverse // for small batches
	original   *Inverse               // owns the memory per key of the lists
}

// batchSize holds the capacities that lists depend on.
type batchSize struct{ chains, rows int }

// source returns the row of the data of each row of the batch.
func (r *sparseRows) source(b *resident.Batch) device.Array[int32] {
	if r.pairs {
		return b.PairSource
	}
	return b.Source
}

// sizeOf returns the capacities of b.
func (r *sparseRows) sizeOf(b *resident.Batch) batchSize {
	return batchSize{b.Chains, r.source(b).Len()}
}

// NewSparseLinear returns a scorer for chains on the data's device.
func NewSparseLinear(net *sparse.Linear, data *resident.Data) *SparseLinear {
	s, set := &SparseLinear{net: net, data: data, transitions: -1, blockSums: map[int]device.Array[float64]{}}, data.Set
	s.labels, s.perPosition = ChainShape(net.Form())
	y := s.labels
	for _, a := range net.Layout() {
		lo, hi := a.Offset, a.Offset+a.Len()
		switch a.Name {
		case "attributes":
			s.nodes = sparseRows{lo: lo, hi: hi, width: y, attributes: data.Attributes, host: set.Attributes}
		case "transitions":
			s.transitions = lo
		case "edge_attributes":
			s.edges = sparseRows{lo: lo, hi: hi, width: y * y, attributes: data.EdgeAttributes, host: set.EdgeAttributes}
		}
	}
	return s
}

// Free releases the memory, except the data's.
func (s *SparseLinear) Free() {
	s.nodes.free(s.data.Device)
	s.edges.free(s.data.Device)
	for _, x := range s.blockSums {
		device.Free(s.data.Device, x)
	}
}

// Dim returns the number of weights.
func (s *SparseLinear) Dim() int { return s.net.Dim() }

// Form returns the form of the potentials.
func (s *SparseLinear) Form() structured.Form { return s.net.Form() }

func (s *SparseLinear) Affine() bool { return true }

// Reserve implements Scorer. It never returns an error, and graphs captured before stay valid.
func (s *SparseLinear) Reserve(b *resident.Batch) error {
	d, y := s.data.Device, s.labels
	s.nodes.reserve(d, b)
	s.edges.reserve(d, b)
	if _, ok := s.blockSums[b.Rows]; !ok && s.perPosition {
		s.blockSums[b.Rows] = device.New[float64](d, device.CeilDiv(b.Rows, sumRows)*y*y, "sums of edges")
	}
	return d.Err()
}

// sumRows is ROWS_SUMMED of the kernel sum_rows, the rows that a block adds.
const sumRows = 256

func (s *SparseLinear) Score(w device.Array[float32], b *resident.Batch, θ Parts) {
	s.batch = b
	s.nodes.score(s.data.Device, w, device.Array[float32]{}, b, θ[0], s.labels)
	yy := s.labels * s.labels
	switch {
	case s.perPosition:
		s.edges.score(s.data.Device, w, w.Slice(s.transitions, s.transitions+yy), b, θ[1], yy)
	case s.transitions < 0:
		device.Zero(s.data.Device, θ[1])
	default:
		device.Copy(s.data.Device, θ[1], w.Slice(s.transitions, s.transitions+yy))
	}
}

func (s *SparseLinear) Pullback(v Parts, grad device.Array[float32]) {
	d, b, node, edge := s.data.Device, s.batch, v[0], v[1]
	s.nodes.pullback(d, node, b, grad)
	if s.transitions < 0 {
		return
	}
	yy := s.labels * s.labels
	to := grad.Slice(s.transitions, s.transitions+yy)
	if !s.perPosition {
		d.Launch("add", device.Dim{X: device.CeilDiv(yy, device.BlockThreads)}, device.Dim{X: device.BlockThreads}, 0, edge,
			to, int32(yy))
		return
	}
	s.edges.pullback(d, edge, b, grad)
	blocks := device.CeilDiv(b.Rows, sumRows)
	d.Launch("sum_rows", device.Dim{X: blocks, Y: device.CeilDiv(yy, 32)}, device.Dim{X: device.BlockThreads},
		device.BlockThreads*8, edge, s.blockSums[b.Rows], int32(b.Rows), int32(yy))
	d.Launch("sum_parts", device.Dim{X: device.CeilDiv(yy, 32)}, device.Dim{X: device.BlockThreads}, device.BlockThreads*8,
		s.blockSums[b.Rows], to, int32(blocks), int32(yy))
}

// scansPerSort is an estimate of how many entries of the transposed inputs can be passed over in the time in which one
// entry of a batch's own attributes is sorted.
const scansPerSort = 8

// large reports whether batches of b's capacities are pulled back through the transposed inputs of all data: those with
// a good part of the rows.
func (r *sparseRows) large(b *resident.Batch) bool {
	return scansPerSort*r.source(b).Len() >= len(r.host.Offsets)-1
}

// reserve prepares to pull back batches of b's capacities.
func (r *sparseRows) reserve(d *device.Device, b *resident.Batch) {
	switch {
	case r.attributes == nil || r.lo == r.hi:
	case r.large(b):
		if r.transposed == nil {
			r.transposed = newTranspose(d, r.host, (r.hi-r.lo)/r.width, r.width)
		}
	case r.lists[r.sizeOf(b)] == nil:
		if r.original == nil {
			r.original, r.lists = NewInverse(d, (r.hi-r.lo)/r.width, 0, 0, false), map[batchSize]*Inverse{}
		}
		r.lists[r.sizeOf(b)] = r.original.sized(r.source(b).Len(), r.mostEntries(b), r.host.Value != nil)
	}
}

func (r *sparseRows) free(d *device.Device) {
	if r.transposed != nil {
		r.transposed.free(d)
	}
	for _, l := range r.lists {
		l.Free()
	}
	if r.original != nil {
		r.original.Free()
	}
}

// score sets each row of to to base (zero if base is empty) plus the rows of w of its attributes, times their values.
func (r *sparseRows) score(d *device.Device, w, base device.Array[float32], b *resident.Batch, to device.Array[float32],
	width int) {
	attributes := r.attributes
	if attributes == nil || r.lo == r.hi {
		attributes = &resident.Sparse{}
	}
	group := lanesFor(width)
	d.Launch("sparse_score",
		device.Dim{X: device.CeilDiv(b.Rows, device.BlockThreads/group), Y: device.CeilDiv(width, 32)},
		device.Dim{X: device.BlockThreads}, 0,
		w.Slice(r.lo, r.hi), base, attributes.Offsets, attributes.Index, attributes.Value, b.Source, to,
		int32(b.Rows), int32(width), int32(group))
}

// pullback adds rows of v, times the values of their attributes, to the attributes' rows of grad.
func (r *sparseRows) pullback(d *device.Device, v device.Array[float32], b *resident.Batch,
	grad device.Array[float32]) {
	to := grad.Slice(r.lo, r.hi)
	switch {
	case r.attributes == nil || r.lo == r.hi:
	case r.large(b):
		r.transposed.pullback(d, v, r.source(b), to)
	default:
		l := r.lists[r.sizeOf(b)]
		l.Build(r.attributes, r.source(b), v, r.width)
		l.Sum(v, r.width, to)
	}
}

// mostEntries returns how many entries a batch of b's capacities can have at most.
func (r *sparseRows) mostEntries(b *resident.Batch) int {
	x, set := r.host, b.Data.Set
	offsets := set.Offsets
	if r.pairs {
		offsets = set.Table(structured.Pairs).Offsets
	}
	examples, widest := make([]int, set.Len()), 0
	for i := range examples {
		examples[i] = x.Offsets[offsets[i+1]] - x.Offsets[offsets[i]]
		for t := offsets[i]; t < offsets[i+1]; t++ {
			widest = max(widest, x.Offsets[t+1]-x.Offsets[t])
		}
	}
	slices.Sort(examples)
	most := 0
	for _, n := range examples[max(0, len(examples)-b.Chains):] {
		most += n
	}
	return min(most, r.source(b).Len()*widest)
}
