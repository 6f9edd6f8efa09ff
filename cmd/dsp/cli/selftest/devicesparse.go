package selftest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
)

// sparseLinear compares the linear scorer on attributes with the CPU's: with and without values, with and without
// attributes of transitions, with more and with fewer labels than a warp has threads.
func (g *rig) sparseLinear(ctx context.Context, r *rand.Rand, w *worst) (string, error) {
	for _, c := range []struct {
		labels, edges int
		kind          string
		values        bool
	}{
		{9, 0, nets.EdgesTransition, false}, {9, 0, nets.EdgesNone, true}, {5, 20, nets.EdgesTransition, true},
		{2, 5, nets.EdgesTransition, false}, {35, 0, nets.EdgesTransition, true}, {40, 3, nets.EdgesTransition, false},
	} {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err := g.sparseCase(r, w, c.labels, c.edges, c.kind, c.values); err != nil {
			return "", fmt.Errorf("%d labels, %d attributes of transitions: %w", c.labels, c.edges, err)
		}
	}
	return "", nil
}

// sparseCase compares two batches: all of the data, and a small part whose gradient takes another code path.
func (g *rig) sparseCase(r *rand.Rand, w *worst, labels, edges int, kind string, values bool) error {
	lengths := []int{4, 0, 1, 30, 70, g.pick(700, 100)}
	data := randomChains(r, graph.Input{}, labels, lengths...)
	const nodes = 1500 // many compared with the second batch
	data.Attributes = drawSparse(r, data, nodes, 40, values, false)
	if edges > 0 {
		data.EdgeAttributes = drawSparse(r, data, edges, 3, values, true)
	}
	net, err := sparse.NewChain(nodes, edges, labels, kind)
	if err != nil {
		return err
	}
	onData := resident.NewData(g.Device, data)
	defer onData.Free()
	s := cudanets.NewSparseLinear(net, onData)
	defer s.Free()
	for _, batch := range []struct {
		examples []int
		rows     int
	}{{r.Perm(len(lengths)), data.Positions() + 5}, {[]int{2, 0}, 6}} {
		on := resident.NewBatch(onData, len(batch.examples)+1, batch.rows, slices.Max(lengths))
		if err := s.Reserve(on); err != nil {
			return err
		}
		on.Set(batch.examples)
		err := g.sparseBatch(r, w, net, s, on, batch.examples)
		on.Free()
		if err != nil {
			return err
		}
	}
	return g.Sync()
}

func (g *rig) sparseBatch(r *rand.Rand, w *worst, net *sparse.Linear, s *cudanets.SparseLinear, on *resident.Batch, examples []int) error {
	var batch structured.Batch
	batch.Reset(on.Data.Set, examples)
	weights, grad := normals(r, net.Dim()), make([]float32, net.Dim())
	v := drawMarginals(r, &batch, net.Form())
	var want structured.Potentials
	worker := net.NewWorker()
	if err := worker.Score(weights, &batch, &want); err != nil {
		return err
	}
	if err := worker.Pullback(v, grad); err != nil {
		return err
	}
	θ := potentialsOf(g, on, net)
	s.Score(upload(g, weights), on, θ.Parts())
	n := &netCase{rig: g, w: w}
	if err := n.potentials("score", θ, &want); err != nil {
		return err
	}
	node, edge := pulled(g, v, on.Rows)
	onGrad := upload(g, make([]float32, net.Dim()))
	s.Pullback(cudanets.Parts{node, edge}, onGrad)
	return w.nearScaled("gradient", download(g, onGrad), grad, single)
}

// sumsByKey compares sums of rows that have equal keys.
func (g *rig) sumsByKey(_ context.Context, r *rand.Rand, w *worst) (string, error) {
	const keys, width = 50, 7
	n := g.pick(20000, 700)
	from, want := normals(r, n*width), make([]float32, keys*width)
	sums := make([]float64, keys*width)
	var of, rows []int32
	offsets := []int64{0}
	for i := range n {
		if key := r.Int32N(r.Int32N(keys)+2) - 1; key >= 0 { // low keys are frequent, high keys rare; −1 is no key
			of = append(of, key)
			for c := range width {
				sums[int(key)*width+c] += float64(from[i*width+c])
			}
		}
		offsets, rows = append(offsets, int64(len(of))), append(rows, int32(i))
	}
	for i, x := range sums {
		want[i] = float32(x)
	}
	lists, to := cudanets.NewInverse(g.Device, keys, n, n, false), upload(g, make([]float32, keys*width))
	defer lists.Free()
	x := upload(g, from)
	lists.Build(&resident.Sparse{Offsets: upload(g, offsets), Index: upload(g, of)}, upload(g, rows), x, width)
	lists.Sum(x, width, to)
	return "", w.nearScaled("sum", download(g, to), want, single)
}

// drawSparse draws attributes of all positions, or of the transitions into them; attributes with low numbers are
// frequent.
func drawSparse(r *rand.Rand, d *structured.Dataset, attributes, most int, values, steps bool) *structured.Sparse {
	x := &structured.Sparse{Offsets: []int{0}}
	for t := range d.Positions() {
		count := r.IntN(most + 1)
		if steps && slices.Contains(d.Offsets, t) {
			count = 0
		}
		for range count {
			u := r.Float64()
			x.Index = append(x.Index, int32(float64(attributes)*u*u*u))
			if values {
				x.Value = append(x.Value, float32(r.NormFloat64()))
			}
		}
		x.Offsets = append(x.Offsets, len(x.Index))
	}
	return x
}
