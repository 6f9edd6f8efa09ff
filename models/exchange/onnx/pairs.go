package onnx

import (
	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Rows of pairs of positions are [B·T·T], row (d, h) of an example for dependent d and head h, or for source item d and
// the target item at position h. Rows of edges are [B·E].

func (in *inputs) sources() string {
	return in.input(inputSources, format.Int64, dimBatch)
}

func (n *network) edgeFeatures() string {
	return n.input(inputEdges, format.Float, dimBatch, dimEdges, n.shape.EdgeDim)
}

func (n *network) ends() string { return n.input(inputEnds, format.Int64, dimBatch, dimEdges, 2) }

// pairSize returns B, T, T or B, E.
func (n *network) pairSize() string {
	return n.once("pair size", func() string {
		if !n.flow.Needs.Edges {
			return n.concat(0, n.size(), n.slice(n.size(), 0, 1, 2))
		}
		x := ""
		if n.shape.EdgeDim > 0 {
			x = n.edgeFeatures()
		} else {
			x = n.ends()
		}
		return n.slice(n.of("Shape", x), 0, 0, 2)
	})
}

func (n *network) pairCount() string {
	return n.once("pair count", func() string {
		return n.add("ReduceProd", []string{n.pairSize()}, integer("keepdims", 1))
	})
}

// paddedPairs gives rows of pairs the shape [B×T×T×cols], and rows of edges [B×E×cols].
func (n *network) paddedPairs(x string, cols int) string {
	return n.of("Reshape", x, n.concat(0, n.pairSize(), n.ints(cols)))
}

// diagonal returns [1×T×T×1]: whether a pair is one of a position with itself, which stands for the root.
func (n *network) diagonal() string {
	return n.once("diagonal", func() string {
		same := n.of("Equal", n.of("Unsqueeze", n.positions(), n.ints(1)), n.positions())
		return n.of("Unsqueeze", same, n.ints(0, 3))
	})
}

func (n *network) gatherPairs(at int, s *graph.Step, o graph.Gather) {
	x, c, f := s.Args[0], o.Cols, n.flow
	switch o.Index.Kind {
	case graph.IndexDependents:
		y := n.of("Unsqueeze", n.padded(n.in(x, f.Rows, c), c), n.ints(2))
		n.set(at, n.reshape(n.of("Expand", y, n.concat(0, n.pairSize(), n.ints(c))), -1, c), f.Pairs, c)
	case graph.IndexHeads:
		y := n.of("Unsqueeze", n.padded(n.in(x, f.Rows, c), c), n.ints(1))
		y = n.of("Where", n.diagonal(), n.float(0), y)
		n.set(at, n.reshape(n.of("Expand", y, n.concat(0, n.pairSize(), n.ints(c))), -1, c), f.Pairs, c)
	case graph.IndexDistances:
		y := n.transpose(n.padded(n.in(x, f.Rows, graph.Distances, c), graph.Distances, c), 1, 2, 0, 3) // [T×Distances×B×C]
		y = n.add("GatherND", []string{y, n.of("Unsqueeze", n.distanceClasses(), n.ints(2))}, integer("batch_dims", 1))
		n.set(at, n.reshape(n.transpose(y, 2, 0, 1, 3), -1, c), f.Pairs, c) // of [T×T×B×C]
	default:
		side := 0
		if o.Index.Kind == graph.IndexSecondEnds {
			side = 1
		}
		ends := n.slice(n.ends(), 2, side, side+1)
		y := n.add("GatherND", []string{n.padded(n.in(x, f.Rows, c), c), ends}, integer("batch_dims", 1))
		n.set(at, n.reshape(y, -1, c), f.Pairs, c)
	}
}

// distanceClasses returns [T×T]: the class of the distance h − d.
func (n *network) distanceClasses() string {
	return n.once("distance classes", func() string {
		const far = 15 // beyond the start of the last class
		classes := make([]int, 2*far+1)
		for i := range classes {
			classes[i] = graph.DistanceClass(i - far)
		}
		distance := n.of("Sub", n.positions(), n.of("Unsqueeze", n.positions(), n.ints(1)))
		near := n.of("Min", n.of("Max", distance, n.int(-far)), n.int(far))
		return n.gather(n.ints(classes...), n.of("Add", near, n.int(far)), 0)
	})
}

// bilinear translates the scores of pairs: out[(d,h), k] = Σ_e x[d, k·E+e]·z[h, e], with root in place of z[h] if h =
// d.
func (n *network) bilinear(at int, s *graph.Step, o graph.Bilinear) {
	x, z := n.padded(n.in(s.Args[0], n.flow.Rows, o.K*o.E), o.K, o.E), n.padded(n.in(s.Args[1], n.flow.Rows, o.E), o.E)
	root := n.of("MatMul", x, n.in(s.Args[2], o.E, 1))                     // [B×T×K×1]
	root = n.transpose(root, 0, 1, 3, 2)                                   // [B×T×1×K]
	pairs := n.of("Where", n.diagonal(), root, n.products(x, z, o.K, o.E)) // [B×T×T×K]
	n.set(at, n.reshape(pairs, -1, o.K), n.flow.Pairs, o.K)
}

// align translates the scores of pairs of source and target items.
func (n *network) align(at int, s *graph.Step, o graph.Align) {
	x, z := n.padded(n.in(s.Args[0], n.flow.Rows, o.K*o.E), o.K, o.E), n.padded(n.in(s.Args[1], n.flow.Rows, o.E), o.E)
	n.set(at, n.reshape(n.products(x, z, o.K, o.E), -1, o.K), n.flow.Pairs, o.K)
}

// products returns [B×T×T×K] of x [B×T×K×E] and z [B×T×E]: Σ_e x[d, k, e]·z[h, e].
func (n *network) products(x, z string, k, e int) string {
	rows := n.of("Reshape", x, n.concat(0, n.slice(n.size(), 0, 0, 1), n.ints(-1, e)))
	y := n.padded(n.of("MatMul", rows, n.transpose(z, 0, 2, 1)), k, -1) // [B×T×K×T]
	return n.transpose(y, 0, 1, 3, 2)
}

// rowsOf says what the rows of a part of the potentials are, for those who read the file.
func rowsOf(part structured.Shape) string {
	switch {
	case part.Rows == structured.Tied:
		return "shared by all examples"
	case part.Rows == structured.Edges:
		return "edges"
	case part.Rows == structured.Sources:
		return "source items"
	case graph.PairTable(part.Rows):
		return "pairs of positions"
	}
	return "positions"
}
