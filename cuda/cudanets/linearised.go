package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets/graph"
)

// Linearised is the first-order model of a network at w_k, as nets.Linearised is:
//
//	θ(w) = θ(w_k) + J·(w − w_k),   J = ∂θ/∂w at w_k.
type Linearised struct {
	*Executor
	wk, direction device.Array[float32]
	difference    device.Array[uint64] // step of elementwise.cu that computes a difference
}

var _, _ Scorer = (*Executor)(nil), (*Linearised)(nil)

// NewLinearised returns the model of the executor's network. Call MoveTo before Score. The executor must not be used
// for anything else.
func NewLinearised(e *Executor) *Linearised {
	const what = "the linearised network's weights"
	entry := func(s graph.Space) operand { return operand{mode: modeEntry, space: s} }
	s := step{code: codes["-"], flags: stepStore, x: entry(graph.SpaceWeights), y: entry(graph.SpaceLiterals),
		space: graph.SpaceDirection}
	return &Linearised{
		Executor:   e,
		wk:         own[float32](&e.owned, e.Dim(), what),
		direction:  own[float32](&e.owned, e.Dim(), what),
		difference: ownCopy(&e.owned, s.encode(nil), what),
	}
}

// MoveTo copies w to the point w_k.
func (l *Linearised) MoveTo(w device.Array[float32]) { device.Copy(l.device, l.wk, w) }

func (l *Linearised) Affine() bool { return true }

// Score computes θ(w_k) + J(w − w_k).
func (l *Linearised) Score(w device.Array[float32], b *resident.Batch, θ Parts) {
	l.Executor.Score(l.wk, b, θ)
	l.elementwise(l.difference, l.Dim(), 0, device.Array[uint64]{}, device.Array[uint64]{}, [spaces]device.Array[float32]{
		graph.SpaceWeights: w, graph.SpaceLiterals: l.wk, graph.SpaceDirection: l.direction,
	})
	l.addPush(l.direction, θ)
}
