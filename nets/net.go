// Package nets turns inputs into potentials. A network is a Gorgonia expression graph with Gorgonia's symbolic
// gradient, which nets/graph lowers, once per size of a batch, to a small program. Besides score (w → θ) and pullback
// (v → Jᵀv) a program computes the push-forward (ẇ → Jẇ), and with it the network linearised at a point, which the
// prox-linear method optimises.
//
// Make makes the network that a Config chooses: a preset, a stack of layers (stack.go), or a registered network
// (register.go). Build makes a custom network from a graph.Spec. Each returns a Net. Its weights are one flat vector,
// whose layout is Net.Layout. Net.Program returns the program for a size, so that other devices can run it. Linear
// scorers of sparse inputs are in nets/sparse, the inner loops of both in nets/kernels, checks of networks in
// nets/netstest.
package nets

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Net is a network: a Scorer that runs programs lowered from its Gorgonia graph.
type Net struct {
	spec     graph.Spec
	input    graph.Input
	layout   graph.Layout   // the parameters of the Spec, then those of the encoder, if the network has one
	own      graph.Layout   // the parameters of the Spec
	shape    *graph.Program // the smallest one, for facts that do not depend on the size
	sums     []rowSum       // the parts of the potentials, if they are sums over one row of inputs
	mu       sync.Mutex
	programs map[graph.Size]*graph.Program

	scratch                       sync.Once // ScratchFloats: what each row adds to the arena of a program
	perRow, perPair, perCharacter float64
}

// mostPrograms bounds the programs that are kept: there is one for each size of a batch. Training and usual requests
// have far fewer.
const mostPrograms = 1024

// keep adds a program to those that are kept. If there are too many, the others are compiled again when they are
// needed.
func keep(programs map[graph.Size]*graph.Program, size graph.Size, p *graph.Program) {
	if len(programs) >= mostPrograms {
		clear(programs)
	}
	programs[size] = p
}

// Build checks a Spec for inputs of the given shape and makes a Net of it.
func Build(spec graph.Spec, input graph.Input) (*Net, error) {
	if err := input.Vectors.Check(input.Vocab); err != nil {
		return nil, err
	}
	if m := input.Map; m.Len() > input.Dim {
		return nil, structured.BadInput("maps of %s have %d numbers, the data has %d features per position", m, m.Len(),
			input.Dim)
	}
	layout, err := graph.NewLayout(spec.Params)
	if err != nil {
		return nil, fmt.Errorf("nets: network %q: %w", spec.Name, err)
	}
	n := &Net{spec: spec, input: input, own: layout, programs: map[graph.Size]*graph.Program{}}
	if n.layout, err = n.withEncoder(); err != nil {
		return nil, err
	}
	least := graph.Size{Rows: graph.Bucket(0), Pairs: graph.PairBucket(0), Chars: graph.CharBucket(0)}
	if n.shape, err = graph.Compile(&n.spec, layout, input, least); err != nil {
		return nil, err
	}
	if !n.shape.Needs.Pairs {
		n.shape.Pairs = 0
	}
	if !n.shape.Needs.Characters {
		n.shape.Chars = 0
	}
	n.programs[n.shape.Size] = n.shape
	if n.encodes() && !n.shape.Needs.Encoded {
		return nil, structured.BadInput("net %s does not read the rows of the encoder", spec.Name)
	}
	return n, nil
}

// Name returns the name of the Spec.
func (n *Net) Name() string { return n.spec.Name }

// Dim returns the number of weights.
func (n *Net) Dim() int { return n.layout.Dim() }

// Form returns the form of the potentials.
func (n *Net) Form() structured.Form { return n.shape.Form }

// Affine reports whether θ is affine in w, which holds if the program computes Jẇ without reading w.
func (n *Net) Affine() bool { return n.shape.Affine && !n.encodes() }

// Spec returns what the network was built from.
func (n *Net) Spec() *graph.Spec { return &n.spec }

// Input says what the network reads at each position.
func (n *Net) Input() graph.Input { return n.input }

// Needs says what the programs read of a batch.
func (n *Net) Needs() graph.Needs { return n.shape.Needs }

// Layout says where each parameter lives in w.
func (n *Net) Layout() graph.Layout { return n.layout }

// Init draws initial weights.
func (n *Net) Init(seed uint64) []float32 {
	w := make([]float32, n.Dim())
	for i, p := range n.params() {
		if p.Init != nil {
			p.Init(rand.New(rand.NewPCG(seed, uint64(i))), p.Shape, n.layout[i].Of(w))
		}
	}
	return w
}

// Program returns the program for a size. The first call for a size compiles it.
func (n *Net) Program(size graph.Size) (*graph.Program, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if p, ok := n.programs[size]; ok {
		return p, nil
	}
	p, err := graph.Compile(&n.spec, n.own, n.input, size)
	if err != nil {
		return nil, err
	}
	keep(n.programs, size, p)
	return p, nil
}

// Size returns the size of the program for a batch.
func (n *Net) Size(batch *structured.Batch) graph.Size {
	return n.shape.Needs.Size(batch)
}

// CheckTables refuses examples without the rows that the potentials need: an example of n positions has n·n rows of
// every table of pairs; one of n source and m target items has n·m, and n rows of the table of sources; one with a
// graph has a row for each edge.
//
// Positions that are cells of a grid have to fill it.
func (n *Net) CheckTables(data *structured.Dataset, examples []int) error {
	if len(n.shape.Needs.Grids) > 0 {
		for _, e := range examples {
			if length := data.Length(e); length != 0 && length != n.input.Grid.Cells() {
				return structured.BadInput("%s: %d positions; the network reads grids of %s cells",
					data.Where(e), length, n.input.Grid)
			}
		}
	}
	var sources *structured.Table
	if n.shape.Needs.Split {
		if sources = data.Table(structured.Sources); sources == nil {
			return structured.BadInput("%s has no table of rows %q: the network scores pairs of source and target items",
				data.Name, structured.Sources)
		}
		for _, e := range examples {
			if rows := sources.Offsets[e+1] - sources.Offsets[e]; rows > data.Length(e) {
				return structured.BadInput("%s: %d rows of table %q for %d positions; expected one for each source item",
					data.Where(e), rows, structured.Sources, data.Length(e))
			}
		}
	}
	if n.shape.Needs.Edges {
		return data.CheckGraphs(examples)
	}
	for _, part := range n.shape.Form.Parts {
		if !graph.PairTable(part.Rows) {
			continue
		}
		t := data.Table(part.Rows)
		if t == nil {
			return structured.BadInput("%s has no table of rows %q, which the network scores", data.Name, part.Rows)
		}
		for _, e := range examples {
			first, second, of := data.Length(e), data.Length(e), "positions"
			if sources != nil {
				first = sources.Offsets[e+1] - sources.Offsets[e]
				second, of = second-first, "a source and a target item"
			}
			if rows := t.Offsets[e+1] - t.Offsets[e]; rows != first*second {
				return structured.BadInput("%s: %d rows of table %q; expected %d×%d, one for each pair of %s", data.Where(e), rows,
					part.Rows, first, second, of)
			}
		}
	}
	return nil
}
