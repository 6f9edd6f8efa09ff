package methods

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// CuttingPlane is the 1-slack cutting plane method for the hinge objective (Joachims, Finley and Yu 2009). A pass asks
// the max oracle about all examples at w. Its answers prove a linear lower bound on the mean loss, a plane. The next w
// minimises the largest of the planes so far plus the regulariser, whose dual is a small quadratic program over the
// simplex,
//
//	max over q of Σ q_k b_k − ‖Σ q_k g_k‖²/2λ,    w = c − (1/λ) Σ q_k g_k,
//
// with the gradient g_k of a plane and its value b_k at the centre. Pairwise steps solve it to a small share of the
// gap. Its value bounds min F, so every pass certifies its dual. A plane whose q_k stays 0 for mostIdle passes is
// dropped. The method is Frank-Wolfe with all corners so far re-weighted in each step. The state shows the iterate with
// the least F.
type CuttingPlane struct {
	Planes int  // most planes kept; 0 means 100, but no more than take planeFloats floats, and at least 16
	Warm   bool // ask at s.W first, not at the centre

	at     []float32 // w, where the oracle is asked next
	planes planes
	held   leastPrimal
	bound  train.LowerBound
}

const (
	mostPlanes  = 100
	leastPlanes = 16
	planeFloats = 128 << 20
	mostIdle    = 25
	solved      = 1e-3 // of the gap, to which the quadratic program is solved
)

func (m *CuttingPlane) Name() string { return "cutting-plane" }

func (m *CuttingPlane) Traits() train.Traits { return train.Traits{Convex: true} }

// Start begins without planes but that of the gold outputs, where w is the centre.
func (m *CuttingPlane) Start(ctx context.Context, p *train.Problem, s *train.State) error {
	if err := checkHingeDual(m.Name(), p); err != nil {
		return err
	}
	if len(m.at) > 0 { // restored
		return m.planes.fit(p, len(m.at))
	}
	m.at = startAt(p, s, m.Warm)
	m.planes = newPlanes()
	m.held = leastPrimal{append([]float32(nil), m.at...), math.Inf(1)}
	m.bound = train.LowerBound{Value: p.Floor()}
	return nil
}

// Pass adds a plane and minimises the model.
func (m *CuttingPlane) Pass(ctx context.Context, p *train.Problem, s *train.State) error {
	pass, err := p.FullPass(ctx, m.at, oracles.Smoothing{}, nil)
	if err != nil {
		return err
	}
	copy(s.W, m.at)
	s.Primal = pass.Upper
	m.held.keep(s)
	m.planes.add(p, pass, m.most(len(m.at)))
	gap := s.Primal - m.bound.Value
	m.planes.solve(p.Lambda, max(solved*gap, 1e-12*math.Abs(s.Primal)))
	m.planes.drop()
	g := m.planes.mixed(len(m.at))
	if d, rounded := m.planes.value(p, g); d > m.bound.Value {
		m.bound.Value, m.bound.Rounded = d, rounded
	}
	centred(p, g, m.at)
	s.Passes++
	s.OracleCalls += p.Len()
	m.bound.Show(s, math.NaN())
	s.Done = s.Primal-s.Dual <= 2*s.Rounding
	return nil
}

// most returns how many planes may be kept.
func (m *CuttingPlane) most(dim int) int {
	return max(2, cmp.Or(m.Planes, max(leastPlanes, min(mostPlanes, planeFloats/max(1, dim)))))
}

// Archive saves or restores the method's state.
func (m *CuttingPlane) Archive(a engine.Archive) {
	a.Floats("w", &m.at)
	m.planes.archive(a)
	m.held.archive(a)
	m.bound.Archive(a)
}

// planes are linear lower bounds on the mean loss and their weights q. The first is that of the gold outputs, which is
// 0 and has no gradient.
type planes struct {
	central []float64   // b_k
	slack   []float64   // allowance for rounding in that
	size    []float64   // the norm of g_k; of merged planes, a mean norm of all that were rounded
	grads   [][]float32 // g_k
	gram    [][]float64 // ⟨g_j, g_k⟩
	mix     []float64   // q
	idle    []int32     // solutions since q_k was last positive
}

func newPlanes() planes {
	return planes{central: []float64{0}, slack: []float64{0}, size: []float64{0}, grads: [][]float32{nil}, gram: [][]float64{{0}}, mix: []float64{1}, idle: []int32{0}}
}

// add adds a plane, and makes room for it.
func (x *planes) add(p *train.Problem, pass *engine.FullPass, most int) {
	if len(x.mix) > most {
		x.thin()
	}
	n := len(x.mix)
	x.central, x.slack = append(x.central, pass.Central), append(x.slack, pass.Rounded)
	x.size = append(x.size, math.Sqrt(vec.Norm2(pass.Grad)))
	x.grads = append(x.grads, pass.Grad)
	for j := range x.gram {
		x.gram[j] = append(x.gram[j], 0)
	}
	x.gram = append(x.gram, make([]float64, n+1))
	x.mix, x.idle = append(x.mix, 0), append(x.idle, 0)
	x.relate(n)
}

// relate computes the inner products of plane k with all planes.
func (x *planes) relate(k int) {
	for j := 1; j < len(x.grads); j++ {
		dot := vec.Dot64(x.grads[j], x.grads[k])
		x.gram[j][k], x.gram[k][j] = dot, dot
	}
}

// norm returns ‖g_k‖.
func (x *planes) norm(k int) float64 { return math.Sqrt(x.gram[k][k]) }

// thin removes the plane that has been idle longest. If none is idle, it merges the two least used in proportion to
// their weights, which leaves the solution as it is.
func (x *planes) thin() {
	worst := 1
	for k := 2; k < len(x.mix); k++ {
		if x.idle[k] > x.idle[worst] {
			worst = k
		}
	}
	if x.idle[worst] > 0 || len(x.mix) < 3 {
		x.remove(worst)
		return
	}
	i, j := 1, 2 // least and second least used
	if x.mix[j] < x.mix[i] {
		i, j = j, i
	}
	for k := 3; k < len(x.mix); k++ {
		switch {
		case x.mix[k] < x.mix[i]:
			i, j = k, i
		case x.mix[k] < x.mix[j]:
			j = k
		}
	}
	share := x.mix[i] / (x.mix[i] + x.mix[j])
	x.central[j] += share * (x.central[i] - x.central[j])
	x.slack[j] += share * (x.slack[i] - x.slack[j])
	x.mix[j] += x.mix[i]
	x.size[j] = share*(x.size[i]+2*x.norm(i)) + (1-share)*(x.size[j]+2*x.norm(j)) // the share and its products are rounded, and their sum
	vec.Axpby(float32(share), x.grads[i], float32(1-share), x.grads[j])
	x.relate(j)
	x.size[j] += x.norm(j)
	x.remove(i)
}

func (x *planes) remove(k int) {
	cut := func(v []float64) []float64 { return slices.Delete(v, k, k+1) }
	x.central, x.slack, x.size, x.mix = cut(x.central), cut(x.slack), cut(x.size), cut(x.mix)
	x.grads, x.idle, x.gram = slices.Delete(x.grads, k, k+1), slices.Delete(x.idle, k, k+1), slices.Delete(x.gram, k, k+1)
	for j := range x.gram {
		x.gram[j] = cut(x.gram[j])
	}
}

// drop removes planes that have been idle for long.
func (x *planes) drop() {
	for k := len(x.mix) - 1; k > 0; k-- {
		switch {
		case x.mix[k] > 0:
			x.idle[k] = 0
		case x.idle[k] >= mostIdle:
			x.remove(k)
		default:
			x.idle[k]++
		}
	}
}

// solve raises the dual by moving weight to the plane that is highest at w, from the plane from which the move gains
// most (sequential minimal optimisation), until no q can raise it by more than enough.
func (x *planes) solve(λ, enough float64) {
	n := len(x.mix)
	height := make([]float64, n) // of the planes at w, the slope of the dual
	for j := range height {
		height[j] = x.central[j]
		for k, q := range x.mix {
			height[j] -= x.gram[j][k] * q / λ
		}
	}
	for range 1000 * n {
		up, mean := 0, 0.0
		for j, h := range height {
			mean += x.mix[j] * h
			if h > height[up] {
				up = j
			}
		}
		if height[up]-mean <= enough {
			break
		}
		down, move, most := -1, 0.0, 0.0
		for k, q := range x.mix {
			rise := height[up] - height[k]
			if q == 0 || rise <= 0 {
				continue
			}
			bend := (x.gram[up][up] - 2*x.gram[up][k] + x.gram[k][k]) / λ
			step := q
			if bend*step > rise {
				step = rise / bend
			}
			if gain := step * (rise - bend*step/2); gain > most {
				down, move, most = k, step, gain
			}
		}
		if down < 0 {
			break
		}
		x.mix[up] += move
		if x.mix[down] -= move; x.mix[down] < 1e-15 {
			x.mix[down] = 0
		}
		for j := range height {
			height[j] -= move * (x.gram[j][up] - x.gram[j][down]) / λ
		}
	}
	total := floats.Sum(x.mix) // 1 up to rounding
	for k := range x.mix {
		x.mix[k] /= total
	}
}

// mixed returns Σ q_k g_k.
func (x *planes) mixed(dim int) []float64 {
	g := make([]float64, dim)
	for k, q := range x.mix {
		if q == 0 || k == 0 {
			continue
		}
		for j, v := range x.grads[k] {
			g[j] += q * float64(v)
		}
	}
	return g
}

// value returns the lower bound on min F that q proves, and the allowance for rounding in it. g is Σ q_k g_k.
func (x *planes) value(p *train.Problem, g []float64) (d, rounded float64) {
	square, size := 0.0, 0.0
	for _, v := range g {
		square += v * v
	}
	d = p.Constant - square/(2*p.Lambda)
	for k, q := range x.mix {
		d += q * x.central[k]
		rounded += q * x.slack[k]
		size += q * x.size[k]
	}
	rounded += p.MixtureAllowance(size, math.Sqrt(square))
	return d - rounded, rounded
}

// archive saves or restores the planes.
func (x *planes) archive(a engine.Archive) {
	a.Doubles("planes.mix", &x.mix)
	n := len(x.mix)
	if a.Restores() {
		x.grads, x.gram = make([][]float32, n), make([][]float64, n)
	}
	a.Doubles("planes.values", &x.central)
	a.Doubles("planes.slack", &x.slack)
	a.Doubles("planes.sizes", &x.size)
	a.Ints("planes.idle", &x.idle)
	for k := range n {
		if k > 0 {
			a.Floats(fmt.Sprintf("plane%d", k), &x.grads[k])
		}
		a.Doubles(fmt.Sprintf("plane%d.gram", k), &x.gram[k])
	}
}

// fit refuses, as bad input, planes restored from a file that is damaged or of other data.
func (x *planes) fit(p *train.Problem, dim int) error {
	n := len(x.mix)
	fits := n > 0 && dim == p.Scorer.Dim()
	for _, k := range []int{len(x.central), len(x.slack), len(x.size), len(x.idle)} {
		fits = fits && k == n
	}
	for k := 0; fits && k < n; k++ {
		fits = len(x.gram[k]) == n && (k == 0 || len(x.grads[k]) == dim)
	}
	if !fits {
		return structured.BadInput("the checkpoint is damaged: the planes that it remembers do not fit %s", p.Data.Name)
	}
	return nil
}
