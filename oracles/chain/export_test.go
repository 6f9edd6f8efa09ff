package chain

import (
	"iter"
	"math"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Every yields an oracle for each set of kernels that this build and machine can run, with the set's name.
func Every() iter.Seq2[string, *Oracle] {
	return func(yield func(string, *Oracle) bool) {
		for _, k := range available {
			if !yield(k.name, &Oracle{k: k}) {
				return
			}
		}
	}
}

// LogDomain computes Exp for a single chain at temperature 1 in the log domain, and reports whether float32 and float64
// can represent its probabilities.
func LogDomain(θ *structured.Potentials) (logZ float64, u *structured.Marginals, inRange [2]bool) {
	u = new(structured.Marginals)
	u.Like(θ)
	u.Clear()
	c, to := &Oracle{k: &plain}, chains.In(u)
	c.prepare(θ)
	logZ = c.logs.backward(c, 0, c.θ.Offsets[1], 1)
	if !math.IsInf(logZ, -1) {
		c.logs.forward(c, 0, 1, &to)
	}
	over := span{node: boundsOf(c.θ.Node), edge: boundsOf(c.θ.Edge)}
	if c.θ.PerPosition {
		over.edge = boundsOf(c.θ.Edge[c.y*c.y:])
	}
	c.single.begin(&c.k.single)
	c.double.begin(&c.k.double)
	_, inRange[0] = c.single.run(c, 0, over, 1, nil)
	_, inRange[1] = c.double.run(c, 0, over, 1, nil)
	return logZ, u, inRange
}
