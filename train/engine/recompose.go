package engine

import (
	"context"

	"github.com/dsp-go/dsp/structured/sys/vec"
)

// DualPoint is a point r_i of the marginal polytope for every example: a Memory or active outputs.
type DualPoint interface {
	Load(ln *Lane) // copies r_i into the lane's answers for its batch
}

// RefinedPoint is a DualPoint that knows r_i − 1_{y_i} better than float32 numbers r_i tell it. Where r_i is close to
// the gold output, roundings of r_i are as large as the difference, and an example with a large weight makes much of
// them.
type RefinedPoint interface {
	DualPoint
	Refine(ln *Lane) // corrects the lane's v, which is what Load has copied less the gold outputs
}

// Recomposed is the pullback of a dual point: a linear function of w that is a lower bound on the mean loss.
type Recomposed struct {
	Grad    []float32 // g [Dim]
	Linear  float64   // b, its value at the origin
	Central float64   // b + ⟨g,c⟩, its value at the centre, from a gradient that was not rounded to float32 yet
	Rounded float64   // allowance for rounding in a bound that is linear in g, but for GradientAllowance (rounding.go)
	Blur    float64   // of a pass in float64 (doubles.go), a bound on ‖g − g̃‖ beside what float32 makes of g; else 0, and GradientAllowance is all that is known
}

// Recompose pulls back a dual point, for an affine scorer θ_i = a_i + J_i w: it returns
//
//	g = (1/n) Σ c_i J_iᵀ(r_i − 1_{y_i})  [Dim],    b = (1/n) Σ c_i [⟨r_i, a_i + ℓ_i⟩ − ⟨1_{y_i}, a_i⟩],
//
// the gradient and the value at the origin of the linear lower bound on the mean loss. The weights w at which the
// scorer runs affect only rounding. It costs as much as a full pass without the oracle.
func (e *Engine) Recompose(ctx context.Context, w []float32, of DualPoint) (Recomposed, error) {
	g := e.vectors.zeros(len(w))
	total, err := e.backend.pullBack(ctx, w, of, g)
	if err != nil {
		return Recomposed{}, err
	}
	return e.access.lower(ctx, w, g, total)
}

// Load copies r_i into the lane's answers for its batch.
func (m *Memory) Load(ln *Lane) {
	u := &ln.Answer.U
	u.Like(&ln.Theta)
	for b, i := range ln.Batch.Examples {
		u.Set(b, &m.Marginals, i)
	}
}

func (m *Memory) Refine(ln *Lane) {
	for k := range m.rest {
		for b, i := range ln.Batch.Examples {
			vec.Axpy(1, m.restOf(k, i), ln.V.Parts[k].Of(b))
		}
	}
}

// ArchiveMemory saves a memory, or restores one that must then be attached to its data. nil stays nil.
func ArchiveMemory(a Archive, m **Memory) {
	var kept Memory
	if *m != nil {
		kept.Marginals, kept.rest = (*m).Marginals, (*m).rest
	}
	ArchiveMarginals(a, "memory", &kept.Marginals)
	kept.archiveRest(a, "memory")
	if a.Restores() && len(kept.Parts) > 0 {
		*m = &kept
	}
}
