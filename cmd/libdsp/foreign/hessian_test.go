package foreign

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/trees"
)

// products asks for products with the Hessian at θ, and for marginals a little before and after θ along the direction.
func products(t *testing.T, o *asked, θ, direction *structured.Potentials) (product, difference []float32) {
	const h = 1.0 / 64
	ask := func(at *structured.Potentials, question func(b *Batch, values [][]float32, to [][]float32, run Run) (int, error)) (all []float32) {
		b, values := o.batch(at)
		to := make([][]float32, len(values))
		for k := range to {
			to[k] = make([]float32, b.MarginalSize(k))
		}
		o.whole(b, func(run Run) (int, error) { return question(b, values, to, run) })
		for _, x := range to {
			all = append(all, x...)
		}
		return all
	}
	var d [][]float32
	for _, p := range direction.Parts {
		d = append(d, p.Values)
	}
	product = ask(θ, func(b *Batch, values, to [][]float32, run Run) (int, error) {
		return b.Hessian(values, run, 0.7, d, false, to)
	})
	difference = make([]float32, len(product))
	for _, side := range []float32{1, -1} {
		var moved structured.Potentials
		moved.Copy(θ)
		for k := range moved.Parts {
			for i := range moved.Parts[k].Values {
				moved.Parts[k].Values[i] += side * h * d[k][i]
			}
		}
		u := ask(&moved, func(b *Batch, values, to [][]float32, run Run) (int, error) {
			return b.Exp(values, run, 0.7, make([]float64, b.Len()), to)
		})
		for i, p := range u {
			difference[i] += side * p / (2 * h)
		}
	}
	return product, difference
}

// Products with the Hessian are the derivatives of marginals along a direction, of every structure that says that it
// answers; the others refuse.
func TestHessian(t *testing.T) {
	several := registry.Of(trees.SpanningTree{})
	for i, kind := range append(registry.All[:len(registry.All):len(registry.All)], several) {
		if _, second := kind.Structure.(chains.Second); second {
			kind.Small = smallSecond
		}
		r, o := rand.New(rand.NewPCG(7, 1)), &asked{roots: i == len(registry.All)}
		for round := range 20 {
			θ := kind.Small(r)
			var direction structured.Potentials
			direction.Like(θ)
			for k := range θ.Parts {
				for i := range θ.Parts[k].Values {
					θ.Parts[k].Values[i], direction.Parts[k].Values[i] = float32(r.NormFloat64()), float32(r.NormFloat64())
				}
			}
			kind.Prepare(θ)
			b, values := o.batch(θ)
			if kind.Chart == nil {
				if _, err := b.Hessian(values, Run{}, 1, values, false, values); err == nil || !strings.Contains(err.Error(), "has no products with the Hessian") {
					t.Fatalf("%s: %v", kind.Name(), err)
				}
				break
			}
			if !o.form.Description.Hessian {
				t.Fatalf("%s does not say that it answers", kind.Name())
			}
			product, difference := products(t, o, θ, &direction)
			for i, p := range product {
				if math.Abs(float64(p-difference[i])) > 2e-2*(1+math.Abs(float64(p))) {
					t.Fatalf("%s, round %d: entry %d of %d is %g, by differences %g", kind.Name(), round, i, len(product), p, difference[i])
				}
			}
		}
	}
}
