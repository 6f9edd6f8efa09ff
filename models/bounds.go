package models

import (
	"math"

	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// Bounds says how good outputs are that may not be the best.
type Bounds struct {
	Decoded  bool    // by alpha-expansion
	Outputs  int     // of all examples
	Unproven int     // that have a bound above their score
	Score    float64 // sum over all outputs
	Bound    float64 // sum of the bounds, and of the scores of outputs that are proven to be the best
}

func (s *Bounds) add(p *predictions.Prediction) {
	s.Outputs++
	s.Score += p.Score
	if p.Bound == nil {
		s.Bound += p.Score
		return
	}
	s.Bound += *p.Bound
	s.Unproven++
}

// Gap returns what the outputs may lose at most, in all.
func (s Bounds) Gap() float64 { return s.Bound - s.Score }

// OnBounds has report called after every Predict, Report, Draw or Write that succeeded with outputs that are not proven to be the best.
func (m *Model) OnBounds(report func(Bounds)) { m.onBounds = report }

// bounds replaces the upper bounds among the scores, where the oracle's answers are not proven to be the best, by the scores of the
// answers. It returns the bounds, nil where there are none.
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
		return structured.BadInput("--decode expansion is for graphs, not for a %s, whose best output is found exactly", p.θ.Structure.Name())
	case of.Edges != graphs.Potts:
		return structured.BadInput("--decode expansion is for graphs whose edges favour equal labels (--edges potts), not for --edges %s", of.Edges)
	case labels <= 2:
		return structured.BadInput("--decode expansion is for more than two labels; a cut finds the best of two: train with --oracle cut")
	}
	return nil
}

// expanded replaces the labels by those of alpha-expansion, and their scores. Before, these are the answers of the oracle, whose scores or bounds bound
// those of all labels: it returns these bounds, nil for labels that attain them.
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
