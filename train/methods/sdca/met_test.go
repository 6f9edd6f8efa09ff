package sdca

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// A bound without a gradient is that of the gradient in float64, less what it charges, and no less tight than it says.
// w is no farther from the memory's own weights, summed in float64, than the drift that was counted.
func TestBoundOfMetPoints(t *testing.T) {
	weighted := traintest.AttributeProblem(t, 60, 8, 4, 0, engine.CRF, 0.1)
	weighted.Data.Weights = nil
	for i := range weighted.Len() {
		weighted.Data.Weights = append(weighted.Data.Weights, 0.3+float64(i%3)/2)
	}
	for name, p := range map[string]*train.Problem{
		"crf":             traintest.AttributeProblem(t, 60, 8, 4, 0, engine.CRF, 1./60),
		"softmax-margin":  traintest.AttributeProblem(t, 60, 8, 4, 0, engine.SoftmaxMargin, 1./60),
		"edges":           traintest.AttributeProblem(t, 60, 8, 3, 5, engine.CRF, 0.03),
		"weak λ":          traintest.AttributeProblem(t, 60, 8, 4, 0, engine.CRF, 2e-3),
		"weights":         weighted,
		"constrained":     constrained(traintest.AttributeProblem(t, 12, 4, 5, 0, engine.CRF, 0.1)),
		"long, 17 labels": traintest.AttributeProblem(t, 30, 60, 17, 0, engine.CRF, 1./30),
	} {
		t.Run(name, func(t *testing.T) {
			m := &SDCA{Resync: 1000}
			s := traintest.Start(t, m, p)
			for range 6 {
				traintest.Passes(t, m, p, s, 1)
				if !m.useful(p, math.Inf(1)) {
					t.Fatal("the point cannot be met")
				}
				w, drift := exactWeights(p, m), m.met.drift()
				distance := 0.0
				for j, x := range w {
					distance += (x - float64(m.w[j])) * (x - float64(m.w[j]))
				}
				if distance = math.Sqrt(distance); distance > drift || drift > 1e-3*math.Sqrt(vec.Norm2(m.w)) {
					t.Errorf("pass %d: w is %g from the memory's, which is said to be %g at most, with ‖w‖ = %g",
						s.Passes, distance, drift, math.Sqrt(vec.Norm2(m.w)))
				}

				upper, rounded, err := p.Upper(t.Context(), m.w)
				if err != nil {
					t.Fatal(err)
				}
				met, metUpper, metRounded, err := p.Meet(t.Context(), m.w, &m.memory.u, m.met.length, true)
				if err != nil || metUpper != upper || metRounded != rounded {
					t.Fatalf("F is %v, rounded by %v, where the point is met, and %v by %v else; %v",
						metUpper, metRounded, upper, rounded, err)
				}
				entropy, err := m.memory.boundedEntropy(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				bound, below, far := p.Bound(met, entropy.Value, entropy.Error, drift)
				exact, h, ok, err := p.RecomposeDoubly(t.Context(), &m.memory.φ.Marginals, m.memory.visited)
				if !ok || err != nil {
					t.Fatal("no pass in float64", err)
				}
				d := exact.Central + p.Constant + h - vec.Norm2(exact.Grad)/p.Lambda/2
				slack := exact.Rounded + p.PlainAllowance(exact, vec.Norm2(exact.Grad))
				if bound > d+slack || bound < d-2*below-slack {
					t.Errorf("pass %d: the bound %.9g charges %g; in float64 it is %.9g, up to %g",
						s.Passes, bound, below, d, slack)
				}
				if far > 1e-6*upper || below > 1e-4*upper {
					t.Errorf("pass %d: of %g, %g is charged, %g for the distance", s.Passes, upper, below, far)
				}
			}
		})
	}
}

// exactWeights returns −(1/λn) Σ c_i J_iᵀ(u_i − 1_{y_i}) of a memory of chains, in float64.
func exactWeights(p *train.Problem, m *SDCA) []float64 {
	w, gold := make([]float64, p.Scorer.Dim()), engine.NewMemory(p.Objective)
	offsets := map[string]int{}
	for _, a := range p.Scorer.(*sparse.Linear).Layout() {
		offsets[a.Name] = a.Offset
	}
	for k, attributes := range []*structured.Sparse{p.Data.Attributes, p.Data.EdgeAttributes} {
		for i := range p.Len() {
			u, y, width := m.memory.u.Parts[k].Of(i), gold.Parts[k].Of(i), m.memory.u.Parts[k].Width
			scale := -p.Data.Weight(i) / (p.Lambda * float64(p.Len()))
			for r := 0; r*width < len(u); r++ {
				add := func(at int, x float32) {
					for j := range width {
						w[at+j] += scale * float64(x) * (float64(u[r*width+j]) - float64(y[r*width+j]))
					}
				}
				if k == 1 {
					add(offsets["transitions"], 1)
				}
				if attributes == nil {
					continue
				}
				index, value := attributes.Row(p.Data.Rows(p.Scorer.Form().Parts[k].Rows)[i] + r)
				for n, a := range index {
					add(offsets[[]string{"attributes", "edge_attributes"}[k]]+int(a)*width, kernels.ValueAt(value, n))
				}
			}
		}
	}
	return w
}
