package branching

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles/factors"
)

// Where costs spread over powers of ten, as those of interference among frequencies do, blocks alone end in assignments
// that none of them leaves. The best assignment keeps improving all the same.
func TestKeepsImproving(t *testing.T) {
	for _, seed := range []uint64{1, 3} {
		const variables, states = 60, 12
		r, m := rand.New(rand.NewPCG(seed, 6)), &factors.Model{}
		for range variables {
			m.States = append(m.States, states)
		}
		for range 6 * variables {
			u := r.IntN(variables)
			f := factors.Factor{Scope: []int{u, (u + 1 + r.IntN(variables-1)) % variables},
				Table: make([]float64, states*states)}
			cost, apart := []float64{1, 10, 100, 1000}[r.IntN(4)], 1+r.IntN(6)
			for i := range states {
				for j := range states {
					if i-j < apart && j-i < apart {
						f.Table[i*states+j] = -cost
					}
				}
			}
			m.Factors = append(m.Factors, f)
		}
		h := newNeighbourhood(newNetwork(m), rand.New(rand.NewPCG(seed, 1)), make([]int, variables))
		best, early := h.value, h.value
		for work := 0; work < 1<<24; {
			if h.stuck() {
				h.kick()
			}
			_, spent := h.step()
			if best = max(best, h.value); work < 1<<22 {
				early = best
			}
			work += spent
		}
		if best <= early {
			t.Errorf("seed %d: %d early, and %d in the end", seed, early, best)
		}
	}
}
