package exact

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// star draws a variable with many neighbours and two labels.
func star(neighbours int, potential func(neighbour, a, b int) float32) *structured.Potentials {
	g := &structured.Graph{}
	for v := range neighbours {
		g.Ends = append(g.Ends, [2]int32{0, int32(v + 1)})
	}
	θ := new(structured.Potentials)
	θ.Reshape(graphs.Pairwise{}.Form(2, 0), []int{0, neighbours + 1}, func(table string) []int {
		if table == graphs.EdgeRows {
			return []int{0, neighbours}
		}
		return []int{0, neighbours + 1}
	})
	θ.Graphs = []*structured.Graph{g}
	clear(θ.Parts[0].Values)
	for i := range θ.Parts[1].Values {
		θ.Parts[1].Values[i] = potential(i/4, i/2%2, i%2)
	}
	return θ
}

// The product of the messages of many children neither overflows nor underflows.
func TestCrowd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	θ := star(3000, func(int, int, int) float32 { return float32(r.NormFloat64()) })
	for _, k := range available {
		o, x, u := &Oracle{k: k}, exampleOf(θ, 0), zerosLike(θ)
		o.prepareExp(θ, 1)
		if _, ok := o.forestExp(&x, 1, u.Parts[0].Values, u.Parts[1].Values); !ok {
			t.Errorf("%s: refused", k.name)
		}
	}
}

// Children that push a label down until its probability underflows, and others that push it up again, cancel.
func TestCrowdsCancel(t *testing.T) {
	θ := star(80, func(neighbour, a, _ int) float32 {
		if (neighbour < 40) == (a == 1) {
			return -30
		}
		return 0
	})
	for _, k := range available {
		value, u := make([]float64, 1), new(structured.Marginals)
		(&Oracle{k: k}).Exp(θ, 1, value, u)
		if p := u.Parts[0].Values[1]; math.Abs(float64(p)-0.5) > 1e-6 {
			t.Errorf("%s: probability %g, want 0.5", k.name, p)
		}
	}
}
