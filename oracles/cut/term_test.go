package cut

import (
	"math"
	"testing"
)

// The costs of a term are the potentials of its edge up to a constant, for every table of some numbers that is
// submodular; the others are those with a negative capacity and those that forbid equal labels only.
func TestTerm(t *testing.T) {
	numbers := []float64{-inf, -1, 0, 2.5}
	times := func(cost float64, y int) float64 {
		if y == 0 {
			return 0
		}
		return cost
	}
	submodular := 0
	for k := range 256 {
		p := [4]float64{numbers[k&3], numbers[k>>2&3], numbers[k>>4&3], numbers[k>>6&3]}
		term, legal := termOf(p[0], p[1], p[2], p[3])
		equal, different := p[0]+p[3], p[1]+p[2]
		if want := equal >= different; want != (legal && term.forward >= 0) {
			t.Errorf("%v: legal %v, forward %g", p, legal, term.forward)
		}
		if equal < different {
			continue
		}
		submodular++
		var score [4]float64
		base := math.NaN() // of an allowed pair of labels
		for at := range score {
			u, v := at/2, at%2
			// A negative infinite cost of label 1 is what label 0 costs.
			score[at] = -times(term.forward, v&^u) - times(term.backward, u&^v)
			for _, x := range []struct {
				cost float64
				y    int
			}{{term.u, u}, {term.v, v}} {
				switch {
				case math.IsNaN(x.cost), x.cost == -inf && x.y == 0:
					score[at] = -inf
				case x.cost != -inf:
					score[at] -= times(x.cost, x.y)
				}
			}
			if p[at] > -inf && base != base {
				base = p[at] - score[at]
			}
		}
		for at := range score {
			if p[at] == -inf && score[at] != -inf || p[at] > -inf && !(math.Abs(score[at]+base-p[at]) < 1e-12) {
				t.Errorf("%v: scores %v", p, score)
				break
			}
		}
	}
	if submodular < 50 {
		t.Errorf("only %d tables are submodular", submodular)
	}
}
