package engine

import (
	"context"
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Metric is a symmetric positive definite matrix P that resembles the Hessian of the smoothed objective at some
// weights, for scorers some of whose weights multiply dense inputs (nets.DenseBlock). Columns of such inputs are
// correlated and have means, so that the curvature differs by factors of thousands between directions. Methods that
// follow gradients are slow there, and quick in coordinates in which P is the identity. The optimum does not depend on
// P, only the way there.
//
// Let u be the marginals at the weights, smoothed by μ, and z_t the dense inputs of position t. The Hessian of the mean
// loss with respect to the weights of column y has the blocks (1/μn) Σ_i c_i Σ_t u_t(y)(1−u_t(y)) z_t z_tᵀ and some of
// covariances between positions. So P has
//
//	(1/μn) Σ_i c_i Σ_t u_t(y)(1 − u_t(y)) z_t z_tᵀ + λI    [Dim×Dim]
//
// for every column y of a block of weights, where z_t ends with a 1 if the block has biases. For the weights of tied
// parts, such as transitions, it has the Hessian itself (tiedmetric.go). It is diagonal in all other weights: a
// pullback of u(1−u) gives its numbers, which are those of the Hessian if inputs are 0 or 1.
//
// Sums of z zᵀ are estimates from some of the rows: the larger its u(1−u), the more likely a row takes part.
//
// The Hessian of the quadratic loss has (1/n) Σ_i c_i Σ_t z_t z_tᵀ + λI for every column, wherever w is. Then P has the
// sum of all rows: it is the Hessian, if all weights multiply dense inputs, and a step by P⁻¹ ends at the optimum.
//
// Where an output uses one label per row of a part, the loss stays the same if all columns of a block change by the
// same vector. P⁻¹ is then 1/λ along such changes, which is the inverse of the Hessian, and across them what is said
// above: ΠA⁻¹Π + (I−Π)/λ, where A is the matrix of the block and Π subtracts the mean of the columns.
type Metric struct {
	λ        float64
	blocks   []metricBlock
	tied     []tiedBlock
	diagonal []float64 // [Dim] of P; within the blocks it does not count
}

type metricBlock struct {
	nets.DenseBlock
	factors []mat.Cholesky // of the matrix of each column, or of one that all columns share
	common  bool           // the loss does not depend on the mean of the columns
}

const (
	mostColumns   = 2048    // of dense inputs: beyond, there is no metric, because its time and memory go with their square
	mostFactored  = 1 << 25 // numbers of a block's matrices: beyond, its columns share one
	rowsPerColumn = 8       // rows that take part in a sum of z zᵀ, per dense input
	rowsAtOnce    = 512     // of a sum in float32, which is precise enough, before it goes to float64

	// leastShift is the least λ relative to a number on the diagonal of P. With less, rounding makes matrices of
	// dependent columns indefinite.
	leastShift = 1e-10
)

// HasMetric reports whether the objective has weights that multiply dense inputs, so that methods gain from a metric.
func (o *Objective) HasMetric() bool {
	return len(nets.DenseBlocks(o.Scorer)) > 0 && o.Data.Dim <= mostColumns && nets.NewPreciseWorker(o.Scorer) != nil
}

// HasMetric reports whether the engine computes a metric for its objective, for which passes must sum in float64.
func (e *Engine) HasMetric() bool { return e.Objective.HasMetric() && e.backend.precise() }

// NewMetric computes the metric at w, or returns nil if HasMetric is false. It costs a pass over all examples, and
// about one more for the sums. It has the same bits with any number of threads.
func (e *Engine) NewMetric(ctx context.Context, w []float32, s oracles.Smoothing) (*Metric, error) {
	if !e.HasMetric() {
		return nil, nil
	}
	blocks, s := nets.DenseBlocks(e.Scorer), e.smoothing(s)
	var spread structured.Marginals // c_i u(1−u)/μ
	spread.Reshape(e.Scorer.Form(), e.Len(), e.Data.Rows)
	spread.ReadAll(e.Data)
	m := &Metric{λ: e.Lambda}
	var err error
	var one []bool
	if m.diagonal, one, err = e.spreadOf(ctx, w, s, &spread); err != nil {
		return nil, err
	}
	inv := 1 / float64(e.Len())
	for j, x := range m.diagonal {
		m.diagonal[j] = max(inv*math.Abs(x)+e.Lambda, math.SmallestNonzeroFloat32)
	}
	for _, b := range blocks {
		block, err := e.factors(ctx, b, &spread.Parts[b.Part])
		if err != nil {
			return nil, err
		}
		block.common = one[b.Part]
		m.blocks = append(m.blocks, block)
	}
	m.tied, err = e.tiedBlocks(ctx, w, s, m.diagonal)
	return m, err
}

// spreadOf fills v with c_i u(1−u)/μ at w and returns its pullback [Dim]. A tied row holds the sum of u over the steps
// of an example; their u are taken as equal. For each part it also tells whether the u of every row sum to 1.
func (e *Engine) spreadOf(ctx context.Context, w []float32, s oracles.Smoothing, v *structured.Marginals) (sums []float64, one []bool, err error) {
	μ := s.Mu
	sums, one = make([]float64, len(w)), make([]bool, len(v.Parts))
	others := make([]atomic.Bool, len(v.Parts)) // some row has another sum
	_, err = e.overShards(ctx, e.layout.shards, sums, func(ln *Lane) error {
		if err := e.precisely(ln, w); err != nil {
			return err
		}
		if e.Loss == Quadratic {
			e.quadraticSpread(&ln.Shard)
			for b, i := range ln.Batch.Examples {
				v.Set(i, &ln.V, b)
			}
			return nil
		}
		s.Answer(ln.Oracle, &ln.Theta, &ln.Answer, false)
		ln.V.Copy(&ln.Answer.U)
		for b, i := range ln.Batch.Examples {
			by := float32(e.Data.Weight(i) / μ)
			for k := range ln.V.Parts {
				part := &ln.V.Parts[k]
				steps := float32(1)
				if part.Rows == structured.Tied {
					steps = float32(max(1, e.Data.Length(i)))
				}
				if part.Rows == structured.Tied || !sumToOne(part.Of(b), part.Width) {
					others[k].Store(true)
				}
				for j, u := range part.Of(b) {
					part.Of(b)[j] = by * max(0, u*(1-u/steps))
				}
			}
			v.Set(i, &ln.V, b)
		}
		return nil
	})
	for k := range one {
		one[k] = !others[k].Load() && e.Loss != Quadratic
	}
	if err == nil {
		err = e.AllGatherMarginals(ctx, v)
	}
	if err == nil {
		err = e.allRanksHave(ctx, one)
	}
	return sums, one, err
}

// sumToOne reports whether every row of marginals sums to 1.
func sumToOne(u []float32, width int) bool {
	for ; len(u) > 0; u = u[width:] {
		sum := float32(0)
		for _, x := range u[:width] {
			sum += x
		}
		if math.Abs(float64(sum)-1) > 1e-3 {
			return false
		}
	}
	return true
}

// factors returns the factored matrices of a block, whose part of the potentials has the given spread.
func (e *Engine) factors(ctx context.Context, b nets.DenseBlock, spread *structured.Part) (metricBlock, error) {
	block, y, t := metricBlock{DenseBlock: b}, spread.Width, e.Data.Positions()
	rows, own := spread.Rows == structured.Positions && y == b.Width, b.Width
	if !rows || e.Loss == Quadratic || b.Width*b.Dim*b.Dim > mostFactored { // all columns of the quadratic loss have one Hessian
		own = 1
	}
	mean := 0.0 // spread of a position, where rows are no positions
	for _, x := range spread.Values {
		mean += float64(x) / float64(t*b.Width)
	}
	of := func(column, t int) float64 {
		switch {
		case !rows:
			return mean
		case own == b.Width:
			return float64(spread.Values[t*y+column])
		}
		sum := 0.0
		for _, x := range spread.Values[t*y:][:y] {
			sum += float64(x)
		}
		return sum / float64(y)
	}
	block.factors = make([]mat.Cholesky, own)
	errs := make([]error, own)
	e.Parallel(own, func(column int) {
		if ctx.Err() != nil {
			return
		}
		var p *mat.SymDense
		if p, errs[column] = e.gram(b.Bias >= 0, func(t int) float64 { return of(column, t) }); errs[column] == nil {
			factorise(&block.factors[column], p, e.Lambda)
		}
	})
	for _, err := range errs {
		if err != nil {
			return block, err
		}
	}
	return block, ctx.Err()
}

// gram estimates (1/n) Σ_t a_t z_t z_tᵀ, where z_t ends with a 1 if there are biases, for given a_t ≥ 0 from some of
// the rows. If there are more than it needs, row t takes part with the probability min(1, a_t/τ) and with max(a_t, τ)
// in place of a_t, by systematic sampling.
func (e *Engine) gram(bias bool, a func(t int) float64) (*mat.SymDense, error) {
	k, total := e.Data.Dim, 0.0
	if bias {
		k++
	}
	for t := range e.Data.Positions() {
		total += a(t)
	}
	τ := 0.0
	if most := rowsPerColumn * k; e.Data.Positions() > most && e.Loss != Quadratic {
		τ = total / float64(most)
	}
	g := gramSum{blas: kernels.CurrentBLAS(), k: k, sum: make([]float64, k*k), product: make([]float32, k*k)}
	chance := 0.5
	for t := range e.Data.Positions() {
		x := a(t)
		if x <= 0 {
			continue
		}
		if chance += min(1, x/τ); chance < 1 {
			continue
		}
		chance--
		if err := g.add(e.Data, t, max(x, τ)); err != nil {
			return nil, err
		}
	}
	g.flush()
	inv := 1 / float64(e.Len())
	for j := range g.sum {
		g.sum[j] *= inv
	}
	return mat.NewSymDense(k, g.sum), nil
}

// gramSum is a sum of a z zᵀ.
type gramSum struct {
	blas    kernels.BLAS
	k       int
	z       []float32 // rows √a z that are not in the sum yet
	product []float32
	sum     []float64
}

func (g *gramSum) add(d *structured.Dataset, t int, a float64) error {
	at := len(g.z)
	g.z = append(g.z, make([]float32, g.k)...)
	row := g.z[at:]
	if d.Dim < g.k {
		row[d.Dim] = 1
	}
	if d.Features != nil {
		copy(row, d.Features[t*d.Dim:][:d.Dim])
	} else if err := d.Source.Read(row[:d.Dim], t, t+1); err != nil {
		return err
	}
	vec.Scale(float32(math.Sqrt(a)), row)
	if len(g.z) == rowsAtOnce*g.k {
		g.flush()
	}
	return nil
}

// flush adds the products of the rows to the sum. It scales the rows to numbers below 1, whose products do not
// overflow.
func (g *gramSum) flush() {
	most := float32(0)
	for _, x := range g.z {
		most = max(most, x, -x)
	}
	if most == 0 {
		g.z = g.z[:0]
		return
	}
	_, exponent := math.Frexp(float64(most))
	vec.Scale(float32(math.Ldexp(1, -exponent/2)), g.z)
	vec.Scale(float32(math.Ldexp(1, exponent/2-exponent)), g.z)
	g.blas.Sgemm(true, false, g.k, g.k, len(g.z)/g.k, g.z, g.z, 0, g.product)
	by := math.Ldexp(1, 2*exponent)
	for j, x := range g.product {
		g.sum[j] += by * float64(x)
	}
	g.z = g.z[:0]
}

// factorise computes the Cholesky factor of p + λI, with a larger λ where rounding asks for it. It overwrites p.
func factorise(to *mat.Cholesky, p *mat.SymDense, λ float64) {
	k, most := p.SymmetricDim(), 0.0
	diagonal := make([]float64, k)
	for j := range diagonal {
		diagonal[j] = p.At(j, j)
		for i := range j + 1 { // off the diagonal, too: a difference of gradients need not be positive semidefinite
			most = max(most, math.Abs(p.At(i, j)))
		}
	}
	if math.IsNaN(most) || math.IsInf(most, 0) { // nothing is known: a multiple of the identity
		p.Zero()
		clear(diagonal)
		most = 0
	}
	if most == 0 && λ == 0 {
		λ = 1
	}
	for least := leastShift; ; least *= 100 {
		for j, x := range diagonal {
			p.SetSym(j, j, x+max(λ, least*math.Abs(x), least*leastShift*most))
		}
		if to.Factorize(p) {
			return
		}
	}
}

// Solve sets to to P⁻¹g.
func (m *Metric) Solve(e *Engine, to, g []float64) {
	for j, p := range m.diagonal {
		to[j] = g[j] / p
	}
	for k := range m.tied {
		b := &m.tied[k]
		x := to[b.offset:][:b.width]
		copy(x, g[b.offset:])
		solve(&b.factor, x)
	}
	for k := range m.blocks {
		m.solveBlock(e, &m.blocks[k], to, g)
	}
}

// solveBlock is Solve for a block and its biases.
func (m *Metric) solveBlock(e *Engine, b *metricBlock, to, g []float64) {
	of := func(d int) (lo, hi int) { // the weights of input d
		if d == b.Dim {
			return b.Bias, b.Bias + b.Width
		}
		return b.Offset + d*b.Width, b.Offset + (d+1)*b.Width
	}
	k := b.Dim
	if b.Bias >= 0 {
		k++
	}
	common := make([]float64, k) // means of the rows of g
	if b.common {
		for d := range k {
			lo, hi := of(d)
			common[d] = floats.Sum(g[lo:hi]) / float64(b.Width)
		}
	}
	e.Parallel(b.Width, func(y int) {
		column := make([]float64, k)
		for d := range k {
			lo, _ := of(d)
			column[d] = g[lo+y] - common[d]
		}
		solve(&b.factors[min(y, len(b.factors)-1)], column)
		for d, x := range column {
			lo, _ := of(d)
			to[lo+y] = x
		}
	})
	if !b.common {
		return
	}
	for d, mean := range common {
		lo, hi := of(d)
		shift := -floats.Sum(to[lo:hi]) / float64(b.Width)
		if m.λ > 0 {
			shift += mean / m.λ
		}
		floats.AddConst(shift, to[lo:hi])
	}
}

// solve replaces x by A⁻¹x for a factored matrix A.
func solve(a *mat.Cholesky, x []float64) {
	v := mat.NewVecDense(len(x), x)
	_ = a.SolveVecTo(v, v) // the error says that A is ill-conditioned; the solution is there
}
