package cudanets_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// marginals draws numbers in the shape of a batch's marginals; they are zero where chains start, and at every other
// position.
func marginals(rng *rand.Rand, batch *structured.Batch, labels int, perPosition bool) *structured.Marginals {
	all := new(structured.Marginals)
	all.Resize(batch, chains.Form(labels, perPosition))
	v := chains.In(all)
	copy(v.Node, cudatest.Vector(rng, len(v.Node), 1))
	copy(v.Edge, cudatest.Vector(rng, len(v.Edge), 1))
	for b := range batch.Len() {
		lo, hi := batch.Offsets[b], batch.Offsets[b+1]
		for t := lo; t < hi; t += 2 {
			clear(v.Node[t*labels:][:labels])
		}
		if perPosition && lo < hi {
			clear(v.Edge[lo*labels*labels:][:labels*labels])
		}
	}
	return all
}

// scored is the result of a scorer on the device, with capacities beyond the batch.
type scored struct{ node, edge, grad []float32 }

func runSparse(d *device.Device, set *structured.Dataset, net *sparse.Linear, examples []int, w []float32,
	pulled *structured.Marginals,
	count, rows int, captured bool) scored {
	data := resident.NewData(d, set)
	s := cudanets.NewSparseLinear(net, data)
	longest := 0
	for i := range set.Len() {
		longest = max(longest, set.Length(i))
	}
	v, batch := chains.In(pulled), resident.NewBatch(data, count, rows, longest)
	y := v.Y
	if err := s.Reserve(batch); err != nil {
		return scored{}
	}
	θ := &cudaoracles.Chains{B: count, N: rows, Y: y, Longest: longest, Offsets: batch.Offsets, PerPosition: v.PerPosition}
	size, edges := y*y, make([]float32, y*y)
	if v.PerPosition {
		size = rows * y * y
		edges = slices.Concat(v.Edge, make([]float32, size-len(v.Edge)))
	} else {
		for b := range v.Len() {
			for e, x := range v.EdgeOf(b) {
				edges[e] += x
			}
		}
	}
	θ.Node, θ.Edge = device.New[float32](d, rows*y, "θ"), device.New[float32](d, size, "θ")
	weights, grad := cudatest.Uploaded(d, w), device.New[float32](d, len(w), "a gradient")
	node, edge := cudatest.Uploaded(d, slices.Concat(v.Node, make([]float32, rows*y-len(v.Node)))),
		cudatest.Uploaded(d, edges)
	all := func() {
		device.Zero(d, grad)
		s.Score(weights, batch, θ.Parts())
		s.Pullback(cudanets.Parts{node, edge}, grad)
	}
	if captured {
		batch.Set([]int{3}) // the captured graph must work for any examples
		g := d.Capture(all)
		batch.Set(examples)
		d.Replay(g)
		d.Replay(g)
	} else {
		batch.Set(examples)
		all()
	}
	out := scored{cudatest.Downloaded(d, θ.Node), cudatest.Downloaded(d, θ.Edge), cudatest.Downloaded(d, grad)}
	s.Free()
	batch.Free()
	data.Free()
	return out
}

func TestSparseLinearIsThatOfTheHost(t *testing.T) {
	d := cudatest.Device(t)
	few, many := []int{5, 1, 3}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}
	for k, c := range []struct {
		labels, edges int
		kind          string
		values        bool
		examples      []int
		chains, rows  int
	}{
		{3, 0, nets.EdgesTransition, false, few, 3, 16}, // few for so many attributes
		{3, 0, nets.EdgesTransition, false, many, 9, 760},
		{5, 0, nets.EdgesNone, true, few, 4, 20},
		{5, 0, nets.EdgesNone, true, many, 10, 780},
		{9, 0, nets.EdgesTransition, true, few, 5, 18},
		{9, 0, nets.EdgesTransition, true, []int{8, 2, 0}, 5, 500},
		{2, 1400, nets.EdgesTransition, true, few, 3, 16},
		{2, 5, nets.EdgesTransition, false, many, 12, 770},
		{7, 1500, nets.EdgesTransition, false, few, 3, 17},
		{35, 0, nets.EdgesTransition, true, few, 3, 16},
		{35, 0, nets.EdgesTransition, false, many, 9, 760},
	} {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, uint64(k)))
			set, net := cudatest.SparseCase(t, rng, c.labels, 2000, c.edges, c.kind, c.values, 400, 4, 0, 2, 300, 9, 1, 30, 13)
			var batch structured.Batch
			batch.Reset(set, c.examples)
			w, v := cudatest.Vector(rng, net.Dim(), 1), marginals(rng, &batch, c.labels, c.edges > 0)
			var θ structured.Potentials
			worker, grad := net.NewWorker(), make([]float32, net.Dim())
			if err := worker.Score(w, &batch, &θ); err != nil {
				t.Fatal(err)
			}
			if err := worker.Pullback(v, grad); err != nil {
				t.Fatal(err)
			}
			first := runSparse(d, set, net, c.examples, w, v, c.chains, c.rows, false)
			cudatest.Near(t, "node potentials", first.node[:len(θ.Parts[0].Values)], θ.Parts[0].Values, 1e-5)
			cudatest.Near(t, "edge potentials", first.edge[:len(θ.Parts[1].Values)], θ.Parts[1].Values, 1e-5)
			cudatest.Near(t, "gradient", first.grad, grad, 1e-5)
			second := runSparse(d, set, net, c.examples, w, v, c.chains, c.rows, true)
			if !slices.Equal(first.grad, second.grad) || !slices.Equal(first.node, second.node) ||
				!slices.Equal(first.edge, second.edge) {
				t.Error("a replayed graph gives other bits")
			}
		})
	}
}

// Lists hold a full batch: the examples with the most attributes, with all rows nonzero.
func TestListsTakeAFullBatch(t *testing.T) {
	d := cudatest.Device(t)
	rng := rand.New(rand.NewPCG(12, 1))
	set := cudatest.ChainData(rng, 3, 5, 5, 5, 5, 5, 5)
	set.Attributes = &structured.Sparse{Offsets: []int{0}}
	for p := range set.Positions() {
		for k := range []int{30, 40, 30, 30, 40, 30}[p/5] {
			set.Attributes.Index = append(set.Attributes.Index, int32(100*p+2*k))
		}
		set.Attributes.Offsets = append(set.Attributes.Offsets, len(set.Attributes.Index))
	}
	net, err := sparse.NewChain(4000, 0, 3, nets.EdgesNone)
	cudatest.Must(t, err)
	var batch structured.Batch
	examples := []int{1, 4}
	batch.Reset(set, examples)
	w, v, grad := cudatest.Vector(rng, net.Dim(), 1), new(structured.Marginals), make([]float32, net.Dim())
	v.Resize(&batch, net.Form())
	copy(v.Parts[0].Values, cudatest.Vector(rng, len(v.Parts[0].Values), 1))
	worker := net.NewWorker()
	cudatest.Must(t, worker.Score(w, &batch, new(structured.Potentials)))
	cudatest.Must(t, worker.Pullback(v, grad))
	cudatest.Near(t, "gradient", runSparse(d, set, net, examples, w, v, 2, 10, false).grad, grad, 1e-6)
}

// A small batch of a large data set is pulled back through its own attributes, however few there are; a large one
// through all lists.
func TestSmallBatchesDoNotScanAllData(t *testing.T) {
	d := cudatest.Device(t)
	rng := rand.New(rand.NewPCG(8, 1))
	set, net := cudatest.SparseCase(t, rng, 3, 50, 0, nets.EdgesNone, true, 400, 4, 0, 2, 300, 9)
	for _, c := range []struct {
		examples     []int
		rows         int
		scans, sorts int
	}{{[]int{5, 1, 3}, 16, 0, 1}, {[]int{0, 3}, 408, 1, 0}} {
		var batch structured.Batch
		batch.Reset(set, c.examples)
		w, v, grad := cudatest.Vector(rng, net.Dim(), 1), marginals(rng, &batch, 3, false), make([]float32, net.Dim())
		worker := net.NewWorker()
		cudatest.Must(t, worker.Score(w, &batch, new(structured.Potentials)))
		cudatest.Must(t, worker.Pullback(v, grad))
		scans, sorts := d.Launches("transpose_sum"), d.Launches("inverse_sum")
		cudatest.Near(t, "gradient", runSparse(d, set, net, c.examples, w, v, 3, c.rows, false).grad, grad, 1e-5)
		if scans, sorts = d.Launches("transpose_sum")-scans, d.Launches("inverse_sum")-sorts; scans != c.scans ||
			sorts != c.sorts {
			t.Errorf("%d rows of %d: %d scans and %d sorts, expected %d and %d", c.rows, set.Positions(),
				scans, sorts, c.scans, c.sorts)
		}
	}
}
