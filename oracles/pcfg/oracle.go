package pcfg

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/pcfg"
)

// Oracle is the oracle of derivations by grammars: the chart of Declare, whose sums are products where these are in
// range.
type Oracle struct{ *chart.Oracle }

// New returns an oracle of derivations by grammars.
func New() *Oracle { return newOf(fastest) }

func newOf(k *kernels) *Oracle {
	o, s := chart.New(Declare), products{kernels: k}
	o.Products = s.exp
	return &Oracle{o}
}

// Rounding implements oracles.Rounder. To the bound of the chart it adds that of products: levels of spans are at most
// the sum of the largest scores of the parts of a derivation in size, plus logarithms of sums; each of 2n − 1 spans
// adds a few of them, and sums at most n + S² terms, of which each rounds.
func (o *Oracle) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	bound := o.Oracle.Rounding(θ, b, μ)
	if μ == 0 || θ.Outputs[b] == θ.Outputs[b+1] {
		return bound
	}
	var largest [4]float64
	for k := range largest {
		largest[k] = oracles.Largest(θ.Parts[k].Of(b))
	}
	n := float64(constituents.Words(θ.Outputs[b+1] - θ.Outputs[b]))
	nonterminals, preterminals := pcfg.Sizes(θ.Parts)
	terms := n + float64((nonterminals+preterminals)*(nonterminals+preterminals))
	size := n*(largest[0]+largest[1]+largest[2]) + largest[3]
	return bound + oracles.Double*2*n*(4*(size+μ*2*n*math.Log(terms))+μ*(terms+20))
}
