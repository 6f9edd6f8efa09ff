package cut

import (
	"fmt"
	"math"

	"github.com/dsp-go/dsp/structured"
)

// rounding is the part of the scores of its factors that a pair may lack to favour equal states: what their sum may
// lose.
const rounding = 1e-13

// favours returns 1 if equal states score more in all than different ones, −1 if they score less, and 0 if they score
// the same.
func (c *couple) favours() int {
	θ := &c.θ
	equal, different := θ[0][0]+θ[1][1], θ[0][1]+θ[1][0]
	forbidsEqual, forbidsDifferent := math.IsInf(equal, -1), math.IsInf(different, -1)
	switch {
	case forbidsEqual && forbidsDifferent: // the state of a variable is fixed
		return 0
	case forbidsDifferent:
		return 1
	case forbidsEqual:
		return -1
	}
	switch {
	case equal-different > rounding*c.size:
		return 1
	case different-equal > rounding*c.size:
		return -1
	}
	return 0
}

// orient returns which variables have their states exchanged, so that all pairs favour equal states.
func (q *quadratic) orient() (flip []bool, err error) {
	flip = make([]bool, len(q.node))
	at := make([][]int, len(q.node)) // pairs that favour something
	for k := range q.pairs {
		c := &q.pairs[k]
		switch c.favours() {
		case -1:
			if q.wide {
				return nil, q.refuse(c, "favours different states, and there are factors of more than two variables")
			}
			fallthrough
		case 1:
			at[c.u], at[c.v] = append(at[c.u], k), append(at[c.v], k)
		}
	}
	seen := make([]bool, len(q.node))
	for first := range q.node {
		if seen[first] {
			continue
		}
		seen[first] = true
		for queue := []int{first}; len(queue) > 0; queue = queue[1:] {
			for _, k := range at[queue[0]] {
				c := &q.pairs[k]
				other := c.u + c.v - queue[0]
				want := flip[queue[0]] != (c.favours() < 0)
				if !seen[other] {
					seen[other], flip[other] = true, want
					queue = append(queue, other)
				} else if flip[other] != want {
					return nil, q.refuse(c, "is in a loop with an odd number of factors that favour different states")
				}
			}
		}
	}
	return flip, nil
}

func (q *quadratic) refuse(c *couple, why string) error {
	if c.v >= len(q.model.States) {
		return fmt.Errorf("factor %d %s", c.factor, why)
	}
	return fmt.Errorf("factor %d of variables %d and %d %s (the logarithms of all factors of both add up to %.4g, %.4g, "+
		"%.4g, %.4g for the states 00, 01, 10, 11)",
		c.factor, c.u, c.v, why, c.θ[0][0], c.θ[0][1], c.θ[1][0], c.θ[1][1])
}

// solve cuts the network of the pairs.
func (q *quadratic) solve(flip []bool) []int {
	g := &structured.Graph{}
	for _, c := range q.pairs {
		g.Ends = append(g.Ends, [2]int32{int32(c.u), int32(c.v)})
	}
	var w network
	w.begin(g, len(q.node))
	for v, θ := range q.node {
		if flip[v] {
			θ[0], θ[1] = θ[1], θ[0]
		}
		w.nodes[v].excess = difference(θ[0], θ[1])
	}
	for e, c := range q.pairs {
		θ := c.θ
		if flip[c.u] {
			θ[0], θ[1] = θ[1], θ[0]
		}
		if flip[c.v] {
			θ[0][0], θ[0][1], θ[1][0], θ[1][1] = θ[0][1], θ[0][0], θ[1][1], θ[1][0]
		}
		t, legal := termOf(θ[0][0], θ[0][1], θ[1][0], θ[1][1])
		w.add(e, int32(c.u), int32(c.v), t, legal)
	}
	w.repair()
	if !w.possible() || !w.maximise() {
		return nil
	}
	y, states := make([]int32, len(q.node)), make([]int, len(q.model.States))
	w.labels(y)
	for v := range states {
		states[v] = int(y[v])
		if flip[v] {
			states[v] = 1 - states[v]
		}
	}
	return states
}
