package transcript

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/seeds"
	"github.com/dsp-go/dsp/structured/transcripts"
)

// Sums in float64 are those of wide numbers, with the same bits for all kernels, over lines with and without room for
// their strings.
func TestSumsOfPaths(t *testing.T) {
	r := seeds.Rand(t)
	for range 60 {
		frames, labels := 1+r.IntN(90), 2+r.IntN(40)
		offsets := []int{0, frames, 2*frames + 1}
		θ := new(structured.Potentials)
		θ.Reshape(transcripts.Form(labels-1), offsets, func(string) []int { return offsets })
		for i := range θ.Parts[0].Values {
			if θ.Parts[0].Values[i] = float32(3 * r.NormFloat64()); r.IntN(40) == 0 {
				θ.Parts[0].Values[i] = float32(math.Inf(-1))
			}
		}
		θ0 := new(structured.Potentials)
		θ0.Copy(θ)
		for b := range 2 {
			reading := make([]int32, r.IntN(2+frames*3/4))
			for k := range reading {
				reading[k] = int32(r.IntN(labels - 1))
			}
			transcripts.Frames{}.Restrict(θ, b, structured.Gold{Reading: reading})
		}
		μ := []float64{1, 0.5, 2}[r.IntN(3)]
		first := make([]float64, 2)
		var u structured.Marginals
		newOf(&plain).Exp(θ, μ, first, &u)
		for _, k := range available {
			got := make([]float64, 2)
			var v structured.Marginals
			newOf(k).Exp(θ, μ, got, &v)
			same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
			if !slices.EqualFunc(first, got, same) || !slices.Equal(u.Parts[0].Values, v.Parts[0].Values) {
				t.Fatalf("%d frames, %d labels: %s has other bits than plain Go: %v, %v", frames, labels, k.name, got, first)
			}
			newOf(&plain).Exp(θ0, μ, first, &u)
			newOf(k).Exp(θ0, μ, got, &v)
			if !slices.EqualFunc(first, got, same) {
				t.Fatalf("%d frames, %d labels: %s has other bits than plain Go of all readings: %v, %v", frames, labels, k.name,
					got, first)
			}
			newOf(&plain).Exp(θ, μ, first, &u)
		}
		o := New()
		for b := range 2 {
			name := fmt.Sprintf("example %d of %d frames and %d labels", b, frames, labels)
			reading, _ := transcripts.Required(θ, b)
			if !o.lattice.open(θ, b, reading) {
				continue
			}
			p := make([]float32, len(θ.Parts[0].Of(b)))
			want := o.lattice.wideExp(μ, p)
			if math.IsInf(want, -1) {
				continue // wide numbers say so
			}
			value, ok := o.lattice.paths.sum(&o.lattice, μ, nil)
			if !ok {
				t.Fatalf("%s: float64 is too narrow", name)
			}
			near(t, name, value, want, 1e-13)
			near(t, name+": the value with marginals", first[b], value, 0)
			for i, x := range u.Parts[0].Of(b) {
				near(t, name+": marginal", float64(x), float64(p[i]), 1e-7)
			}
		}
	}
}

// Where every path to the end is beyond the range of float64 beside its beginnings and ends, paths says so.
func TestSumsBeyondRange(t *testing.T) {
	const frames = 60
	offsets := []int{0, frames}
	θ := new(structured.Potentials)
	θ.Reshape(transcripts.Form(2), offsets, func(string) []int { return offsets })
	frame := θ.Parts[0].Values
	for i := range frame {
		if i%3 != transcripts.Blank {
			frame[i] = -400
		}
	}
	reading := []int32{1, 0, 1, 0}
	transcripts.Frames{}.Restrict(θ, 0, structured.Gold{Reading: reading})
	o := New()
	if !o.lattice.open(θ, 0, reading) {
		t.Fatal("no labeling")
	}
	u := make([]float32, len(frame))
	if value, ok := o.lattice.paths.sum(&o.lattice, 1, u); ok {
		t.Errorf("the sum is %g", value)
	}
	choose := 60.0 * 59 * 58 * 57 / 24
	near(t, "sum", o.lattice.exp(1, u), -1600+math.Log(choose), 1e-13)
}
