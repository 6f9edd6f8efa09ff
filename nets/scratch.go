package nets

import "github.com/dsp-go/dsp/nets/graph"

// spareScratch is how many times as much as the arena of a program a worker takes: sizes are rounded up, it has its own
// copies of inputs, and some ops have scratch memory.
const spareScratch = 2

// ScratchFloats estimates how many float32s of scratch memory a worker takes for a batch of so many rows, pairs and
// characters. Each of them takes what it takes in small programs, which the first call compiles. The memory of an
// encoder is not in it.
func (n *Net) ScratchFloats(size graph.Size) float64 {
	n.scratch.Do(func() {
		at := func(s graph.Size) float64 {
			if p, err := n.Program(n.only(s)); err == nil {
				return float64(p.Arena)
			}
			return 0
		}
		const step = 64
		base := graph.Size{Rows: step, Pairs: step, Chars: step}
		least := at(base)
		grown := func(change func(s *graph.Size)) float64 {
			s := base
			change(&s)
			return max(0, at(s)-least) / step
		}
		n.perRow = grown(func(s *graph.Size) { s.Rows += step })
		n.perPair = grown(func(s *graph.Size) { s.Pairs += step })
		n.perCharacter = grown(func(s *graph.Size) { s.Chars += step })
	})
	return spareScratch * (n.perRow*float64(size.Rows) + n.perPair*float64(size.Pairs) +
		n.perCharacter*float64(size.Chars))
}

// only returns a size without what the programs of the network do not read.
func (n *Net) only(s graph.Size) graph.Size {
	if needs := n.shape.Needs; !needs.Pairs && !needs.Edges {
		s.Pairs = 0
	}
	if !n.shape.Needs.Characters {
		s.Chars = 0
	}
	return s
}
