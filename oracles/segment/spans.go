package segment

import (
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Spans computes probabilities of single segments. It has scratch memory: use one per goroutine.
type Spans struct {
	o     Oracle
	view  structured.Potentials
	u     structured.Marginals
	value [1]float64
}

// NewSpans returns a Spans without an example.
func NewSpans() *Spans { return &Spans{o: Oracle{k: fastest, keepsEnds: true}} }

// Reset makes p the distribution over the outputs of example b of θ at temperature μ.
func (p *Spans) Reset(θ *structured.Potentials, b int, μ float64) {
	θ.View(b, &p.view)
	p.o.allEnds = vec.Grow(p.o.allEnds, 0)
	p.o.Exp(&p.view, μ, p.value[:], &p.u)
}

// Probability returns the probability that s is a segment of the output.
func (p *Spans) Probability(s segments.Segment) float64 {
	o := &p.o
	l, j := s.Last-s.First+1, s.Last*o.stride+int(s.Label)
	if s.First < 0 || s.Last >= o.n || len(o.allEnds) == 0 || float64(l) > o.reach[j] {
		return 0
	}
	return o.allEnds[j] * math.Exp(o.h[s.First*o.stride+int(s.Label)]+o.lengthScore(s.Last, l, int(s.Label))-o.a[j])
}

// Each visits the segments with at least that probability, by their first and last positions and labels.
func (p *Spans) Each(least float64, visit func(s segments.Segment, probability float64)) {
	o := &p.o
	if len(o.allEnds) == 0 {
		return
	}
	for first := range o.n {
		for last := first; last < min(o.n, first+o.s.Longest); last++ {
			for y := range o.s.Labels {
				if o.allEnds[last*o.stride+y] < least {
					continue
				}
				s := segments.Segment{First: first, Last: last, Label: int32(y)}
				if q := p.Probability(s); q >= least {
					visit(s, q)
				}
			}
		}
	}
}
