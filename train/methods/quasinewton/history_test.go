package quasinewton

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dsp-go/dsp/train/traintest"
)

// The recursion over pairs is the product with the matrix that BFGS updates pair by pair, from γI with the curvature of
// the last pair; pairs of no curvature are left out.
func TestHistoryIsBFGS(t *testing.T) {
	const dim = 6
	p, r := traintest.LinearProblem(4, 1, 0.1, 1), rand.New(rand.NewPCG(2, 5))
	draw := func() []float32 {
		x := make([]float32, dim)
		for j := range x {
			x[j] = float32(r.NormFloat64())
		}
		return x
	}
	for range 20 {
		h := &history{}
		H, w, g := mat.NewDense(dim, dim, nil), draw(), draw()
		h.add(p, w, g, 9)
		var pairs [][2]*mat.VecDense
		γ := 1.0
		for range r.IntN(5) {
			next, grad := draw(), draw()
			s, y := mat.NewVecDense(dim, nil), mat.NewVecDense(dim, nil)
			for j := range next {
				s.SetVec(j, float64(next[j])-float64(w[j]))
				y.SetVec(j, float64(grad[j])-float64(g[j])+p.Lambda*s.AtVec(j)) // gradients are the loss's alone
			}
			h.add(p, next, grad, 9)
			if w, g = next, grad; mat.Dot(s, y) > 0 {
				pairs, γ = append(pairs, [2]*mat.VecDense{s, y}), mat.Dot(s, y)/mat.Dot(y, y)
			}
		}
		for j := range dim {
			H.Set(j, j, γ)
		}
		for _, pair := range pairs {
			s, y := pair[0], pair[1]
			ρ := 1 / mat.Dot(s, y)
			left, product, add := mat.NewDense(dim, dim, nil), new(mat.Dense), new(mat.Dense)
			left.Outer(-ρ, s, y)
			for j := range dim {
				left.Set(j, j, left.At(j, j)+1)
			}
			product.Mul(left, H)
			H.Mul(product, left.T())
			add.Outer(ρ, s, s)
			H.Add(H, add)
		}
		d, want := make([]float64, dim), mat.NewVecDense(dim, nil)
		for j := range d {
			d[j] = r.NormFloat64()
		}
		want.MulVec(H, mat.NewVecDense(dim, append([]float64{}, d...)))
		if err := h.apply(t.Context(), p, nil, d); err != nil {
			t.Fatal(err)
		}
		for j, x := range d {
			if math.Abs(x-want.AtVec(j)) > 1e-6*(1+mat.Norm(want, 2)) {
				t.Fatalf("%d of %d pairs: entry %d is %g, want %g", len(pairs), h.last(), j, x, want.AtVec(j))
			}
		}
	}
}
