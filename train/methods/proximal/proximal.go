// Package proximal holds the proximal term that dual methods add to an elastic net with little or no λ. The notation is
// that of package train.
package proximal

import (
	"math"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// Regulariser is the elastic net with a proximal term, (λ/2)‖w−c‖² + λ₁‖w‖₁ + (κ/2)‖w−z‖², its two quadratics as one of
// weight λ' = λ + κ around the centre c' = (λc + κz)/λ'. Steps see this regulariser, which is strongly convex even for
// λ = 0. A pass ends with
//
//	z ← w + β(w − w of the last pass),    β = min((k−1)/(k+2), 0.8) in the k-th pass,
//
// the proximal point method with Nesterov's extrapolation (Güler 1992; Lin, Mairal and Harchaoui 2015), one pass per
// point. Where z stops, the influence of κ on the weights has vanished. κ falls in the end. If F rose, k starts again
// from 0 (O'Donoghue and Candès 2015). The dual point u and its gradient g do not depend on z, so that z moves v = c' −
// g/λ' along with c'. Without λ₁, κ is 0.
type Regulariser struct {
	Kappa  float64   // κ
	Lambda float64   // λ'
	Center []float32 // c'; nil: the origin
	last   []float32 // w of the last pass, if κ > 0
	value  float64   // F there
	count  int       // k
}

const (
	leastLambda   = 3   // n·λ' is at least this with λ₁ > 0
	extrapolation = 0.8 // largest β

	// Once F changes by less than this share in a pass, κ falls by a factor after each such pass, until v, which is
	// λ₁/κ away from w, has few digits left for w. Where w drifts along directions in which F is nearly flat, |g_j|
	// exceeds λ₁ + λ|w_j| by κ|w_j − z_j|, and the bound suffers.
	stillness        = 2e-5
	weakening        = 0.8
	largestThreshold = 200
)

// Begin chooses κ.
func (r *Regulariser) Begin(p *train.Problem) {
	*r = Regulariser{Lambda: p.Lambda, Center: p.Center}
	if p.L1 == 0 {
		return
	}
	if r.Kappa = max(0, leastLambda/float64(p.Len())-p.Lambda); r.Kappa > 0 {
		r.Lambda = p.Lambda + r.Kappa
		r.last, r.Center = make([]float32, p.Scorer.Dim()), make([]float32, p.Scorer.Dim())
		r.centreAt(p, r.last)
	}
}

// Threshold returns λ₁/λ', which is 0 without λ₁.
func (r *Regulariser) Threshold(p *train.Problem) float32 {
	if p.L1 == 0 {
		return 0
	}
	return float32(p.L1 / r.Lambda)
}

// centreAt computes c'.
func (r *Regulariser) centreAt(p *train.Problem, z []float32) {
	clear(r.Center)
	vec.Axpy(float32(r.Kappa/r.Lambda), z, r.Center)
	if p.Center != nil {
		vec.Axpy(float32(p.Lambda/r.Lambda), p.Center, r.Center)
	}
}

// Advance ends a pass that found weights w with value f: it moves z, and v with it.
func (r *Regulariser) Advance(p *train.Problem, w []float32, f float64, v []float32) {
	if r.Kappa == 0 {
		return
	}
	if r.count++; f > r.value {
		r.count = 0
	}
	old := r.Lambda
	if still := math.Abs(f-r.value) <= stillness*math.Abs(f); still && p.L1 < largestThreshold*r.Kappa {
		r.Kappa *= weakening
		r.Lambda, r.count = p.Lambda+r.Kappa, 0
	}
	β := float32(min(max(0, float64(r.count-1)/float64(r.count+2)), extrapolation))
	vec.Axpby(1+β, w, -β, r.last) // z
	vec.Axpy(-1, r.Center, v)
	vec.Scale(float32(old/r.Lambda), v)
	r.centreAt(p, r.last)
	vec.Axpy(1, r.Center, v)
	copy(r.last, w)
	r.value = f
}

// Point sets v to c' − g/λ'.
func (r *Regulariser) Point(g, v []float32) {
	clear(v)
	copy(v, r.Center)
	vec.Axpy(float32(-1/r.Lambda), g, v)
}

// Gradient returns g of v = c' − g/λ'.
func (r *Regulariser) Gradient(v []float32) []float32 {
	g := make([]float32, len(v))
	copy(g, r.Center)
	vec.Axpby(float32(-r.Lambda), v, float32(r.Lambda), g)
	return g
}

// Archive saves or restores the state.
func (r *Regulariser) Archive(a engine.Archive) {
	a.Number("proximal.kappa", &r.Kappa)
	a.Number("proximal.lambda", &r.Lambda)
	a.Floats("proximal.center", &r.Center)
	a.Floats("proximal.last", &r.last)
	a.Number("proximal.value", &r.value)
	a.Count("proximal.count", &r.count)
	a.Refuse(r.Kappa == 0 && len(r.last) == 0 || r.Kappa > 0 && r.Kappa <= r.Lambda && len(r.last) > 0 && len(r.last) == len(r.Center), "proximal.kappa")
	a.Refuse(r.Lambda >= 0 && !math.IsInf(r.Lambda, 1), "proximal.lambda")
}
