package chain

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Second is the oracle of second-order chains. It reads them as chains of states, which are pairs of labels that may
// follow each other: the state at position t is (y_{t−1}, y_t). State (i,j) leads to the states (j,k) only, so Max and
// Exp run the recurrences of chains over these steps, block by block (blocks.go), in O(T·Y³) at most. Everything else
// is answered by the Oracle of chains, for which other steps are forbidden.
type Second struct {
	oracle *Oracle
	guard  oracles.Guard
	blocks blocks

	// The chain of states as the Oracle of chains reads it.
	states states
	lifted structured.Potentials

	u     structured.Marginals // of states
	pairs []float64            // [pairs] marginals, sums over positions
	one   structured.Potentials
}

// NewSecond returns an oracle of second-order chains with the fastest kernels of this build and machine.
func NewSecond() *Second { return &Second{oracle: New()} }

var (
	_ oracles.Oracle  = (*Second)(nil)
	_ oracles.Sampler = (*Second)(nil)
	_ oracles.Rounder = (*Second)(nil)
)

// states are the states of the chain that second-order chains are lifted to: first label j after none, for each j, then
// the pairs, by their second label and then their first one, so that ties go as those of chains.
type states struct {
	steps *chains.Steps
	n     int
	from  []int32 // [n] the first label, −1 for none
	label []int32 // [n] the second label
	pair  []int   // [n] its number in steps, −1 for none
	of    []int32 // [pairs] the state of a pair
	into  []int   // [Y+1] states that end in label j, besides j itself, are into[j] to into[j+1]−1
}

// set makes the states of steps, unless they are there.
func (s *states) set(steps *chains.Steps) {
	if s.steps == steps {
		return
	}
	y := steps.Labels
	*s = states{steps: steps, of: make([]int32, len(steps.Pairs))}
	for j := range y {
		s.add(-1, int32(j), -1)
	}
	for j := range y {
		s.into = append(s.into, s.n)
		for i := range y {
			if p := steps.Pair(int32(i), int32(j)); p >= 0 {
				s.of[p] = int32(s.n)
				s.add(int32(i), int32(j), p)
			}
		}
	}
	s.into = append(s.into, s.n)
}

func (s *states) add(from, label int32, pair int) {
	s.from, s.label, s.pair = append(s.from, from), append(s.label, label), append(s.pair, pair)
	s.n++
}

// lift makes the chain of states, with half of all potentials, so that sums of two are valid.
func (c *Second) lift(θ *structured.Potentials) {
	c.guard.Begin(θ)
	c.states.set(θ.Structure.(chains.Second).Steps)
	s, in := &c.states, chains.Of(θ)
	chains.Resize(&c.lifted, in.Offsets, s.n, false)
	to := c.lifted.Parts[0].Values
	for b := range θ.Len() {
		for t := in.Offsets[b]; t < in.Offsets[b+1]; t++ {
			row, node := to[t*s.n:][:s.n], in.Node[t*in.Y:][:in.Y]
			for k := range row {
				row[k] = minusInf
			}
			if t == in.Offsets[b] {
				for k, x := range node {
					row[k] = x / 2
				}
				continue
			}
			for k := in.Y; k < s.n; k++ {
				row[k] = node[s.label[k]]/2 + in.Edge[s.steps.Pairs[s.pair[k]]]/2
			}
		}
	}
	edge := c.lifted.Parts[1].Values
	for k := range edge {
		edge[k] = minusInf
	}
	s.each(func(from, to, triple int) {
		x := float32(0)
		if triple >= 0 {
			x = θ.Parts[2].Values[triple] / 2
		}
		edge[from*s.n+to] = x
	})
}

// Lift returns example b of θ as a chain of states with half of all potentials, and the label of each state. The next
// call on the oracle changes them.
func (c *Second) Lift(θ *structured.Potentials, b int) (states chains.Potentials, labels []int32) {
	θ.View(b, &c.one)
	c.lift(&c.one)
	return chains.Of(&c.lifted), c.states.label
}

// each calls visit with every step between states and the triple that it is, −1 for one without a score.
func (s *states) each(visit func(from, to, triple int)) {
	for from := range s.n {
		j := s.label[from]
		for p := s.steps.First[j]; p < s.steps.First[j+1]; p++ {
			triple := -1
			if before := s.pair[from]; before >= 0 {
				triple = s.steps.Triple(before, s.label[s.of[p]])
			}
			visit(from, int(s.of[p]), triple)
		}
	}
}

// lower turns an output of states into one of labels.
func (s *states) lower(y []int32) {
	for t, k := range y {
		y[t] = s.label[k]
	}
}

// Max implements oracles.Maximiser.
func (c *Second) Max(θ *structured.Potentials, y []int32, value []float64) {
	c.blocks.begin(c.oracle.k, θ)
	c.guard.Begin(θ)
	for b := range θ.Len() {
		switch out := y[θ.Outputs[b]:θ.Outputs[b+1]]; {
		case !c.guard.Valid(θ, b):
			value[b] = oracles.Refuse(out)
		case !c.blocks.max(b, out):
			clear(out)
			value[b] = math.Inf(-1)
		default:
			value[b] = θ.Score(b, out)
		}
	}
}

// TopK implements oracles.Ranker.
func (c *Second) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	c.lift(θ)
	c.oracle.TopK(&c.lifted, k, best)
	for b := range θ.Len() {
		if !c.guard.Valid(θ, b) {
			best.Refuse(θ, b)
			continue
		}
		lo, hi := θ.Outputs[b], θ.Outputs[b+1]
		for n := range best.Count[b] { // lifting rounds, so outputs that nearly tie may come in the wrong order
			c.states.lower(best.Output(n, lo, hi))
			best.Place(b, n, lo, hi, θ.Score(b, best.Output(n, lo, hi)))
		}
	}
}

// Exp implements oracles.Summer. Examples whose probabilities span more than float64 are chains of states to the Oracle
// of chains.
func (c *Second) Exp(θ *structured.Potentials, μ float64, value []float64, u *structured.Marginals) {
	c.blocks.begin(c.oracle.k, θ)
	c.blocks.beginSums()
	c.guard.Begin(θ)
	if u != nil {
		u.Like(θ)
		u.Clear()
	}
	for b := range θ.Len() {
		if !c.guard.Valid(θ, b) {
			value[b] = oracles.RefuseSums(u, b)
			continue
		}
		var ok bool
		if value[b], ok = c.blocks.sum(b, μ, u); !ok {
			value[b] = c.sumStates(θ, b, μ, u)
		}
	}
}

// sumStates is Exp of an example by the Oracle of chains.
func (c *Second) sumStates(θ *structured.Potentials, b int, μ float64, u *structured.Marginals) float64 {
	var value [1]float64
	θ.View(b, &c.one)
	guard := c.guard
	c.lift(&c.one)
	c.guard = guard
	if u == nil {
		c.oracle.Exp(&c.lifted, μ/2, value[:], nil)
		return 2 * value[0]
	}
	c.oracle.Exp(&c.lifted, μ/2, value[:], &c.u)
	s, in := &c.states, chains.In(&c.u)
	nodes, edges, triples := u.Parts[0].Of(b), u.Parts[1].Of(b), u.Parts[2].Of(b)
	y := s.steps.Labels
	c.pairs = vec.Grow(c.pairs, len(s.steps.Pairs))
	clear(c.pairs)
	for t, p := 0, in.Node; len(p) > 0; t, p = t+1, p[s.n:] {
		for k, q := range p[:s.n] {
			nodes[t*y+int(s.label[k])] += q
			if s.pair[k] >= 0 {
				c.pairs[s.pair[k]] += float64(q)
			}
		}
	}
	for p, pair := range s.steps.Pairs {
		edges[pair] = float32(c.pairs[p])
	}
	s.each(func(from, to, triple int) {
		if triple >= 0 {
			triples[triple] = in.Edge[from*s.n+to]
		}
	})
	return 2 * value[0]
}

func (c *Second) Sample(θ *structured.Potentials, μ float64, n int, seed []uint64, to *oracles.Samples) {
	c.lift(θ)
	c.oracle.Sample(&c.lifted, μ/2, n, seed, to)
	for b := range θ.Len() {
		if !c.guard.Valid(θ, b) {
			to.Count[b] = 0
		}
		for k := range to.Count[b] {
			c.states.lower(to.Output(k, θ.Outputs[b], θ.Outputs[b+1]))
		}
	}
}

// Rounding implements oracles.Rounder: the bound of the chain of states, and that of the sums that make its potentials,
// each of which errs by at most one unit of its result. Max compares two outputs. Scores are sums of three numbers per
// position in float64. It takes O(T·pairs), and a look at all blocks.
func (c *Second) Rounding(θ *structured.Potentials, b int, μ float64) float64 {
	if θ.Outputs[b] == θ.Outputs[b+1] {
		return 0
	}
	c.blocks.begin(c.oracle.k, θ)
	return c.blocks.rounding(θ, b, μ)
}
