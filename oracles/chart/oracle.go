package chart

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/derivations"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Oracle answers for a structure whose derivations are declared. Among outputs that tie, Max finds the one whose
// derivation has the first term in every cell, from the last cell on.
type Oracle struct {
	// Products, unless it is nil, returns log Z of an example that Exp is asked about, at the rate 1/μ, and writes its
	// marginals, which are zero before, unless u is nil. Where it returns false the chart answers.
	Products func(θ *structured.Potentials, b int, rate float64, u *structured.Marginals) (logZ float64, ok bool)

	declare Declare
	guard   oracles.Guard
	chart   Chart
	in      inside
	out     outside
	ranking derivations.Ranking
	waiting []ranked
	shares  []float64 // of samples
	kept    []int     // [cells] where the shares of a cell's terms are, −1 if they are not known
	tangent tangent
	bounds  bounds
	other   *Oracle // of the second distribution of a divergence
}

// New returns the oracle of a structure.
func New(declare Declare) *Oracle { return &Oracle{declare: declare} }

var (
	_ oracles.Oracle       = (*Oracle)(nil)
	_ oracles.Sampler      = (*Oracle)(nil)
	_ oracles.Rounder      = (*Oracle)(nil)
	_ oracles.Proper       = (*Oracle)(nil)
	_ oracles.DoubleSummer = (*Oracle)(nil)
)

// open declares example b, and reads its weights.
func (o *Oracle) open(θ *structured.Potentials, b int, rate float64) {
	o.chart.begin(o.declare, θ, b)
	o.chart.read(θ, b, rate)
}

func (o *Oracle) Max(θ *structured.Potentials, y []int32, value []float64) {
	o.guard.Begin(θ)
	for b := range θ.Len() {
		out := y[θ.Outputs[b]:θ.Outputs[b+1]]
		clear(out)
		switch {
		case len(out) == 0:
			value[b] = 0
			continue
		case !o.guard.Valid(θ, b):
			value[b] = oracles.Refuse(out)
			continue
		}
		o.open(θ, b, 1)
		o.in.maximise(&o.chart)
		if value[b] = o.in.total(&o.chart); value[b] > minusInf {
			o.chart.derive(&o.in, func(cell int) int { return first(o.chart.termsOf(&o.in, cell)) }, out)
			value[b] = θ.Score(b, out)
		}
	}
}

func (o *Oracle) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	if u != nil {
		u.Like(θ)
		u.Clear()
	}
	products := func(b int) bool {
		if o.Products == nil {
			return false
		}
		logZ, ok := o.Products(θ, b, 1/μ, u)
		value[b] = μ * logZ
		return ok
	}
	o.sums(θ, μ, products, func(b int, logZ float64) {
		switch value[b] = μ * logZ; {
		case u == nil:
		case math.IsNaN(logZ):
			oracles.RefuseSums(u, b)
		case logZ > minusInf && θ.Outputs[b] < θ.Outputs[b+1]:
			o.out.compute(&o.chart, &o.in)
			o.scatter(u, b, o.out.weight)
		}
	})
}

// sums sums over the outputs of every example at temperature μ that has no other answer, and calls then with log Z: NaN
// for potentials that are not valid, and 0 for an empty example, of which nothing is open.
func (o *Oracle) sums(θ *structured.Potentials, μ float64, answered func(b int) bool, then func(b int, logZ float64)) {
	o.guard.Begin(θ)
	for b := range θ.Len() {
		switch {
		case θ.Outputs[b] == θ.Outputs[b+1]:
			then(b, 0)
		case !o.guard.Valid(θ, b):
			then(b, math.NaN())
		case answered == nil || !answered(b):
			o.open(θ, b, 1/μ)
			o.in.sum(&o.chart)
			then(b, o.in.total(&o.chart))
		}
	}
}

// scatter writes numbers of the weights to the entries of example b.
func (o *Oracle) scatter(u *structured.Marginals, b int, of []float64) {
	for k, at := range o.chart.parts {
		to := u.Parts[k].Of(b)
		for i := range to {
			to[i] = float32(of[at+i])
		}
	}
}

// Proper implements oracles.Proper: marginals come from the top down, by shares that sum to 1.
func (o *Oracle) Proper(*structured.Potentials, int, float64) bool { return true }

// Sample implements oracles.Sampler. It keeps the shares of the terms of each cell that some output has.
func (o *Oracle) Sample(θ *structured.Potentials, μ float64, n int, seed []uint64, to *oracles.Samples) {
	to.Resize(θ, n)
	var draws oracles.Draws
	choose := func(cell int) int {
		at, terms := o.kept[cell], o.chart.groups[o.chart.of[cell]].terms
		if at < 0 {
			at = len(o.shares)
			o.shares = append(o.shares, shares(o.chart.termsOf(&o.in, cell))...)
			o.kept[cell] = at
		}
		return max(0, oracles.Pick(o.shares[at:at+terms], draws.Uniform()))
	}
	o.sums(θ, μ, nil, func(b int, logZ float64) {
		if θ.Outputs[b] == θ.Outputs[b+1] {
			return
		}
		if !(logZ > minusInf) {
			to.Count[b] = 0
			return
		}
		o.shares, o.kept = o.shares[:0], vec.Grow(o.kept, o.chart.cells)
		for cell := range o.kept {
			o.kept[cell] = -1
		}
		draws.Seed(seed[b])
		for k := range n {
			y := to.Output(k, θ.Outputs[b], θ.Outputs[b+1])
			clear(y)
			o.chart.derive(&o.in, choose, y)
		}
	})
}
