package nets

import (
	"fmt"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// PreciseScorer is a Scorer whose potentials are sums of weights times inputs, so that it can also take these sums in
// float64. Then a potential has one rounding to float32, whatever was added, and the gradient of all examples has none.
// Certificates need it: a sum in float32 errs in proportion to Σ|x_j w_j|, which can be any multiple of the sum itself.
type PreciseScorer interface {
	Scorer
	// NewPreciseWorker returns a worker, or nil if this scorer cannot take its sums in float64.
	NewPreciseWorker() PreciseWorker
}

// PreciseWorker scores and pulls back like a Worker, with sums in float64.
type PreciseWorker interface {
	// ScorePrecisely is Worker.Score with sums in float64. With τ > 0 it scores with the soft thresholds of w (in
	// float32).
	ScorePrecisely(w []float32, τ float32, batch *structured.Batch, θ *structured.Potentials) error
	// PullbackPrecisely is Worker.Pullback into float64, for the batch of the last ScorePrecisely.
	PullbackPrecisely(v *structured.Marginals, grad []float64) error
}

// NewPreciseWorker returns a worker that sums in float64, or nil if the scorer cannot.
func NewPreciseWorker(s Scorer) PreciseWorker {
	if p, ok := s.(PreciseScorer); ok {
		return p.NewPreciseWorker()
	}
	return nil
}

// rowSum is a part of the potentials of net linear. Every row is a sum over one row x of inputs, θ_r = b + x W + e E,
// where e says whether a chain starts or ends at the position.
type rowSum struct {
	inputs              rowInputs
	weights, bias, ends graph.Array // W, b and E; an array without a shape is absent
}

// rowInputs is a kind of inputs.
type rowInputs int

const (
	noInputs rowInputs = iota
	positionFeatures
	edgeFeatures
	pairAttributes
)

// rowSums says how a linear preset, with the given output layer, sums its potentials; nil if they are not sums over one
// row of inputs.
func (n *Net) rowSums(c Config, out Output) []rowSum {
	if !c.Preset().Linear || c.Window > 1 || c.Submodular != "" || n.input.Encoder != nil {
		return nil
	}
	param := func(name string) graph.Array {
		for _, a := range n.layout {
			if a.Name == name {
				return a
			}
		}
		return graph.Array{}
	}
	if out.scores() == scoresLabels {
		node := rowSum{positionFeatures, param("node.weight"), param("node.bias"), param("ends")}
		switch c.Edges {
		case EdgesTransition:
			return []rowSum{node, {bias: param("transition")}}
		case EdgesPosition:
			return []rowSum{node, {inputs: positionFeatures, weights: param("edge.weight"), bias: param("edge.bias")}}
		}
		return []rowSum{node, {}}
	}
	var sums []rowSum
	for _, part := range n.Form().Parts {
		sum := rowSum{bias: param(part.Name + ".bias")}
		for _, w := range []struct {
			name   string
			inputs rowInputs
		}{{".weight", positionFeatures}, {".features", edgeFeatures}, {".attributes", pairAttributes}} {
			if a := param(part.Name + w.name); a.Shape != nil {
				sum.inputs, sum.weights = w.inputs, a
			}
		}
		if part.Rows == structured.Tied {
			sum.bias = param(part.Name)
		}
		if part.Rows == structured.Sources && sum.weights.Shape != nil {
			return nil // rows of positions at which others are gathered
		}
		sums = append(sums, sum)
	}
	return sums
}

func (n *Net) NewPreciseWorker() PreciseWorker {
	if n.sums == nil {
		return nil
	}
	return &preciseWorker{NetWorker: n.NewNetWorker()}
}

// preciseWorker uses a NetWorker to read the inputs of batches.
type preciseWorker struct {
	*NetWorker
	soft  []float32 // thresholded weights
	sum   []float64
	sums  []float64 // products of dense inputs and weights, by row
	turn  []float32 // weights, a row per column
	pull  kernels.Outer
	rows  []int32 // with something to pull back
	index []int32 // the inputs of a row that differ from zero
	value []float32
}

func (k *preciseWorker) ScorePrecisely(w []float32, τ float32, batch *structured.Batch,
	θ *structured.Potentials) error {
	if τ > 0 {
		k.soft = vec.Grow(k.soft, len(w))
		vec.Soften(τ, w, k.soft)
		w = k.soft
	}
	if err := k.load(w, batch); err != nil {
		return err
	}
	θ.Resize(batch, k.prog.Form)
	for i := range k.net.sums {
		part, s := &θ.Parts[i], &k.net.sums[i]
		y := part.Width
		k.sum = vec.Grow(k.sum, y)
		products := k.products(s, w, len(part.Values)/y, y)
		for r := range len(part.Values) / y {
			clear(k.sum)
			if products != nil {
				copy(k.sum, products[r*y:])
			}
			if s.bias.Shape != nil {
				for j, x := range s.bias.Of(w) {
					k.sum[j] += float64(x)
				}
			}
			k.eachInput(s, r, func(a graph.Array, index []int32, value []float32) {
				kernels.Sparse.GatherDouble(k.sum, a.Of(w), index, value)
			})
			for j, x := range k.sum {
				part.Values[r*y+j] = float32(x)
			}
		}
	}
	return nil
}

func (k *preciseWorker) PullbackPrecisely(v *structured.Marginals, grad []float64) error {
	if len(grad) != k.net.Dim() {
		return fmt.Errorf("nets: Pullback into %d numbers; the net has %d weights", len(grad), k.net.Dim())
	}
	_, chain := k.prog.Form.Structure.(chains.Chain)
	for i := range k.net.sums {
		part, s := &v.Parts[i], &k.net.sums[i]
		y, start := part.Width, 0
		k.sum, k.rows = vec.Grow(k.sum, y), k.rows[:0]
		for r := range len(part.Values) / y {
			row := part.Values[r*y:][:y]
			if chain && i == 1 && part.Rows != structured.Tied { // no step leads into the first position
				for start < v.Len() && part.Offsets[start] < r {
					start++
				}
				if start < v.Len() && part.Offsets[start] == r {
					continue
				}
			}
			if zero(row) {
				continue
			}
			k.rows = append(k.rows, int32(r))
			widen(k.sum, row)
			if s.bias.Shape != nil {
				to := grad[s.bias.Offset:][:s.bias.Len()]
				for j, x := range k.sum {
					to[j] += x
				}
			}
			k.eachInput(s, r, func(a graph.Array, index []int32, value []float32) {
				kernels.Sparse.ScatterDouble(grad[a.Offset:][:a.Len()], k.sum, index, value)
			})
		}
		k.pullProducts(s, part.Values, y, grad)
	}
	return nil
}

// dense returns the dense inputs that a part multiplies, and how many there are per row; none if it multiplies others.
func (k *preciseWorker) dense(s *rowSum) (x []float32, dim int) {
	switch s.inputs {
	case positionFeatures:
		return k.m.Mem[graph.SpaceFeatures], k.net.input.Dim
	case edgeFeatures:
		return k.m.Mem[graph.SpaceEdges], k.net.input.EdgeDim
	}
	return nil, 0
}

// products returns the products [rows×y] of a part's dense inputs and their weights, or nil if it has none.
func (k *preciseWorker) products(s *rowSum, w []float32, rows, y int) []float64 {
	x, dim := k.dense(s)
	if dim == 0 {
		return nil
	}
	k.turn, k.sums = vec.Grow(k.turn, dim*y), vec.Grow(k.sums, rows*y)
	for d, from := 0, s.weights.Of(w); d < dim; d++ {
		for j, weight := range from[d*y:][:y] {
			k.turn[j*dim+d] = weight
		}
	}
	kernels.Products.Multiply(k.sums, x[:rows*dim], k.turn, dim)
	return k.sums
}

// pullProducts adds the gradient of products, for the rows that have something to pull back.
func (k *preciseWorker) pullProducts(s *rowSum, v []float32, y int, grad []float64) {
	x, dim := k.dense(s)
	if dim == 0 || len(k.rows) == 0 {
		return
	}
	k.pull.Reset(y, dim)
	k.pull.AddRows(kernels.Products, v, x, k.rows, y, dim)
	to := grad[s.weights.Offset:][:dim*y]
	for j := range y {
		for d, sum := range k.pull.Sum[j*dim:][:dim] {
			to[d*y+j] += sum
		}
	}
}

// eachInput calls do for the sparse inputs of row r, and the weights that they multiply: attributes of pairs, and
// whether a chain starts or ends there.
func (k *preciseWorker) eachInput(s *rowSum, r int, do func(a graph.Array, index []int32, value []float32)) {
	if s.inputs == pairAttributes {
		index, value := k.m.PairAttributes(r)
		do(s.weights, index, value)
	}
	if s.ends.Shape != nil {
		k.index, k.value = k.index[:0], k.value[:0]
		for d, x := range k.m.Mem[graph.SpaceBoundary][2*r:][:2] {
			if x != 0 {
				k.index, k.value = append(k.index, int32(d)), append(k.value, x)
			}
		}
		do(s.ends, k.index, k.value)
	}
}

// widen converts to float64.
func widen(to []float64, from []float32) {
	for j, x := range from {
		to[j] = float64(x)
	}
}
