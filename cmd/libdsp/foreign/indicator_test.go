package foreign

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles/oracletest"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/trees"
)

// marginalsOf returns arrays in the form of a batch's marginals.
func marginalsOf(b *Batch) (u [][]float32) {
	for k := range b.Parts() {
		u = append(u, make([]float32, b.MarginalSize(k)))
	}
	return u
}

// rowsOf returns the entries of example b of an array in the form of the marginals of part k.
func (t *Batch) rowsOf(u [][]float32, k, b int) []float32 {
	p := &t.parts[k]
	if p.Offsets == nil {
		return u[k][b*p.Width : (b+1)*p.Width]
	}
	return u[k][p.Offsets[b]*p.Width : p.Offsets[b+1]*p.Width]
}

// An output's indicator is the gradient of its score, which is linear: it gives the score of any potentials, of every
// structure. It is 0 where Max found no output, and NaN where it found NaN.
func TestIndicator(t *testing.T) {
	several := registry.Of(trees.SpanningTree{})
	for i, kind := range append(registry.All[:len(registry.All):len(registry.All)], several) {
		if _, second := kind.Structure.(chains.Second); second {
			kind.Small = smallSecond
		}
		r, o := rand.New(rand.NewPCG(5, 3)), &asked{roots: i == len(registry.All)}
		for round := range 20 {
			θ := kind.Small(r)
			for k := range θ.Parts {
				for i := range θ.Parts[k].Values {
					θ.Parts[k].Values[i] = float32(r.NormFloat64())
				}
			}
			kind.Prepare(θ)
			b, values := o.batch(θ)
			y, value, score, u := make([]int32, b.Numbers()), make([]float64, b.Len()), make([]float64, b.Len()), marginalsOf(b)
			if _, err := b.Max(values, Run{}, y, value); err != nil {
				t.Fatal(err)
			}
			if err := b.Indicator(y, value, u); err != nil {
				t.Fatalf("%s: %v", kind.Name(), err)
			}
			if slices.Contains(value, math.Inf(-1)) { // y is no output
				continue
			}
			other := make([][]float32, len(values))
			for k := range other {
				for range values[k] {
					other[k] = append(other[k], float32(r.NormFloat64()))
				}
			}
			if _, err := b.Score(other, Run{}, y, score); err != nil {
				t.Fatal(err)
			}
			for n := range score {
				along := 0.0
				for k, p := range b.parts {
					x := other[k]
					if p.Offsets != nil {
						x = b.rowsOf(other, k, n)
					}
					for i, c := range b.rowsOf(u, k, n) {
						along += float64(c) * float64(x[i])
					}
				}
				if math.Abs(along-score[n]) > 1e-5 {
					t.Fatalf("%s, round %d, example %d: %g along the indicator, expected the score %g", kind.Name(), round, n, along, score[n])
				}
			}
			said := make([]float64, len(value))
			for n := range said {
				said[n] = []float64{0, math.Inf(-1), math.NaN()}[(n+round)%3]
			}
			again := marginalsOf(b)
			if err := b.Indicator(y, said, again); err != nil {
				t.Fatal(err)
			}
			for n, v := range said {
				for k := range b.parts {
					for i, x := range b.rowsOf(again, k, n) {
						want := b.rowsOf(u, k, n)[i]
						if v < 0 {
							want = 0
						}
						if x != want && !(math.IsNaN(v) && x != x) || math.IsNaN(v) && x == x {
							t.Fatalf("%s: %g of an example of the value %g, expected %g", kind.Name(), x, v, want)
						}
					}
				}
			}
		}
	}
}

func TestIndicatorOfEnds(t *testing.T) {
	form, err := NewForm([]byte(`{"structure": "chain", "labels": 2, "ends": true}`))
	if err != nil {
		t.Fatal(err)
	}
	o := []int{0, 3, 3, 4} // lengths 3, 0 and 1
	b, err := form.NewBatch(Layout{Outputs: o, Offsets: [][]int{o, nil, nil, nil}})
	if err != nil {
		t.Fatal(err)
	}
	u := marginalsOf(b)
	if err := b.Indicator([]int32{0, 1, 1, 0}, nil, u); err != nil {
		t.Fatal(err)
	}
	want := [][]float32{{1, 0, 0, 1, 0, 1, 1, 0}, {0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 1, 0}, {0, 1, 0, 0, 1, 0}}
	if fmt.Sprint(u) != fmt.Sprint(want) {
		t.Errorf("%v, expected %v", u, want)
	}
	if err := b.Indicator([]int32{0, 1, 1, -1}, []float64{0, 0, math.Inf(-1)}, u); err != nil || u[2][4] != 0 {
		t.Errorf("%v, %v of an example without an output", err, u)
	}
	if err := b.Indicator([]int32{0, 1, 2, 0}, nil, u); err == nil || !strings.Contains(err.Error(), "label 2 at place 2") {
		t.Error(err)
	}
	if err := b.Indicator([]int32{0, 1, 1, 0}, []float64{0}, u); err == nil || !strings.Contains(err.Error(), "1 values, expected 4 and 3") {
		t.Error(err)
	}
}

// A direction of its own for every example gives it the product that it has alone with that direction.
func TestHessianAlongOwnDirections(t *testing.T) {
	ends := map[bool]int{}
	for _, kind := range registry.All {
		if kind.Chart == nil {
			continue
		}
		if _, second := kind.Structure.(chains.Second); second {
			kind.Small = smallSecond
		}
		r, o := rand.New(rand.NewPCG(3, 9)), &asked{}
		for range 10 {
			θ := kind.Small(r)
			kind.Prepare(θ)
			b, values := o.batch(θ)
			for _, with := range []bool{false, true} {
				if _, chain := kind.Structure.(chains.Chain); with && !chain {
					continue
				}
				if with {
					b, values = withEnds(t, b, θ, values, r)
				}
				ends[with] += b.Len()
				random := func(n int) []float32 {
					x := make([]float32, n)
					for i := range x {
						x[i] = float32(r.NormFloat64())
					}
					return x
				}
				var direction [][]float32
				for k := range b.Parts() {
					direction = append(direction, random(b.MarginalSize(k)))
				}
				got, alone := marginalsOf(b), marginalsOf(b)
				longer := append([][]float32{random(len(direction[0]) + 1)}, direction[1:]...)
				if _, err := b.Hessian(values, Run{}, 1, longer, true, got); err == nil || !strings.Contains(err.Error(), "the direction of part") {
					t.Fatalf("%s: %v", kind.Name(), err)
				}
				for first := range b.Len() { // in the end every example was the first of its share
					if _, err := b.Hessian(values, Run{First: first}, 1, direction, true, got); err != nil {
						t.Fatal(err)
					}
				}
				for n := range b.Len() {
					var shared [][]float32
					for k := range b.parts {
						d := direction[k]
						if b.parts[k].Offsets == nil {
							d = b.rowsOf(direction, k, n)
						}
						shared = append(shared, d)
					}
					if _, err := b.Hessian(values, Run{}, 1, shared, false, alone); err != nil {
						t.Fatal(err)
					}
					for k := range b.parts {
						oracletest.NearAll(t, kind.Name(), b.rowsOf(got, k, n), b.rowsOf(alone, k, n), 0)
					}
				}
			}
		}
	}
	if ends[true] == 0 || ends[false] == 0 {
		t.Error("nothing was asked")
	}
}

// withEnds is a batch of chains with scores of the first and the last label.
func withEnds(t *testing.T, b *Batch, θ *structured.Potentials, values [][]float32, r *rand.Rand) (*Batch, [][]float32) {
	settings := settingsOf(θ)
	settings.Ends = true
	form, err := NewForm(settings.given())
	if err != nil {
		t.Fatal(err)
	}
	layout := layoutOf(θ)
	layout.Offsets = append(layout.Offsets, nil, nil)
	made, err := form.NewBatch(layout)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		x := make([]float32, settings.Labels)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		values = append(values[:len(values):len(values)], x)
	}
	return made, values
}
