package methods

import (
	"cmp"
	"context"
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// WarmStart selects where Casimir starts the k-th inner problem (Pillutla et al. 2019, section 7.3).
type WarmStart int

// The warm starts.
const (
	ProxCenter    WarmStart = iota // z_{k−1}
	Extrapolation                  // w_{k−1} + κ/(κ+λ)·(z_{k−1} − z_{k−2})
	PrevIterate                    // w_{k−1}
)

var warmStartNames = []string{"prox-center", "extrapolation", "prev-iterate"}

func (w WarmStart) String() string { return warmStartNames[w] }

// ParseWarmStart parses a warm start as String writes it.
func ParseWarmStart(name string) (WarmStart, error) {
	return structured.ParseName[WarmStart]("warm start", warmStartNames, name)
}

// Casimir is accelerated SVRG on the smoothed objective: Catalyst with smoothing (Pillutla et al. 2019, Algorithm 4).
// For k = 1, 2, … it finds
//
//	w_k ≈ argmin_w F_{μ_k}(w) + (κ_k/2)‖w − z_{k−1}‖²
//
// by SVRG, started according to WarmStart, and extrapolates, z_k = w_k + β_k(w_k − w_{k−1}). Schedules (Cor. 17 to 20):
//
//	                 λ > 0                            λ = 0
//	constant    μ, κ = L/n − λ if more than 3λ   μ, κ = L/(n+1)
//	            and λ otherwise
//	adaptive    μ(1−√q/2)^((k−1)/2), κ = λ       μ/k, κk
//	α_0         √q                               (√5−1)/2
//	δ_k         √q/(2−√q)                        (k+1)⁻²
//
// with q = λ/(λ+κ). If the problem gives no μ, μ falls as the certificate allows. The constant schedule then lowers it
// as SVRG does; the adaptive one holds it while the optimisation error exceeds the smoothing bias. If neither κ nor a
// Lipschitz constant is given, the constant schedules use a tenth of the table's κ, with the measured L, and with the
// number of steps per inner problem as n. The extrapolation then restarts whenever it points uphill (O'Donoghue and
// Candès 2015).
//
// The state shows the inner problems' starting point with the least F(w), and the best bound of their certificates.
type Casimir struct {
	Pace
	Adaptive  bool    // the adaptive schedule ("casimir-adapt")
	Kappa     float64 // κ; 0: from the schedule (adaptive with λ = 0: starts at the constant schedule's)
	WarmStart WarmStart
	Budget    int  // examples between snapshots; 0 means n
	ByNorm    bool // stop each inner problem at ‖∇F_{μ,κ}(w;z)‖² ≤ (λ+κ)δ_kκ‖w−z‖², not after one budget
	Most      int  // most budgets per inner problem with ByNorm; 0 means 10

	convex
	anchor anchor
	z, w   []float32 // z_{k−1}, w_{k−1}
	κ, α   float64   // κ_k, α_{k−1}
	k      int       // number of the current inner problem, from 1
	spent  int       // budgets it has used
}

// Name returns "casimir" or "casimir-adapt".
func (m *Casimir) Name() string {
	if m.Adaptive {
		return "casimir-adapt"
	}
	return "casimir"
}

// Start begins at w_0 = z_0 = s.W.
func (m *Casimir) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := m.checkLoss(m.Name(), p.Objective); err != nil {
		return err
	}
	restored, err := m.start(ctx, m.Name(), p, s)
	if err != nil {
		return err
	}
	if restored {
		return m.anchor.restore(ctx, p)
	}
	pass, err := m.anchor.place(ctx, p, s.W, m.smoothing(p))
	if err != nil {
		return err
	}
	if err := m.record(ctx, p, s, s.W, pass); err != nil {
		return err
	}
	if err := m.Pace.begin(ctx, p, s, s.W, pass, m.smoothing(p)); err != nil {
		return err
	}
	m.z = append([]float32(nil), m.anchor.at...)
	m.w = append([]float32(nil), m.anchor.at...)
	m.k = 1
	m.κ = m.nextKappa(p)
	m.α = m.firstAlpha(p.Lambda)
	return nil
}

// Pass spends one budget of steps on the inner problem and, if that solves it, sets up the next one.
func (m *Casimir) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	examples := cmp.Or(m.Budget, p.Len())
	s.Step, s.Kappa = m.step(m.lipschitz(m.μ), p.Lambda+m.κ), m.κ
	w, err := m.anchor.steps(ctx, p, m.smoothing(p), &m.Pace, nil, m.κ, m.z, p.Rand(m.epochs), examples)
	if err != nil {
		return err
	}
	m.count(p, s, examples)
	m.update(m.μ)
	m.spent++
	if m.ByNorm {
		if err := m.snap(ctx, p, s, w); err != nil {
			return err
		}
		if m.spent < cmp.Or(m.Most, 10) && !m.solved(p) {
			return nil
		}
	}
	return m.snap(ctx, p, s, m.extrapolate(p, w))
}

// snap takes a snapshot at w.
func (m *Casimir) snap(ctx context.Context, p *train.Problem, s *train.State, w []float32) error {
	pass, err := m.anchor.place(ctx, p, w, m.smoothing(p))
	if err != nil {
		return err
	}
	return m.record(ctx, p, s, w, pass)
}

// solved reports whether the inner problem is solved, judged at the snapshot.
func (m *Casimir) solved(p *train.Problem) bool {
	norm, from := 0.0, 0.0
	for j, x := range m.anchor.at {
		d := float64(x) - float64(m.z[j])
		g := float64(m.anchor.grad[j]) + p.Lambda*float64(x) + m.κ*d
		if p.Center != nil {
			g -= p.Lambda * float64(p.Center[j])
		}
		norm += g * g
		from += d * d
	}
	δ := 1 / float64((m.k+1)*(m.k+1))
	if p.Lambda > 0 {
		q := math.Sqrt(p.Lambda / (p.Lambda + m.κ))
		δ = q / (2 - q)
	}
	return norm <= (p.Lambda+m.κ)*δ*m.κ*from
}

// extrapolate sets up inner problem k+1, given w_k, and returns its starting point.
func (m *Casimir) extrapolate(p *train.Problem, w []float32) []float32 {
	λ, old := p.Lambda, m.κ
	uphill := 0.0 // ⟨z_{k−1} − w_k, w_k − w_{k−1}⟩
	for j, x := range w {
		uphill += (float64(m.z[j]) - float64(x)) * (float64(x) - float64(m.w[j]))
	}
	m.fallOff(p)
	m.k++
	m.spent = 0
	m.κ = m.nextKappa(p)
	β := 0.0
	if uphill > 0 && m.free() {
		m.α = m.firstAlpha(λ)
	} else {
		// α_k²(κ_{k+1}+λ) = (1−α_k)α_{k−1}²(κ_k+λ) + α_kλ
		a, c := m.κ+λ, m.α*m.α*(old+λ)
		α := (λ - c + math.Sqrt((c-λ)*(c-λ)+4*a*c)) / (2 * a)
		β = m.α * (1 - m.α) * (old + λ) / (c + α*a)
		m.α = α
	}
	before := m.z
	m.z = append([]float32(nil), w...)
	vec.AddScaledDiff(float32(β), w, m.w, m.z)
	m.w = append(m.w[:0], w...)
	switch m.WarmStart {
	case Extrapolation:
		start := append([]float32(nil), w...)
		vec.AddScaledDiff(float32(m.κ/(m.κ+λ)), m.z, before, start)
		return start
	case PrevIterate:
		return m.w
	}
	return m.z
}

// fallOff lowers μ_k to μ_{k+1}.
func (m *Casimir) fallOff(p *train.Problem) {
	switch {
	case p.Loss.Smooth():
	case !m.Adaptive:
		m.μ *= m.fall
	case !given(p) && m.fall == 1:
	case p.Lambda > 0:
		m.μ *= math.Sqrt(1 - math.Sqrt(p.Lambda/(p.Lambda+m.κ))/2)
	default:
		m.μ *= float64(m.k) / float64(m.k+1)
	}
}

// free reports whether the method chooses κ from its own measurements.
func (m *Casimir) free() bool { return m.Kappa == 0 && m.Lipschitz == 0 }

// nextKappa returns κ_k.
func (m *Casimir) nextKappa(p *train.Problem) float64 {
	λ := p.Lambda
	switch {
	case m.Adaptive && λ > 0:
		return cmp.Or(m.Kappa, λ)
	case m.Adaptive && m.k > 1:
		return m.κ * float64(m.k) / float64(m.k-1)
	case m.Kappa > 0:
		return m.Kappa
	}
	n, l := float64(cmp.Or(m.Budget, p.Len())), m.lipschitz(m.μ)
	switch {
	case m.Lipschitz > 0:
	case m.Step > 0:
		l = 1 / m.Step
	default:
		l, n = l/10, n/float64(batchSize(p))
	}
	switch {
	case λ == 0:
		return l / (n + 1)
	case l/n > 4*λ:
		return l/n - λ
	}
	return λ
}

// firstAlpha returns α_0.
func (m *Casimir) firstAlpha(λ float64) float64 {
	if λ == 0 {
		return (math.Sqrt(5) - 1) / 2
	}
	return math.Sqrt(λ / (λ + m.κ))
}

func (m *Casimir) scratch() **engine.Memory { return m.anchor.scratch() }

// Archive saves or restores the method's state.
func (m *Casimir) Archive(a engine.Archive) {
	m.convex.archive(a)
	m.Pace.archive(a)
	m.anchor.archive(a)
	a.Floats("z", &m.z)
	a.Floats("previous", &m.w)
	a.Number("kappa", &m.κ)
	a.Number("alpha", &m.α)
	a.Refuse(finite(m.κ, m.α), "kappa")
	a.Count("outer", &m.k)
	a.Count("spent", &m.spent)
}
