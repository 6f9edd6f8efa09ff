package engine

import "github.com/dsp-go/dsp/structured"

// PassLanes is the most lanes of a pass.
const PassLanes = passLanes

// Lane returns one of the lanes created so far.
func (e *Engine) Lane(k int) *Lane { return e.team.lanes[k] }

// Made returns the numbers of lanes and of results of shards created, and of shards in a full pass.
func (e *Engine) Made() (lanes, results, shards int) {
	return len(e.team.lanes), len(e.team.results), len(e.layout.shards)
}

// Drift returns b.
func (x *AffinePath) Drift() []float32 { return x.b }

// Squares returns the means of squared gradients.
func (d *ScaledDescent) Squares() []float32 { return d.v }

// Asked returns the mean loss of the last batch and its gradient.
func (d *ScaledDescent) Asked() (f float64, g []float32) {
	m := d.stepper.(*hostDescent)
	return m.f, m.g
}

// BalanceRow balances a row of marginals less a reference and returns how much has moved.
func BalanceRow(v, negated, θ []float32, c float64) float64 {
	return balanceRow(v, negated, θ, c).moved
}

// BalanceTarget balances a row of targets.
func BalanceTarget(u []float32) { balanceTarget(u) }

// ScoredCentre reports whether full passes keep sizes of potentials at the centre.
func (e *Engine) ScoredCentre() bool { return e.centres != nil }

// ChargeOfSums returns what a bound is charged for an example with the potentials θ at the centre and, in their rows, a
// v_i whose sums are off by so much together and whose potentials are zero.
func ChargeOfSums(θ *structured.Potentials, off float64) float64 {
	return sizes{sums: off, change: 1}.below(1, measureCentral(θ, 0), 0, 0)
}

// ChargeOfPoint returns what a bound is charged for an example with the potentials θ and a point of a memory that is v
// off the gold output.
func ChargeOfPoint(θ *structured.Potentials, v *structured.Marginals) float64 {
	return measure(θ, 0, 1, v).below(1, central{}, 0, 1)
}

// WideGradient returns the sum of gradients of the last full pass, in float64.
func (e *Engine) WideGradient() []float64 { return e.vectors.wide }
