package methods

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// SaddleFW is saddle-point Frank-Wolfe (SP-FW; Gidel, Jebara and Lacoste-Julien 2017, Algorithm 2) for the hinge with
// ‖w‖₁ ≤ R (engine/ball.go). Both players move towards a corner of their domain: in the k-th pass
//
//	s_u = the oracle's answers at w,    s_w = −R sign(r_j) e_j,  j the largest entry of r = g(ū) + λ(w − c),
//	ū ← (1−γ)ū + γs_u,    w ← (1−γ)w + γs_w,    γ = 2/(k+2),
//
// so that w is a mixture of at most one weight per pass: sparse without a projection. Of ū it remembers g and a. Every
// pass certifies the saddle point gap F(w) − min over the ball of L(·, ū), or a narrower one of an earlier pass.
//
// The theorem of the paper needs L to be strongly convex and concave, and a saddle point inside the domains or away
// steps. Here L is linear in u, and in w for λ = 0, where the method is fictitious play, which converges for matrix
// games (Robinson 1951), slowly. The certificate needs none of this.
type SaddleFW struct{ cornerSteps }

func (m *SaddleFW) Name() string { return "sp-fw" }

func (m *SaddleFW) Traits() train.Traits { return train.Traits{Convex: true, Radius: true} }

// checkSaddle returns an error that says why the problem is no saddle-point problem of the hinge, or nil if it is one.
func checkSaddle(m train.Method, p *train.Problem) error {
	if p.Radius == 0 {
		return train.Refuse(m.Name(), train.Ball, "needs a ball to keep the weights in")
	}
	if err := checkHinge(m.Name(), p); err != nil {
		return err
	}
	return train.CheckCenter(m.Name(), p.Objective)
}

// Start begins at the gold outputs and w = 0, regardless of s.W.
func (m *SaddleFW) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := checkSaddle(m, p); err != nil {
		return err
	}
	return m.start(p, make([]float32, len(s.W)))
}

// Pass asks about all examples and takes a step.
func (m *SaddleFW) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	return m.pass(ctx, p, s, func(corner *engine.FullPass) (γ float64) {
		γ = m.harmonic()
		m.move(p, γ)
		m.mixture.add(γ, corner)
		recordBall(p, &m.bound, m.mixture.central, m.mixture.grad, m.mixture.slack, m.mixture.size)
		return γ
	})
}

// move moves w towards a corner of the ball.
func (m *SaddleFW) move(p *train.Problem, γ float64) {
	corner, most := -1, 0.0
	for j, g := range m.mixture.grad {
		if r := math.Abs(g + p.Lambda*float64(m.at[j])); r > most {
			corner, most = j, r
		}
	}
	if corner < 0 { // any point of the ball is as good
		return
	}
	sign := math.Copysign(1, m.mixture.grad[corner]+p.Lambda*float64(m.at[corner]))
	for j, w := range m.at {
		m.at[j] = float32((1 - γ) * float64(w))
	}
	m.at[corner] -= float32(γ * sign * p.Radius)
	p.IntoBall(m.at)
}

// recordBall records the bound of a dual point over the ball. largest is at least the largest entry of each gradient
// that was rounded.
func recordBall(p *train.Problem, b *train.LowerBound, linear float64, g []float64, slack, largest float64) {
	rounded := slack + p.GradientAllowance(p.Radius*largest)
	if d := p.BallBound(linear, g) - rounded; d > b.Value {
		b.Value, b.Rounded = d, rounded
	}
}
