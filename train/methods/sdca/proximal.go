package sdca

import (
	"os"
	"strconv"

	"github.com/dsp-go/dsp/structured/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// proximal is the objective's regulariser with a proximal term, (λ/2)‖w−c‖² + λ₁‖w‖₁ + (κ/2)‖w−z‖², its two quadratics as one of
// weight λ' = λ + κ around the centre c' = (λc + κz)/λ'. Steps see this regulariser, so that they have a strongly convex one even
// for λ = 0. After each pass z moves to the weights (the proximal point method, Rockafellar 1976), and the influence of κ on the
// optimum vanishes. Without λ₁, κ is 0.
type proximal struct {
	κ      float64
	lambda float64   // λ'
	center []float32 // c'; nil: the origin
}

func envf(name string, d float64) float64 {
	if x, err := strconv.ParseFloat(os.Getenv(name), 64); err == nil {
		return x
	}
	return d
}

// begin chooses κ.
func (r *proximal) begin(p *train.Problem) {
	if p.L1 > 0 {
		r.κ = max(0, envf("KAPPA", 1)/float64(p.Len())-p.Lambda)
	}
	r.lambda = p.Lambda + r.κ
	r.center = p.Center
	if r.κ > 0 {
		r.center = make([]float32, p.Scorer.Dim())
		r.move(p, r.center)
	}
}

// threshold returns λ₁/λ'.
func (r *proximal) threshold(p *train.Problem) float32 { return float32(p.L1 / r.lambda) }

// move sets the centre for z = w.
func (r *proximal) move(p *train.Problem, w []float32) {
	copy(r.center, w)
	vec.Scale(float32(r.κ/r.lambda), r.center)
	if p.Center != nil {
		vec.Axpy(float32(p.Lambda/r.lambda), p.Center, r.center)
	}
}

// recentre moves z to the weights w and v = c' − g/λ' with it.
func (r *proximal) recentre(p *train.Problem, w, v []float32) {
	vec.Axpy(-1, r.center, v)
	r.move(p, w)
	vec.Axpy(1, r.center, v)
}

// point sets v to c' − g/λ'.
func (r *proximal) point(g, v []float32) {
	clear(v)
	copy(v, r.center)
	vec.Axpy(float32(-1/r.lambda), g, v)
}

// gradient returns g of v = c' − g/λ'.
func (r *proximal) gradient(v []float32) []float32 {
	g := make([]float32, len(v))
	copy(g, r.center)
	vec.Axpby(float32(-r.lambda), v, float32(r.lambda), g)
	return g
}

func (r *proximal) archive(a engine.Archive) {
	a.Number("proximal.kappa", &r.κ)
	a.Number("proximal.lambda", &r.lambda)
	a.Floats("proximal.center", &r.center)
}
