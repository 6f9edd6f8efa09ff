package nets

import (
	"math/rand/v2"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
)

// recurrent adds a layer with a state of the given units in each direction. From its input x it computes
//
//	a = σ(x·forget + bias),  c = x·candidate + bias,  h_t = a_t⊙h_{t∓1} + (1−a_t)⊙c_t,
//
// as minGRU does (Feng et al. 2024); half of the columns run in each direction. The output is r⊙h + (1−r)⊙x·skip with r
// = σ(x·reset + bias), a highway as in SRU (Lei et al. 2018), then dropout. If x has as many columns as h, x takes the
// place of x·skip.
func (b body) recurrent(name string, units int, c Config) body {
	wide := 2 * units
	l := recurrentLayer{name, wide, b.width != wide}
	matrix := func(what string) graph.Param {
		return graph.Param{Name: name + "." + what, Shape: []int{b.width, wide}, Init: graph.Glorot}
	}
	bias := func(what string, init graph.Init) graph.Param {
		return graph.Param{Name: name + "." + what + "-bias", Shape: []int{wide}, Init: init}
	}
	params := []graph.Param{matrix("forget"), bias("forget", remember), matrix("candidate"), bias("candidate", nil),
		matrix("reset"), bias("reset", nil)}
	if l.project {
		params = append(params, matrix("skip"))
	}
	return b.then(wide, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		y, err := l.apply(g, x)
		if err != nil {
			return nil, err
		}
		return g.Dropout(y, c.Dropout)
	}, params...)
}

// remember draws the biases of forget gates such that the gates start between 0.7 and 0.9, so that the memory spans 3
// to 10 positions.
func remember(rng *rand.Rand, _ []int, w []float32) {
	const lo, hi = 0.8473, 2.1972 // log(0.7/0.3), log(0.9/0.1)
	for i := range w {
		w[i] = float32(lo + (hi-lo)*rng.Float64())
	}
}

type recurrentLayer struct {
	name    string
	wide    int  // columns of the output
	project bool // the input has another number of columns
}

func (l recurrentLayer) apply(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
	h, err := l.state(g, x)
	if err != nil {
		return nil, err
	}
	skip := x
	if l.project {
		if skip, err = gorgonia.Mul(x, g.Param(l.name+".skip")); err != nil {
			return nil, err
		}
	}
	reset, err := l.gate(g, x, "reset")
	if err != nil {
		return nil, err
	}
	return interpolate(reset, h, skip)
}

// state returns h.
func (l recurrentLayer) state(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
	forget, err := l.gate(g, x, "forget")
	if err != nil {
		return nil, err
	}
	candidate, err := l.dense(g, x, "candidate")
	if err != nil {
		return nil, err
	}
	kept, err := gorgonia.HadamardProd(forget, candidate)
	if err != nil {
		return nil, err
	}
	fresh, err := gorgonia.Sub(candidate, kept)
	if err != nil {
		return nil, err
	}
	return g.BidirectionalRecurrence(forget, fresh)
}

func (l recurrentLayer) gate(g *graph.Graph, x *gorgonia.Node, what string) (*gorgonia.Node, error) {
	z, err := l.dense(g, x, what)
	if err != nil {
		return nil, err
	}
	return g.Activate(z, graph.Sigmoid)
}

func (l recurrentLayer) dense(g *graph.Graph, x *gorgonia.Node, what string) (*gorgonia.Node, error) {
	return g.Dense(x, g.Param(l.name+"."+what), g.Param(l.name+"."+what+"-bias"))
}

// interpolate returns gate⊙x + (1−gate)⊙y.
func interpolate(gate, x, y *gorgonia.Node) (*gorgonia.Node, error) {
	d, err := gorgonia.Sub(x, y)
	if err != nil {
		return nil, err
	}
	if d, err = gorgonia.HadamardProd(gate, d); err != nil {
		return nil, err
	}
	return gorgonia.Add(y, d)
}
