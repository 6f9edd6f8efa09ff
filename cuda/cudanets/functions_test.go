package cudanets_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets/graph"
)

// functions are the elementwise functions in float64. The argument of a slope is x, or the result y for functions whose
// slope uses it.
var functions = map[string]struct {
	f        func(x float64) float64
	slope    func(s float64) float64
	absolute float64 // absolute error allowed in addition to a relative one, for functions that cancel large numbers
}{
	"neg":     {f: func(x float64) float64 { return -x }, slope: func(float64) float64 { return -1 }},
	"abs":     {f: math.Abs, slope: sign},
	"sign":    {f: sign},
	"ceil":    {f: math.Ceil},
	"floor":   {f: math.Floor},
	"sin":     {f: math.Sin, slope: math.Cos},
	"cos":     {f: math.Cos, slope: func(x float64) float64 { return -math.Sin(x) }},
	"exp":     {f: math.Exp, slope: func(y float64) float64 { return y }},
	"ln":      {f: math.Log, slope: func(x float64) float64 { return 1 / x }, absolute: 1e-7},
	"square":  {f: func(x float64) float64 { return x * x }, slope: func(x float64) float64 { return 2 * x }},
	"cube":    {f: func(x float64) float64 { return x * x * x }, slope: func(x float64) float64 { return 3 * x * x }},
	"sqrt":    {f: math.Sqrt, slope: func(y float64) float64 { return 1 / (2 * y) }},
	"inv":     {f: func(x float64) float64 { return 1 / x }, slope: func(y float64) float64 { return -y * y }},
	"tanh":    {f: math.Tanh, slope: func(y float64) float64 { return 1 - y*y }, absolute: 2e-7},
	"sigmoid": {f: sigmoid, slope: func(y float64) float64 { return y * (1 - y) }},
	"gelu": {f: gelu, slope: func(x float64) float64 {
		if math.Abs(x) > 1e10 {
			return max(0, sign(x)) // x² overflows
		}
		t := math.Tanh(math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x))
		return (1 + t + x*(1-t*t)*math.Sqrt(2/math.Pi)*(1+3*0.044715*x*x)) / 2
	}, absolute: 4e-7},
	"silu": {f: func(x float64) float64 { return x * sigmoid(x) }, slope: func(x float64) float64 {
		s := sigmoid(x)
		return s * (1 + x*(1-s))
	}, absolute: 4e-7},
	"log1p": {f: math.Log1p, slope: func(x float64) float64 { return 1 / (1 + x) }},
	"expm1": {f: math.Expm1, slope: func(y float64) float64 { return y + 1 }},
	"softplus": {f: func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
		slope: sigmoid},
	"relu": {f: func(x float64) float64 { return max(x, 0) }, slope: func(y float64) float64 {
		if y != 0 {
			return 1
		}
		return 0
	}},
	"elu": {f: func(x float64) float64 { return max(x, 0) + math.Expm1(min(x, 0)) },
		slope: func(y float64) float64 { return min(y, 0) + 1 }, absolute: 2e-7},
}

var pairs = map[string]func(x, y float64) float64{
	"+": func(x, y float64) float64 { return x + y }, "-": func(x, y float64) float64 { return x - y },
	"⊙": func(x, y float64) float64 { return x * y }, "÷": func(x, y float64) float64 { return x / y }, "^": math.Pow,
	"<": truth(func(x, y float64) bool { return x < y }), "<=": truth(func(x, y float64) bool { return x <= y }),
	">": truth(func(x, y float64) bool { return x > y }), ">=": truth(func(x, y float64) bool { return x >= y }),
	"==": truth(func(x, y float64) bool { return x == y }), "!=": truth(func(x, y float64) bool { return x != y }),
}

func truth(f func(x, y float64) bool) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		if f(x, y) {
			return 1
		}
		return 0
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func gelu(x float64) float64 {
	return x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x))) / 2
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// numbers returns numbers of all magnitudes, and special values.
func numbers(rng *rand.Rand) []float32 {
	inf := float32(math.Inf(1))
	xs := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, 2, -2, 3, -3, 1e-3, -1e-3, 1e-30, 1e30, -1e30,
		87, 88.5, -87, -103, 1e-40,
		16777217, 1e6, -1e6, inf, -inf, float32(math.NaN())}
	for _, scale := range []float64{0.01, 1, 10, 1000} {
		xs = append(xs, cudatest.Vector(rng, 60, scale)...)
	}
	return xs
}

// checkFunction compares got = f(x, y) with want in float64. A float32 below 1e-37 may be 0.
func checkFunction(t *testing.T, name string, x, y []float32, got []float32, want func(x, y float64) float64,
	absolute float64) {
	t.Helper()
	for i := range got {
		if of := strings.TrimSuffix(name, "'"); (of == "sin" || of == "cos") && math.Abs(float64(x[i])) > 1e15 &&
			!math.IsInf(float64(x[i]), 0) {
			continue // the angle has no correct digits
		}
		w := want(float64(x[i]), float64(y[i]))
		g, limit := float64(got[i]), 1e-6*math.Abs(w)+absolute+2e-37
		same := math.Abs(g-w) <= limit || g == w || math.IsNaN(g) && math.IsNaN(w) ||
			math.IsInf(g, 0) && math.Abs(w) > 3.4e38 && math.Signbit(g) == math.Signbit(w)
		if !same {
			t.Errorf("%s(%g, %g) = %g, want %g", name, x[i], y[i], got[i], w)
			return
		}
	}
}

// Every function that a kernel's step can name, on numbers of all magnitudes.
func TestFunctions(t *testing.T) {
	d := cudatest.Device(t)
	rng := rand.New(rand.NewPCG(1, 2))
	x := numbers(rng)
	y := make([]float32, len(x))
	for i, k := range rng.Perm(len(x)) {
		y[i] = x[k]
	}
	for i := 30; i < 120; i++ { // integer and small exponents, too
		y[i] = float32(math.Round(float64(y[i%30+200]) / 100))
	}
	g := cudatest.Vector(rng, len(x), 1)
	for _, name := range cudanets.Functions() {
		of, isSlope := strings.CutSuffix(name, "'")
		f, unary := functions[of]
		switch pair := pairs[name]; {
		case isSlope:
			checkFunction(t, name, x, g, cudanets.Apply(d, name, x, g), func(s, g float64) float64 {
				if of == "relu" && s == 0 || of == "abs" && s == 0 {
					return 0
				}
				return g * f.slope(s)
			}, 4e-7)
		case unary:
			checkFunction(t, name, x, g, cudanets.Apply(d, name, x, g), func(x, _ float64) float64 { return f.f(x) }, f.absolute)
		default:
			checkFunction(t, name, x, y, cudanets.Apply(d, name, x, y), pair, 0)
		}
	}
}

// More entries than all blocks process at once.
func TestElementwiseInTurns(t *testing.T) {
	x := make([]float32, 1100003)
	for i := range x {
		x[i] = float32(i)
	}
	for i, got := range cudanets.Apply(cudatest.Device(t), "+", x, x) {
		if got != 2*x[i] {
			t.Fatalf("entry %d is %g", i, got)
		}
	}
}

// Entries are read and written four at a time where they lie so, and one at a time elsewhere: arrays that begin
// anywhere, with any period and any end.
func TestElementwiseAnywhere(t *testing.T) {
	d, r := cudatest.Device(t), rand.New(rand.NewPCG(5, 6))
	for _, by := range []graph.Expand{{Outer: 1, Repeat: 5, Inner: 8}, {Outer: 1, Repeat: 7, Inner: 3},
		{Outer: 1, Repeat: 3, Inner: 4}, {Outer: 6, Repeat: 4, Inner: 1},
		{Outer: 5, Repeat: 3, Inner: 1}, {Outer: 2, Repeat: 3, Inner: 4}, {Outer: 3, Repeat: 2, Inner: 5},
		{Outer: 1, Repeat: 13, Inner: 1}} {
		n := by.Outer * by.Repeat * by.Inner
		before, x, y := cudatest.Vector(r, n, 1), cudatest.Vector(r, n, 1), cudatest.Vector(r, by.Outer*by.Inner, 1)
		want := make([]float32, n)
		for i := range want {
			want[i] = before[i] + (x[i] + y[i/(by.Repeat*by.Inner)*by.Inner+i%by.Inner])
		}
		for _, places := range [][3]int{{}, {4, 8, 4}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}, {3, 2, 1}} {
			if got := cudanets.AddExpanded(d, before, x, y, by, places); !slices.Equal(got, want) {
				t.Fatalf("%v from %v: %v, want %v", by, places, got, want)
			}
		}
	}
}

func TestDivide(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for by := 1; by < 3000; by++ {
		for _, i := range []uint32{0, 1, uint32(by) - 1, uint32(by), 1<<31 - 1, (1<<31 - 1) / uint32(by) * uint32(by),
			rng.Uint32() >> 1} {
			if got := cudanets.Divide(i, by); got != i/uint32(by) {
				t.Fatalf("%d / %d = %d", i, by, got)
			}
		}
	}
	for _, by := range []int{1 << 20, 1<<20 + 1, 1<<30 - 1, 1<<31 - 1} {
		for range 100 {
			if i := rng.Uint32() >> 1; cudanets.Divide(i, by) != i/uint32(by) {
				t.Fatalf("%d / %d", i, by)
			}
		}
	}
}
