package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/cuda"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// sparseInputs gives a data set attributes; those of low number are frequent.
func sparseInputs(rng *rand.Rand, positions, attributes, most int, values bool) *structured.Sparse {
	x := &structured.Sparse{Offsets: []int{0}}
	for range positions {
		for range rng.IntN(most + 1) {
			u := rng.Float64()
			x.Index = append(x.Index, int32(float64(attributes)*u*u*u))
			if values {
				x.Value = append(x.Value, float32(rng.NormFloat64()))
			}
		}
		x.Offsets = append(x.Offsets, len(x.Index))
	}
	return x
}

// sparseCase is a data set and a linear scorer of it.
func sparseCase(t testing.TB, rng *rand.Rand, labels, nodes, edges int, kind string, values bool, lengths ...int) (*structured.Dataset, *sparse.Linear) {
	set := chainData(rng, labels, lengths...)
	set.Attributes = sparseInputs(rng, set.Positions(), nodes, 40, values)
	if edges > 0 {
		set.EdgeAttributes = sparseInputs(rng, set.Positions(), edges, 3, values)
		for _, p := range set.Offsets[:set.Len()] { // none where a chain starts
			if p == set.Positions() {
				continue
			}
			x := set.EdgeAttributes
			lo, hi := x.Offsets[p], x.Offsets[p+1]
			x.Index = slices.Delete(x.Index, lo, hi)
			if values {
				x.Value = slices.Delete(x.Value, lo, hi)
			}
			for q := p + 1; q < len(x.Offsets); q++ {
				x.Offsets[q] -= hi - lo
			}
		}
	}
	net, err := sparse.NewChain(nodes, edges, labels, kind)
	if err != nil {
		t.Fatal(err)
	}
	return set, net
}

func normals(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// marginals returns random numbers in the shape of a batch's marginals, zero where chains start, and at every other position.
func marginals(rng *rand.Rand, batch *structured.Batch, labels int, perPosition bool) *structured.Marginals {
	all := new(structured.Marginals)
	all.Resize(batch, chains.Form(labels, perPosition))
	v := chains.In(all)
	copy(v.Node, normals(rng, len(v.Node)))
	copy(v.Edge, normals(rng, len(v.Edge)))
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

// scored is what a scorer on the device leaves, with capacities beyond the batch.
type scored struct{ node, edge, grad []float32 }

func runSparse(d *cuda.Device, set *structured.Dataset, net *sparse.Linear, examples []int, w []float32, pulled *structured.Marginals,
	count, rows int, captured bool) scored {
	data := cuda.NewData(d, set)
	s := cuda.NewSparseLinear(net, data)
	longest := 0
	for i := range set.Len() {
		longest = max(longest, set.Length(i))
	}
	v, batch := chains.In(pulled), cuda.NewBatch(data, count, rows, longest)
	y := v.Y
	if err := s.Reserve(batch); err != nil {
		return scored{}
	}
	θ := &cuda.Chains{B: count, N: rows, Y: y, Longest: longest, Offsets: batch.Offsets, PerPosition: v.PerPosition}
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
	θ.Node, θ.Edge = cuda.New[float32](d, rows*y, "θ"), cuda.New[float32](d, size, "θ")
	weights, grad := uploaded(d, w), cuda.New[float32](d, len(w), "a gradient")
	node, edge := uploaded(d, slices.Concat(v.Node, make([]float32, rows*y-len(v.Node)))), uploaded(d, edges)
	all := func() {
		cuda.Zero(d, grad)
		s.Score(weights, batch, θ.Parts())
		s.Pullback(cuda.Parts{node, edge}, grad)
	}
	if captured {
		batch.Set([]int{3}) // what is captured is for any examples
		g := d.Capture(all)
		batch.Set(examples)
		d.Replay(g)
		d.Replay(g)
	} else {
		batch.Set(examples)
		all()
	}
	out := scored{download(d, θ.Node), download(d, θ.Edge), download(d, grad)}
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
			set, net := sparseCase(t, rng, c.labels, 2000, c.edges, c.kind, c.values, 400, 4, 0, 2, 300, 9, 1, 30, 13)
			var batch structured.Batch
			batch.Reset(set, c.examples)
			w, v := normals(rng, net.Dim()), marginals(rng, &batch, c.labels, c.edges > 0)
			var θ structured.Potentials
			worker, grad := net.NewWorker(), make([]float32, net.Dim())
			if err := worker.Score(w, &batch, &θ); err != nil {
				t.Fatal(err)
			}
			if err := worker.Pullback(v, grad); err != nil {
				t.Fatal(err)
			}
			first := runSparse(d, set, net, c.examples, w, v, c.chains, c.rows, false)
			near(t, "node potentials", first.node[:len(θ.Parts[0].Values)], θ.Parts[0].Values, 1e-5)
			near(t, "edge potentials", first.edge[:len(θ.Parts[1].Values)], θ.Parts[1].Values, 1e-5)
			near(t, "gradient", first.grad, grad, 1e-5)
			second := runSparse(d, set, net, c.examples, w, v, c.chains, c.rows, true)
			if !slices.Equal(first.grad, second.grad) || !slices.Equal(first.node, second.node) || !slices.Equal(first.edge, second.edge) {
				t.Error("a replayed graph gives other bits")
			}
		})
	}
}

// Lists have room for a batch that has as much as one can have: the examples with most, all rows moved.
func TestListsTakeAFullBatch(t *testing.T) {
	d := cudatest.Device(t)
	rng := rand.New(rand.NewPCG(12, 1))
	set := chainData(rng, 3, 5, 5, 5, 5, 5, 5)
	set.Attributes = &structured.Sparse{Offsets: []int{0}}
	for p := range set.Positions() {
		for k := range []int{30, 40, 30, 30, 40, 30}[p/5] {
			set.Attributes.Index = append(set.Attributes.Index, int32(100*p+2*k))
		}
		set.Attributes.Offsets = append(set.Attributes.Offsets, len(set.Attributes.Index))
	}
	net, err := sparse.NewChain(4000, 0, 3, nets.EdgesNone)
	must(t, err)
	var batch structured.Batch
	examples := []int{1, 4}
	batch.Reset(set, examples)
	w, v, grad := normals(rng, net.Dim()), new(structured.Marginals), make([]float32, net.Dim())
	v.Resize(&batch, net.Form())
	copy(v.Parts[0].Values, normals(rng, len(v.Parts[0].Values)))
	worker := net.NewWorker()
	must(t, worker.Score(w, &batch, new(structured.Potentials)))
	must(t, worker.Pullback(v, grad))
	near(t, "gradient", runSparse(d, set, net, examples, w, v, 2, 10, false).grad, grad, 1e-6)
}
