package models

import (
	"math"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/graphs"
)

// abilities are what the oracle and the structure answer; nil: they do not.
type abilities struct {
	sums      oracles.Summer
	margins   oracles.MaxMarginaler // also nil unless they are asked for and there are no sums
	ranks     oracles.Ranker
	truncates oracles.Truncator
	risk      structured.RiskMinimiser
}

// able returns what there is, and refuses options that ask for more.
func (p *predictor) able(o predictions.Options) (can abilities, err error) {
	if o.Decode == predictions.Expansion {
		if err := p.checkExpansion(); err != nil {
			return can, err
		}
	}
	can.sums, _ = p.oracle.(oracles.Summer)
	can.ranks, _ = p.oracle.(oracles.Ranker)
	can.truncates, _ = p.oracle.(oracles.Truncator)
	can.risk, _ = p.θ.Structure.(structured.RiskMinimiser)
	labels := o.Marginals || o.Confidence
	if can.sums == nil && labels {
		can.margins, _ = p.oracle.(oracles.MaxMarginaler)
	}
	switch {
	case can.sums == nil && (o.Decode == predictions.LeastRisk || labels && can.margins == nil):
		return can, structured.BadInput("probabilities need sums over all outputs, which a %s does not have",
			p.θ.Structure.Name())
	case can.risk == nil && o.Decode == predictions.LeastRisk:
		return can, structured.BadInput("a %s has no output of least risk: that needs the probability of its parts",
			p.θ.Structure.Name())
	case can.ranks == nil && o.NBest > 0:
		return can, structured.BadInput("the oracle of a %s does not find the n best outputs", p.θ.Structure.Name())
	}
	return can, nil
}

// bounds replaces the upper bounds among the scores, where the oracle's answers are not proven to be the best, by the
// scores of the answers. It returns the bounds, nil where there are none.
func (p *predictor) bounds(labels []int32) []*float64 {
	bounder, ok := p.oracle.(oracles.Bounder)
	if relaxed, is := p.oracle.(oracles.Relaxed); !ok || is && relaxed.Relaxed() == "" {
		return nil
	}
	all := make([]*float64, len(p.score))
	for b := range all {
		if upper, exact := bounder.Bound(b); !exact && !math.IsInf(p.score[b], -1) {
			p.score[b] = p.θ.Score(b, labels[p.θ.Outputs[b]:p.θ.Outputs[b+1]])
			if upper > p.score[b] {
				all[b] = &upper
			}
		}
	}
	return all
}

// checkExpansion refuses structures that are not for alpha-expansion.
func (p *predictor) checkExpansion() error {
	of, graph := p.θ.Structure.(graphs.Pairwise)
	labels := p.θ.Parts[0].Width
	switch {
	case !graph:
		return structured.BadInput("--decode expansion is for graphs, not for a %s, whose best output is found exactly",
			p.θ.Structure.Name())
	case of.Edges != graphs.Potts:
		return structured.BadInput("--decode expansion is for graphs whose edges favour equal labels (--edges potts), not "+
			"for --edges %s", of.Edges)
	case labels <= 2:
		return structured.BadInput("--decode expansion is for more than two labels; a cut finds the best of two: train with " +
			"--oracle cut")
	}
	return nil
}

// expanded replaces the labels by those of alpha-expansion, and their scores. Before, these are the answers of the
// oracle, whose scores or bounds bound those of all labels: it returns these bounds, nil for labels that attain them.
func (p *predictor) expanded(labels []int32, upper []*float64) []*float64 {
	if p.moves == nil {
		p.moves = cut.NewExpansion()
	}
	bounds := make([]*float64, len(p.score))
	for b, best := range p.score {
		if upper != nil && upper[b] != nil {
			best = *upper[b]
		}
		bounds[b] = &best
	}
	p.moves.ResetTruncated()
	p.moves.Decode(&p.θ, labels, p.score)
	p.truncated = p.moves.Truncated()
	for b, score := range p.score {
		const rounding = 1e-9 // relative, of sums in another order
		if *bounds[b]-score <= rounding*(1+math.Abs(score)) {
			bounds[b] = nil
		}
	}
	return bounds
}

// leastRisk replaces the best outputs by those of the least risk under the marginals.
func (p *predictor) leastRisk(labels []int32, by structured.RiskMinimiser) {
	p.risk.Copy(&p.θ)
	by.LeastRisk(&p.u, &p.risk)
	p.oracle.Max(&p.risk, labels, p.score)
	for b := range p.score {
		if !math.IsInf(p.score[b], -1) {
			p.score[b] = p.θ.Score(b, labels[p.θ.Outputs[b]:p.θ.Outputs[b+1]])
		}
	}
}

// tags returns the probabilities of the tags that a converter writes, of each example.
func (p *predictor) tags(of *chains.Converter, summer oracles.Summer, temperature float64) [][]float32 {
	θ, written := chains.Of(&p.θ), of.Tags()
	all, logZ := make([][]float32, θ.Len()), []float64{0}
	for b := range all {
		lo, hi := θ.Offsets[b], θ.Offsets[b+1]
		if lo == hi {
			continue
		}
		chains.Resize(&p.steps, []int{0, hi - lo}, θ.Y, true)
		one := chains.Of(&p.steps)
		copy(one.Node, θ.Node[lo*θ.Y:hi*θ.Y])
		for t := range hi - lo {
			copy(one.EdgeAt(t), θ.EdgeAt(lo+t))
		}
		summer.Exp(&p.steps, temperature, logZ, &p.stepped)
		u := chains.In(&p.stepped)
		all[b] = of.Shares(written, u.NodeOf(0), u.EdgeOf(0))
	}
	return all
}

// noOutput returns an error for the first example without an allowed output, whose score is −∞, and nil if there is
// none.
func noOutput(d *structured.Dataset, examples []int, score []float64, s structured.Structure) error {
	for b, i := range examples {
		if math.IsInf(score[b], -1) {
			return structured.BadInput("%s: there is no %s of this example", d.Where(i), s.Name())
		}
	}
	return nil
}
