package cudanets

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/structured"
)

// Parts are the parts of a batch's potentials, or of a cotangent, on the device, in the order of their form. A part has
// as many rows as the batch's capacity, or one if it is tied.
type Parts []device.Array[float32]

// Scorer is a nets.Scorer on a device: a map from weights w [Dim] and the inputs of a batch to potentials.
type Scorer interface {
	// Dim returns the number of weights.
	Dim() int
	// Form returns the form of the potentials.
	Form() structured.Form
	// Affine reports whether θ is an affine function of w.
	Affine() bool

	// Reserve prepares for batches of b's capacities: it compiles and allocates. It returns an error for what cannot
	// run on the device. Call it outside of captured graphs; Score and Pullback may be part of them.
	Reserve(b *resident.Batch) error
	// Score computes the potentials θ of the batch's chosen examples at w.
	Score(w device.Array[float32], b *resident.Batch, θ Parts)
	// Pullback adds Jᵀv to grad [Dim], with J = ∂θ/∂w at the weights and batch of the last Score. A tied part of v
	// holds the sum over examples. In v, padding rows are zero, and so is a per-position edge where a chain starts.
	Pullback(v Parts, grad device.Array[float32])
}

// ChainShape returns the number of labels of a form of chains, and whether edges are per position.
func ChainShape(form structured.Form) (labels int, perPosition bool) {
	return form.Parts[0].Width, form.Parts[1].Rows != structured.Tied
}
