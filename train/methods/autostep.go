package methods

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// Pace sets the step size of a variance-reduced method. Its zero value measures a suitable one.
//
// The gradient of the smoothed objective is Lipschitz with a constant L = A/μ (Beck and Teboulle 2012; Pillutla et al.
// 2019, Lemma 2). The worst-case A, the largest ‖J_i‖², is far above what steps need. What limits a step is how much
// the difference D = (1/|B|) Σ_B c_i J_iᵀ(u_i(w) − u_i(w̃)) varies compared with the progress it makes. A step size
// with
//
//	A/μ = Σ ‖D‖² / Σ ⟨D, w − w̃⟩,
//
// where the sums run over the steps of a pass, contracts the expected distance as fast as possible. Both sums are
// by-products of the steps, for any batch size. A hardly changes with μ, so each pass uses the A of the pass before.
type Pace struct {
	Step      float64 // γ, held fixed; 0: 1/(L + λ + κ)
	Lipschitz float64 // L of ∇F_μ, held fixed; 0: A/μ with a measured A
	Curvature float64 // the initial A, such as MeasuredCurvature of a similar problem; 0 measures it at the start

	// FromCenter measures the first A at the centre, as a run that starts there does. Near the optimum, where a run
	// that continues a model starts, there is no telling how far a step should go: the slope that would say so has
	// vanished.
	FromCenter bool

	a        float64 // the current A
	rise     float64 // Σ ‖D‖²
	progress float64 // Σ ⟨D, w − w̃⟩
	observed int     // steps in these sums
}

// paced is a method whose step size comes from a Pace.
type paced interface {
	MeasuredCurvature() float64
	knownCurvature(a float64)
	scratch() **engine.Memory // memory that a full pass fills; may be provided before Start
}

var _, _, _ paced = &SVRG{}, &Casimir{}, &SAGA{}

// MeasuredCurvature returns A, or 0 if Step or Lipschitz made measuring it unnecessary.
func (p *Pace) MeasuredCurvature() float64 { return p.a }

// knownCurvature sets the initial A to a known one, unless one was given.
func (p *Pace) knownCurvature(a float64) { p.Curvature = cmp.Or(p.Curvature, a) }

func (p *Pace) measures() bool { return p.Step == 0 && p.Lipschitz == 0 }

// lipschitz returns L of ∇F_μ.
func (p *Pace) lipschitz(μ float64) float64 { return cmp.Or(p.Lipschitz, p.a/μ) }

// checkLoss refuses to measure the step size for the quadratic loss, whose gradients have no bound: a step that is
// right for most batches is too long for the one with the longest inputs, and then nothing holds the steps.
func (p *Pace) checkLoss(method string, o *engine.Objective) error {
	if o.Loss != engine.Quadratic || !p.measures() {
		return nil
	}
	return train.Refuse(method, train.OtherLoss, "measures its step size, which may diverge with the loss %v: it needs one that is given (lr)", o.Loss)
}

// step returns γ: the given one, or 1/(L + modulus).
func (p *Pace) step(l, modulus float64) float64 {
	if p.Step > 0 {
		return p.Step
	}
	return 1 / (l + modulus)
}

// observe adds a step on b examples, with ‖bD‖² and ⟨bD, w − w̃⟩.
func (p *Pace) observe(norm, product float64, b int) {
	p.rise += norm / float64(b*b)
	p.progress += product / float64(b)
}

// enough is the number of observed steps whose ratio A is as good as a number. A pass over few examples observes fewer,
// and its ratio errs by several times: with steps that follow it, some passes undo what others have gained.
const enough = 64

// update moves A towards what was observed at μ: all the way if enough steps were, otherwise by their share, on the
// scale of logarithms. A falls to a quarter at most, because a pass with short steps sees little of F; and it rises at
// once where it is wrong by more than that.
func (p *Pace) update(μ float64) {
	if p.progress > 0 {
		if a := p.rise / p.progress * μ; a > 0 && !math.IsInf(a, 0) {
			share := 1.
			if p.a > 0 && a <= 4*p.a {
				share = min(1, float64(p.observed)/enough)
			}
			if a = max(a, p.a/4); share < 1 {
				a = p.a * math.Pow(a/p.a, share)
			}
			p.a = a
		}
	}
	p.rise, p.progress, p.observed = 0, 0, 0
}

// probes is the number of batches on which A is measured between two points.
const probes = 8

// probe measures A between two points at the given smoothing and counts its oracle calls in s. Its top-K oracle uses as
// many outputs as it needs.
func (p *Pace) probe(ctx context.Context, pr *train.Problem, s *train.State, from, to []float32, by oracles.Smoothing, r *rand.Rand) error {
	by.K = 0
	order, size := r.Perm(pr.Len()), batchSize(pr)
	for k := range min(probes, len(order)/size) {
		batch := order[k*size : (k+1)*size]
		d, err := pr.Change(ctx, from, to, batch, by)
		if err != nil {
			return err
		}
		p.observe(d.Norm2(), d.Dot(to)-d.Dot(from), size)
		s.OracleCalls += 2 * size
	}
	p.observed = enough // the points are far apart, and all batches see both
	return nil
}

// begin ensures a first A around w, given a full pass there. It measures A between w and the point where a linear
// function with the same gradient is lower by a third of F.
func (p *Pace) begin(ctx context.Context, pr *train.Problem, s *train.State, w []float32, pass *engine.FullPass, by oracles.Smoothing) error {
	if !p.measures() {
		return nil
	}
	p.a = p.Curvature
	if p.a > 0 {
		return nil
	}
	if p.FromCenter {
		w = make([]float32, len(w))
		copy(w, pr.Center)
		var err error
		if pass, err = pr.FullPass(ctx, w, by, nil); err != nil {
			return err
		}
		s.FullPasses++
	}
	to := append([]float32(nil), w...)
	if norm := vec.Norm2(pass.Grad); norm > 0 {
		vec.Axpy(float32(-0.3*math.Abs(pass.Smoothed)/norm), pass.Grad, to)
	}
	if err := p.probe(ctx, pr, s, w, to, by, pr.Rand(-1)); err != nil {
		return err
	}
	p.update(by.Mu)
	if p.a == 0 { // no slope in any direction
		p.a = 1
	}
	return nil
}

// defaultBatch is the default number of examples per step. Their oracle calls cost the same, and w moves less often.
const defaultBatch = 4

// batchSize returns the batch size of the variance-reduced methods.
func batchSize(p *train.Problem) int {
	if p.Batch == 0 {
		return max(1, min(defaultBatch, p.Len()/32))
	}
	return p.BatchSize()
}

func (p *Pace) archive(a engine.Archive) {
	a.Number("curvature", &p.a)
	a.Refuse(finite(p.a), "curvature")
}

// finite reports whether all numbers are.
func finite(xs ...float64) bool {
	return !slices.ContainsFunc(xs, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}
