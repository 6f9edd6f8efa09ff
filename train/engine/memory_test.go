package engine

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// After thousands of mixtures and moves towards the gold outputs, r_i is the float32 that is nearest to the mixture in
// float64: roundings do not add up.
func TestMemoryIsAMixture(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	const width, examples = 5, 3
	part := func() structured.Part {
		p := structured.Part{Shape: structured.Shape{Width: width}, Offsets: []int{0, 1, 2, 3}, Values: make([]float32, width*examples)}
		for i := range examples {
			p.Values[i*width+r.IntN(width)] = 1
		}
		return p
	}
	m := &Memory{data: &structured.Dataset{}, Marginals: structured.Marginals{Parts: []structured.Part{part()}}}
	shadow := make([]float64, width*examples)
	for j, x := range m.Parts[0].Values {
		shadow[j] = float64(x)
	}
	check := func(step int, each []float64) {
		t.Helper()
		for j, x := range m.Parts[0].Values {
			if math.Abs(float64(x)-each[j]) > 0x1.001p-24*each[j] {
				t.Fatalf("step %d: entry %d is %.12g, the mixture %.12g", step, j, x, each[j])
			}
		}
	}
	for step := range 20000 {
		i, γ := r.IntN(examples), float32(math.Exp(-8*r.Float64()))
		of := &shardResult{Batch: structured.Batch{Examples: []int{i}}}
		u := part()
		u.Offsets, u.Values = []int{0, 1}, u.Values[:width]
		of.Answer.U.Parts = []structured.Part{u}
		switch step {
		case 7000:
			γ = 1
		case 9000: // the gold outputs are empty here: only the scale counts
			m.scale(0.3)
			for j := range shadow {
				shadow[j] *= float64(float32(0.3))
			}
		}
		m.remember(of, γ)
		for j, x := range u.Values {
			s := &shadow[i*width+j]
			*s += float64(γ) * (float64(x) - *s)
		}
		check(step, shadow)
	}
}
