package nets

import (
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// A network whose input has an encoder is made of two: the encoder computes dense inputs of positions, and the programs
// of the Spec, which know the first weights only, compute potentials from them. Cotangents and tangents of those inputs
// join the two.

// encodes reports whether an encoder's weights are among those of the network.
func (n *Net) encodes() bool { return n.input.Encoder != nil }

// Tunes reports whether a scorer is a network that trains a pretrained encoder. Its workers need much memory.
func Tunes(s Scorer) bool {
	n, ok := s.(*Net)
	return ok && n.encodes()
}

// Adapts reports whether a scorer is a network that trains adapters of a pretrained encoder, and not its weights.
func Adapts(s Scorer) bool {
	if !Tunes(s) {
		return false
	}
	e, ok := s.(*Net).input.Encoder.(interface{ Adapted() bool })
	return ok && e.Adapted()
}

// params lists all parameters.
func (n *Net) params() []graph.Param {
	if !n.encodes() {
		return n.spec.Params
	}
	return slices.Concat(n.spec.Params, n.input.Encoder.Params())
}

// withEncoder returns the layout of all parameters.
func (n *Net) withEncoder() (graph.Layout, error) {
	if !n.encodes() {
		return n.own, nil
	}
	if wide := n.input.Encoder.Width(); wide != n.input.Encoded || n.input.Own() < 0 {
		return nil, fmt.Errorf("nets: an encoder of %d numbers per position; the input has %d of %d", wide,
			n.input.Encoded, n.input.Dim)
	}
	layout, err := graph.NewLayout(n.params())
	if err != nil {
		return nil, fmt.Errorf("nets: network %q: %w", n.spec.Name, err)
	}
	return layout, nil
}

// encoded is what a worker has of an encoder. A nil *encoded does nothing.
type encoded struct {
	graph.EncoderWorker
	own     int // weights of the Spec
	width   int
	rows    int       // positions of the batch
	values  []float32 // [padded positions × Width]
	tangent []float32
}

func (n *Net) newEncoded() *encoded {
	if !n.encodes() {
		return nil
	}
	return &encoded{EncoderWorker: n.input.Encoder.NewWorker(), own: n.own.Dim(), width: n.input.Encoded}
}

// load computes the dense inputs of the batch that m has loaded.
func (e *encoded) load(m *graph.Machine, p *graph.Program, w []float32, batch *structured.Batch) error {
	if e == nil {
		return nil
	}
	e.rows = batch.Positions()
	e.values = vec.Grow(e.values, p.Rows*e.width)
	clear(e.values[e.rows*e.width:])
	m.Mem[graph.SpaceEncoded] = e.values
	return e.Encode(w[e.own:], m.Seed, batch, e.values[:e.rows*e.width])
}

// pullback adds what the cotangent of the dense inputs adds to the gradient, after the program's pullback.
func (e *encoded) pullback(m *graph.Machine, p *graph.Program, grad []float32) error {
	if e == nil {
		return nil
	}
	return e.Pullback(m.At(p.Encoded)[:e.rows*e.width], grad[e.own:])
}

// push computes the tangents of the dense inputs, before the program's push-forward.
func (e *encoded) push(m *graph.Machine, ẇ []float32) error {
	if e == nil {
		return nil
	}
	e.tangent = vec.Grow(e.tangent, len(e.values))
	clear(e.tangent)
	m.Mem[graph.SpaceEncodedDirection] = e.tangent
	return e.Push(ẇ[e.own:], e.tangent[:e.rows*e.width])
}
