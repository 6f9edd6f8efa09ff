package exact

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// Without edge scores, a graph of any width is answered variable by variable, with the pair marginals of independent
// variables.
func TestVariablesApart(t *testing.T) {
	const n, labels = 40, 3
	g := &structured.Graph{}
	for u := range int32(n) {
		for v := range u {
			g.Ends = append(g.Ends, [2]int32{v, u})
		}
	}
	θ := &structured.Potentials{}
	θ.Reshape(graphs.Pairwise{Edges: graphs.Potts}.Form(labels, 0), []int{0, n}, func(table string) []int {
		if table == structured.Positions {
			return []int{0, n}
		}
		return []int{0, len(g.Ends)}
	})
	θ.Graphs = []*structured.Graph{g}
	r := rand.New(rand.NewPCG(1, 2))
	for k := range θ.Parts[0].Values {
		θ.Parts[0].Values[k] = float32(r.NormFloat64())
	}
	clear(θ.Parts[1].Values)
	o, y, value := New(), make([]int32, n), make([]float64, 1)
	o.Max(θ, y, value)
	for v := range n {
		row := θ.Parts[0].Values[v*labels:][:labels]
		if best := slices.Index(row, slices.Max(row)); int(y[v]) != best {
			t.Errorf("variable %d has label %d, expected %d", v, y[v], best)
		}
	}
	var u structured.Marginals
	o.Exp(θ, 1, value, &u)
	logZ, p := 0.0, make([]float64, n*labels)
	for v := range n {
		z := 0.0
		for l := range labels {
			p[v*labels+l] = math.Exp(float64(θ.Parts[0].Values[v*labels+l]))
			z += p[v*labels+l]
		}
		for l := range labels {
			p[v*labels+l] /= z
		}
		logZ += math.Log(z)
	}
	if math.Abs(value[0]-logZ) > 1e-6*logZ {
		t.Errorf("log Z %v, expected %v", value[0], logZ)
	}
	for e, ends := range g.Ends {
		want := 0.0
		for l := range labels {
			want += p[int(ends[0])*labels+l] * p[int(ends[1])*labels+l]
		}
		if got := u.Parts[1].Values[e]; math.Abs(float64(got)-want) > 1e-5 {
			t.Fatalf("edge %d: %v, expected %v", e, got, want)
		}
	}
}
