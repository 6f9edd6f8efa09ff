package sdca

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

const (
	firstBonus  = 5   // added to the gold output's scores at each position on the first visit; retries add 2^try − 1 more
	longestStep = 0.9 // η
	tries       = 8   // attempts at a step before giving up

	// relaxation is how much longer than the best single step a step aims to be where all examples share all weights:
	// later steps on other examples undo a part of each, as in successive over-relaxation. Steps on attributes, of
	// which two examples share few, aim at the best.
	relaxation = 1.3
)

// relaxationFor returns relaxation, or 1 for attributes alone.
func relaxationFor(p *train.Problem) float64 {
	if p.AttributesAlone() {
		return 1
	}
	return relaxation
}

// dualStep is a step on one example, with its scratch memory.
type dualStep struct {
	i           int
	c           float64 // c_i
	engine.Lane         // its batch is this example, and its θ is θ_i + ℓ_i
	one         [1]int
	value       [1]float64
	φ           structured.Potentials // the new φ_i
	before      structured.Potentials // a view of the old one
	u           structured.Marginals  // its marginals
	v           structured.Marginals  // c_i Δu_i

	η         float64 // of this try; 0 on the first visit
	entropy   float64 // of u
	rise      float64 // ⟨Δu, θ_i + ℓ_i⟩
	loss      float64 // ⟨Δu, ℓ_i⟩
	size      float64 // the magnitude of the numbers in the change of the dual, for roundings
	curvature float64 // ⟨d, Δu⟩ with d = θ_i + ℓ_i − φ_i
	accepted  bool    // but not yet saved

	// For the quadratic loss:
	share    int       // the number of examples of the step at the same w
	distance float64   // ‖θ_i − u_i‖² before it
	probe    []float32 // weights that are 0
	probed   structured.Potentials
	probes   structured.Marginals
	factor   []float64
	residual []float64
}

// visit makes the step one on example i.
func (st *dualStep) visit(p *train.Problem, i int) {
	st.i, st.c, st.one[0] = i, p.Data.Weight(i), i
	st.Batch.Reset(p.Data, st.one[:])
}

// score prepares a step on example k of the batch by scoring it at w.
func (st *dualStep) score(t *dualTeam, k int) error {
	st.visit(t.p, t.batch.Examples[k])
	t.v.View(k, &st.v)
	return t.at.score(st, k)
}

// answer computes the new dual potentials and their marginals. η halves with each try.
func (st *dualStep) answer(p *train.Problem, memory *dualMemory, λ float64, try int) {
	old := &memory.φ.Marginals
	if p.Loss == engine.Quadratic {
		old = &memory.u.Marginals
		st.answerQuadratic(p, memory, λ)
	} else {
		st.answerMarginals(p, memory, try)
	}
	θ, v := &st.Theta, &st.v
	old.AsPotentials(st.i, st.Theta.OutputSize(), &st.before)
	var kept float64
	st.rise, kept = st.differ(p, memory)
	st.curvature = st.rise - kept
	st.size = math.Abs(st.entropy) + math.Abs(st.rise)
	if p.Loss == engine.Quadratic {
		st.size, st.distance = math.Inf(1), st.distanceTo(θ, old)
	} else if !p.Loss.Smooth() { // Δu is a difference of marginals, and no entropy tells how large they are
		st.size += math.Abs(inner(p, &st.u, θ))
	} else if scores := math.Abs(st.value[0]); math.Abs(st.curvature) <= 4*engine.Unit*scores {
		// u_i is almost an output, and Δu nothing but rounding, of numbers as large as the scores. If such steps were
		// undone, η would go to 0, and the example would never leave that output.
		st.size += scores
	}
	st.loss = 0
	if p.Loss.Augments() {
		st.loss = p.Task.Dot(v, 0, st.Batch.GoldOf(0))
	}
	if st.c != 1 {
		v.Scale(0, float32(st.c))
	}
}

// answerMarginals computes them for losses with outputs.
func (st *dualStep) answerMarginals(p *train.Problem, memory *dualMemory, try int) {
	θ, φ := &st.Theta, &st.φ
	φ.Like(θ)
	η, keep := memory.step[st.i], float32(0)
	if η > 0 {
		η = float32(math.Ldexp(float64(η), -try))
		if keep = 1 - η; !p.Loss.Smooth() {
			keep = 1
		}
	}
	st.η = float64(η)
	for k := range φ.Parts {
		to, scores := φ.Parts[k].Values, θ.Parts[k].Values
		if keep == 0 { // what constraints forbid is −∞ before the step, too, and 0 · −∞ is NaN
			copy(to, scores)
		} else {
			vec.Mix(keep, memory.φ.Parts[k].Of(st.i), η, scores, to)
		}
	}
	if η == 0 {
		φ.Structure.(structured.Raiser).Raise(φ, 0, st.Batch.Gold(0), memory.bonus-1+float32(int(1)<<try))
	}
	st.Oracle.(oracles.Summer).Exp(φ, 1, st.value[:], &st.u)
	st.entropy = st.entropyOf(p)
}

// entropyOf returns H(u_i) of the new dual potentials; the hinge's dual has none.
func (st *dualStep) entropyOf(p *train.Problem) float64 {
	if !p.Loss.Smooth() {
		return 0
	}
	return st.value[0] - oracles.SumGap(st.Oracle, 0) - inner(p, &st.u, &st.φ)
}

// accept accepts the step's answer and chooses the example's next η from slope, Σ c_i⟨d,Δu_i⟩ over the steps at the
// same w, and bend, times relaxation.
func (st *dualStep) accept(memory *dualMemory, slope, bend, relaxation float64) {
	st.accepted = true
	memory.entropy[st.i] = st.entropy
	if st.η == 0 {
		memory.step[st.i] = firstStep
		memory.gap[st.i] = float32(st.c * math.Abs(st.rise))
		return
	}
	memory.gap[st.i] = float32(st.c * math.Abs(st.curvature) / (2 * st.η))
	if slope > 0 {
		best := min(longestStep, relaxation*st.η*slope/(st.η*slope+bend))
		memory.step[st.i] = float32(math.Sqrt(st.η * min(max(best, st.η/4), 4*st.η)))
	}
}

// save stores an accepted answer as the example's dual point.
func (st *dualStep) save(memory *dualMemory) {
	if !st.accepted {
		return
	}
	st.accepted = false
	for k := range st.φ.Parts {
		copy(memory.φ.Parts[k].Of(st.i), st.φ.Parts[k].Values)
	}
	memory.u.Set(st.i, &st.u, 0)
}

// differ sets v to Δu, and returns ⟨Δu, θ_i + ℓ_i⟩ and ⟨Δu, φ_i⟩ for the potentials before the step.
func (st *dualStep) differ(p *train.Problem, memory *dualMemory) (rise, kept float64) {
	θ, v := &st.Theta, &st.v
	if p.Constraints != nil { // see inner
		v.Set(0, &st.u, 0)
		v.AddScaled(0, -1, &memory.u.Marginals, st.i)
		return v.Dot(0, θ), v.Dot(0, &st.before)
	}
	for k := range v.Parts {
		a, b := vec.Differ(st.u.Parts[k].Values, memory.u.Parts[k].Of(st.i), θ.Parts[k].Values, st.before.Parts[k].Values, v.Parts[k].Values)
		rise, kept = rise+a, kept+b
	}
	return rise, kept
}

// inner returns ⟨u, θ⟩ of a batch of one example.
func inner(p *train.Problem, u *structured.Marginals, θ *structured.Potentials) float64 {
	if p.Constraints != nil { // θ may be −∞ where u is 0
		return u.Dot(0, θ)
	}
	s := 0.0
	for k := range u.Parts {
		s += vec.Dot64(u.Parts[k].Values, θ.Parts[k].Values)
	}
	return s
}
