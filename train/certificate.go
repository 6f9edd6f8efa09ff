package train

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train/engine"
)

// Certificate collects the bounds on min F that full passes over the data prove, for an affine scorer.
//
// The marginals u_i of a pass, whatever their smoothing, are feasible for the dual of F. They give the lower bound
//
//	D(u) = a + min_w {⟨g,w⟩ + (λ/2)‖w−c‖²} + constant = a + ⟨g,c⟩ − ‖g‖²/(2λ) + constant
//
// with the pass's linear part a and gradient g (see FullPass). Both are linear in u (the entropy of a log-sum-exp loss
// is concave, which only helps), so every convex combination Σ q_k (a_k, g_k) of passes bounds min F too. The
// certificate keeps a bundle of passes and reports the largest bound over all q. That is the dual of the one-slack
// cutting-plane problem (Joachims, Finley and Yu 2009). It costs one vector as large as the weights per pass kept.
//
// The zero value is ready for use.
type Certificate struct {
	value []float64   // a_k + ⟨g_k,c⟩ + constant
	slack []float64   // allowance for rounding in that (FullPass.Rounded)
	size  []float64   // the norm of g_k; of merged pieces, a mean norm of all that were rounded
	grads [][]float32 // g_k
	gram  [][]float64 // ⟨g_j,g_k⟩
	mix   []float64   // q, the best combination

	primal  float64   // least F seen
	at      []float32 // its weights; empty before the first
	dual    float64   // largest D seen, minus
	rounded float64   // the allowance for rounding in it
}

// The bundle holds 16 passes, or fewer (at least 2) if 16 would take more than bundleFloats floats.
const (
	bundlePieces = 16
	bundleFloats = 4 << 20
)

// Primal returns the least F(w) seen; NaN before the first.
func (c *Certificate) Primal() float64 {
	if len(c.at) == 0 {
		return math.NaN()
	}
	return c.primal
}

// Weights returns the weights of the least F(w) seen, or none. The caller must not change them.
func (c *Certificate) Weights() []float32 { return c.at }

// Dual returns the largest lower bound on min F seen, minus the allowance for rounding. It is NaN if there is no bound,
// as with λ = 0.
func (c *Certificate) Dual() float64 {
	if len(c.mix) == 0 {
		return math.NaN()
	}
	return c.dual
}

// Record adds a full pass at w: its primal value and, if the objective is convex, its lower bound.
func (c *Certificate) Record(ctx context.Context, e *engine.Engine, w []float32, pass *engine.FullPass) error {
	c.RecordPrimal(w, pass.Upper)
	if e.Partial() {
		return nil
	}
	return c.RecordDual(ctx, e, engine.Recomposed{Grad: pass.Grad, Linear: pass.Linear, Central: pass.Central, Rounded: pass.Rounded, Blur: pass.Blur})
}

// Show copies what is certified into s.
func (c *Certificate) Show(s *State) {
	copy(s.W, c.Weights())
	s.Primal, s.Dual, s.Rounding, s.Estimate = c.Primal(), c.Dual(), c.rounded, math.NaN()
}

// RecordPrimal adds a value F(w), rounded up (engine.FullPass.Upper).
func (c *Certificate) RecordPrimal(w []float32, primal float64) {
	if len(c.at) == 0 || primal < c.primal {
		c.primal = primal
		c.at = append(c.at[:0], w...)
	}
}

// RecordDual adds a dual point. With λ = 0 and λ₁ = 0 it proves nothing. With λ₁ > 0 or bounds the certificate keeps
// the best bound of single passes, mixed with the gold outputs (engine.Objective.ElasticBound), instead of a bundle.
// Ranks call it alike, and share the bound, or the products.
func (c *Certificate) RecordDual(ctx context.Context, e *engine.Engine, u engine.Recomposed) error {
	if !e.Plain() {
		d, of, err := e.SharedElasticBound(ctx, u.Linear, u.Grad)
		if err != nil {
			return err
		}
		rounded := u.Rounded + e.ElasticAllowance(of)
		if d -= rounded; len(c.mix) == 0 || d > c.dual {
			c.mix, c.dual, c.rounded = append(c.mix[:0], 1), d, rounded
		}
		return nil
	}
	if e.Lambda <= 0 {
		return nil
	}
	k, merged := c.place(len(u.Grad))
	c.value[k], c.slack[k], c.mix[k] = u.Central+e.Constant, u.Rounded, 0
	c.grads[k] = append(c.grads[k][:0], u.Grad...)
	if err := c.relate(ctx, e, append(merged, k)); err != nil {
		return err
	}
	c.size[k] = u.Size(c.norm(k))
	for _, j := range merged {
		c.size[j] += c.norm(j) // the sum was rounded, too
	}
	if len(c.mix) == 1 {
		c.mix[0], c.dual = 1, math.Inf(-1)
	}
	c.maximise(e)
	return nil
}

// place returns a free slot in the bundle. If the bundle is full and every piece has weight, it merges the two least
// used in proportion to their weights, so that the bound falls only by the rounding of the merged gradient. Then it
// returns the merged piece, too, whose products are to be computed.
func (c *Certificate) place(dim int) (free int, merged []int) {
	n := len(c.mix)
	if n < bundlePieces && n < max(2, bundleFloats/max(1, dim)) {
		c.value, c.slack, c.size, c.mix = append(c.value, 0), append(c.slack, 0), append(c.size, 0), append(c.mix, 0)
		c.grads = append(c.grads, nil)
		for j := range c.gram {
			c.gram[j] = append(c.gram[j], 0)
		}
		c.gram = append(c.gram, make([]float64, n+1))
		return n, nil
	}
	i, j := 0, 1 // least and second least used
	if c.mix[j] < c.mix[i] {
		i, j = j, i
	}
	for k := 2; k < n; k++ {
		switch {
		case c.mix[k] < c.mix[i]:
			i, j = k, i
		case c.mix[k] < c.mix[j]:
			j = k
		}
	}
	if c.mix[i] == 0 {
		return i, nil
	}
	p := c.mix[i] / (c.mix[i] + c.mix[j])
	c.value[j] = p*c.value[i] + (1-p)*c.value[j]
	c.slack[j] = p*c.slack[i] + (1-p)*c.slack[j]
	c.size[j] = p*(c.size[i]+2*c.norm(i)) + (1-p)*(c.size[j]+2*c.norm(j)) // p and its products are rounded
	vec.Axpby(float32(p), c.grads[i], float32(1-p), c.grads[j])
	c.mix[j] += c.mix[i]
	return i, []int{j}
}

// relate computes the inner products of some pieces with all pieces.
func (c *Certificate) relate(ctx context.Context, e *engine.Engine, pieces []int) error {
	n := len(c.grads)
	products, err := e.OverRanges(ctx, len(c.grads[pieces[0]]), len(pieces)*n, true, func(lo, hi int, sums []float64) {
		for i, k := range pieces {
			for j, h := range c.grads {
				sums[i*n+j] = vec.Dot64(h[lo:hi], c.grads[k][lo:hi])
			}
		}
	})
	if err != nil {
		return err
	}
	for i, k := range pieces {
		for j, p := range products[i*n:][:n] {
			c.gram[j][k], c.gram[k][j] = p, p
		}
	}
	return nil
}

// maximise raises D(q) = ⟨q,value⟩ − qᵀGq/(2λ) over the simplex, from the current q, by moving weight between the two
// pieces that gain most from it (sequential minimal optimisation, Platt 1998). Every q bounds min F, so it may stop at
// any point.
func (c *Certificate) maximise(e *engine.Engine) {
	n, λ := len(c.mix), e.Lambda
	slope := make([]float64, n) // ∇D
	for j := range slope {
		slope[j] = c.value[j] - floats.Dot(c.gram[j], c.mix)/λ
	}
	for range 2000 * n {
		up, down, move, most := 0, 0, 0.0, 0.0
		for k, q := range c.mix {
			if q == 0 {
				continue
			}
			for j, s := range slope {
				rise := s - slope[k]
				if rise <= 0 {
					continue
				}
				bend := (c.gram[j][j] - 2*c.gram[j][k] + c.gram[k][k]) / λ
				step := q
				if bend*step > rise {
					step = rise / bend
				}
				if gain := step * (rise - bend*step/2); gain > most {
					up, down, move, most = j, k, step, gain
				}
			}
		}
		if most <= 1e-14*math.Abs(slope[up]) {
			break
		}
		c.mix[up] += move
		c.mix[down] -= move
		for j := range slope {
			slope[j] -= move * (c.gram[j][up] - c.gram[j][down]) / λ
		}
	}
	total := floats.Sum(c.mix) // 1 up to rounding
	linear, slack := 0.0, 0.0
	for j := range c.mix {
		c.mix[j] /= total
	}
	size, sum := 0.0, 0.0 // sum is Σ q_k ‖g_k‖, the numbers that may cancel in the square
	for j, q := range c.mix {
		linear += q * c.value[j]
		slack += q * c.slack[j]
		size += q * c.size[j]
		sum += q * c.norm(j)
	}
	square := max(0, c.square()) + engine.DoubleError(len(c.grads[0])/16+64)*sum*sum // products are 16 sums each (vec.Dot64)
	slack += e.BundleAllowance(size, math.Sqrt(square))
	if d := linear - square/(2*λ) - slack; d > c.dual {
		c.dual, c.rounded = d, slack
	}
}

// norm returns ‖g_k‖.
func (c *Certificate) norm(k int) float64 { return math.Sqrt(c.gram[k][k]) }

// square returns ‖Σ q_k g_k‖².
func (c *Certificate) square() float64 {
	s := 0.0
	for j, q := range c.mix {
		s += q * floats.Dot(c.gram[j], c.mix)
	}
	return s
}

// Archive saves or restores the certificate.
func (c *Certificate) Archive(a engine.Archive) {
	n := len(c.mix)
	engine.ArchivePieces(a, "certificate.pieces", &n)
	if len(c.gram) != n {
		c.grads, c.gram = make([][]float32, n), make([][]float64, n)
	}
	a.Doubles("certificate.values", &c.value)
	a.Doubles("certificate.slack", &c.slack)
	a.Doubles("certificate.sizes", &c.size)
	a.Doubles("certificate.mix", &c.mix)
	for k := range n {
		a.Floats(fmt.Sprintf("certificate.gradient%d", k), &c.grads[k])
		a.Doubles(fmt.Sprintf("certificate.gram%d", k), &c.gram[k])
	}
	a.Number("certificate.primal", &c.primal)
	a.Floats("certificate.weights", &c.at)
	a.Number("certificate.dual", &c.dual)
	a.Number("certificate.rounding", &c.rounded)
}
