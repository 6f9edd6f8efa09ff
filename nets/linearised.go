package nets

import (
	"fmt"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
)

// Linearised is a network replaced by its first-order model at w_k, an affine scorer:
//
//	θ(w) = θ(w_k) + J·(w − w_k),   J = ∂θ/∂w at w_k.
//
// It is what the prox-linear method optimises (Pillutla et al. 2019, section 4). J stays the same for every w.
type Linearised struct {
	net *Net
	wk  []float32
}

// Linearise returns the model of net at wk. It copies wk.
func Linearise(net *Net, wk []float32) *Linearised {
	return &Linearised{net, append([]float32(nil), wk...)}
}

// Net returns the network that was linearised.
func (l *Linearised) Net() *Net { return l.net }

// MoveTo sets w_k to w. Existing workers see it at their next Score.
func (l *Linearised) MoveTo(w []float32) { copy(l.wk, w) }

// Dim returns the number of weights.
func (l *Linearised) Dim() int { return l.net.Dim() }

// Form returns the form of the potentials.
func (l *Linearised) Form() structured.Form { return l.net.Form() }

func (l *Linearised) Affine() bool { return true }

// RowTables lists the network's row tables.
func (l *Linearised) RowTables() []RowTable { return l.net.RowTables() }

func (l *Linearised) RowsRead(k int, batch *structured.Batch, rows []int32) []int32 {
	return l.net.RowsRead(k, batch, rows)
}

// NewWorker returns a worker, whose dropout masks are off; see NewLinearisedWorker.
func (l *Linearised) NewWorker() Worker { return l.NewLinearisedWorker() }

// NewLinearisedWorker returns a worker with all of its methods.
func (l *Linearised) NewLinearisedWorker() *LinearisedWorker {
	return &LinearisedWorker{model: l, net: l.net.NewNetWorker(), direction: make([]float32, len(l.wk))}
}

// LinearisedWorker runs a Linearised.
type LinearisedWorker struct {
	model     *Linearised
	net       *NetWorker
	direction []float32 // w − w_k, as far as the push-forward reads it
	tangent   structured.Potentials
}

// Score computes θ(w_k) + J(w − w_k), without dropout.
func (w *LinearisedWorker) Score(weights []float32, batch *structured.Batch, θ *structured.Potentials) error {
	return w.ScoreDropout(weights, 0, batch, θ)
}

// ScoreDropout implements DropoutWorker. The model is affine for one seed.
func (w *LinearisedWorker) ScoreDropout(weights []float32, seed uint64, batch *structured.Batch,
	θ *structured.Potentials) error {
	if len(weights) != len(w.direction) {
		return fmt.Errorf("nets: %d weights given; the linearised net has %d", len(weights), len(w.direction))
	}
	if err := w.net.ScoreDropout(w.model.wk, seed, batch, θ); err != nil {
		return err
	}
	w.step(weights)
	if err := w.net.PushForward(w.direction, &w.tangent); err != nil {
		return err
	}
	for k := range θ.Parts {
		to := θ.Parts[k].Values
		kernels.Rows.Add(to, to, w.tangent.Parts[k].Values)
	}
	return nil
}

// step sets the direction to w − w_k where the push-forward of the batch reads it: only a few rows of a table.
func (w *LinearisedWorker) step(weights []float32) {
	w.net.prog.DirectionRead(w.net.m, func(offset, n int) {
		kernels.Rows.Sub(w.direction[offset:offset+n], weights[offset:], w.model.wk[offset:])
	})
}

// Pullback adds Jᵀv to grad.
func (w *LinearisedWorker) Pullback(v *structured.Marginals, grad []float32) error {
	return w.net.Pullback(v, grad)
}
