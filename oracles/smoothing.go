package oracles

import "github.com/dsp-go/dsp/structured"

// Kind is how a max is smoothed.
type Kind int

// The smoothings of Pillutla et al. 2019, section 3.
const (
	None    Kind = iota // the max itself
	L2                  // ℓ₂ on the K best outputs
	Entropy             // log-sum-exp at temperature μ
)

// Smoothing is a smoothed max h_μ over outputs.
type Smoothing struct {
	Kind Kind
	Mu   float64 // μ > 0 (ignored by None)
	K    int     // L2: outputs that share the weight; 0 grows K until the smoothing is exact, up to MaxK
	MaxK int     // L2 with K = 0: the cap; 0 means 64
}

// Answer is what a smoothed oracle says about each chain of a batch.
type Answer struct {
	Value []float64            // [B] h_μ(θ)
	Max   []float64            // [B] max_y ⟨θ,1_y⟩; with Entropy only where asked for
	U     structured.Marginals // ∇h_μ(θ), the marginals u
	Exact []bool               // [B] L2: the answer is that of the smoothing over all outputs (Prop. 4); true for the others
	best  KBest
	y     []int32
}
