package chain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Every set of kernels agrees with plain Go at all sizes around whole vectors, and writes nothing beyond its rows.
func TestKernelsAgree(t *testing.T) {
	for _, k := range available {
		t.Run(k.name, func(t *testing.T) {
			for y := 1; y <= 140; y++ {
				kernelsAgree(t, k, y, rand.New(rand.NewPCG(uint64(y), 7)))
			}
		})
	}
}

// canary marks memory that a kernel must not write.
const canary = 12345

type kernelTest struct {
	*testing.T
	r         *rand.Rand
	y, stride int
}

// row returns a row of random numbers, in whole vectors, padded.
func (t *kernelTest) row(padding float32) []float32 {
	x := make([]float32, t.stride)
	for i := range x {
		x[i] = padding
		if i < t.y {
			x[i] = float32(t.r.IntN(64))/8 - 2
		}
	}
	return x
}

func rows[F real](n int, row func() []F) []F {
	var m []F
	for range n {
		m = append(m, row()...)
	}
	return m
}

// out allocates n numbers followed by canaries, and returns a check that the canaries are intact.
func out[F real](t *kernelTest, n int) ([]F, func()) {
	x := make([]F, n+64)
	for i := range x {
		x[i] = canary
	}
	return x[:n], func() {
		t.Helper()
		for i, v := range x[n:] {
			if v != canary {
				t.Fatalf("Y=%d: wrote %g at %d, beyond %d", t.y, v, n+i, n)
			}
		}
	}
}

func same[F real](t *kernelTest, what string, got, want []F, relative float64) {
	t.Helper()
	for i := range got {
		g, w := float64(got[i]), float64(want[i])
		if g != w && !(math.Abs(g-w) <= relative*math.Abs(w)+1e-30) {
			t.Fatalf("Y=%d: %s[%d] is %g, want %g", t.y, what, i, g, w)
		}
	}
}

func kernelsAgree(tt *testing.T, k *kernels, y int, r *rand.Rand) {
	t := &kernelTest{T: tt, r: r, y: y, stride: roundUp(y, k.lanes)}
	low := func() []float32 { return t.row(minusInf) }
	want := make([]float32, t.stride)

	next, alive := out[float32](t, t.stride)
	prev, edge, node := low(), rows(y, low), low()
	k.maxPlus(next, prev, edge, node, y, t.stride)
	alive()
	plain.maxPlus(want, prev, edge, node, y, t.stride)
	pad(want, y)
	same(t, "max-plus", next, want, 0)
	unpadded := rows(y, func() []float32 { return low()[:y] })
	copied := padRows(nil, unpadded, y, y, t.stride)
	k.maxPlus(next, prev, append(unpadded, low()...), node, y, y)
	plain.maxPlus(want, prev, copied, node, y, t.stride)
	same(t, "max-plus of short rows", next, want, 0)

	if got, want := k.argmax(node), plain.argmax(node); got != want {
		t.Fatalf("Y=%d: argmax is %d, want %d", y, got, want)
	}
	changed, i, j := append([]float32(nil), node...), r.IntN(y), r.IntN(y)
	if got, want := k.exchange(node, i, 5.5, j), plain.exchange(changed, i, 5.5, j); got != want {
		t.Fatalf("Y=%d: argmax after an exchange is %d, want %d", y, got, want)
	}
	same(t, "changed row", node, changed, 0)
	sum, alive := out[float32](t, t.stride)
	if got, want := k.addArgmax(sum, prev, node), plain.addArgmax(want, prev, node); got != want {
		t.Fatalf("Y=%d: argmax of the sum is %d, want %d", y, got, want)
	}
	alive()
	same(t, "sum", sum, want, 0)

	some := low()[:y]
	some[r.IntN(y)] = minusInf
	for range 2 {
		if got, want := k.bounds(some), boundsOf(some); got != want {
			t.Fatalf("Y=%d: bounds are %v, want %v", y, got, want)
		}
		some[r.IntN(y)] = minusInf
	}
	sumsAgree(t, &k.single, &plain.single)
	sumsAgree(t, &k.double, &plain.double)
	logsAgree(t, k)
}

// positive returns a row of numbers between 0 and 1, padded with zeros.
func positive[F real](t *kernelTest) []F {
	x := make([]F, t.stride)
	for i := range t.y {
		x[i] = F(t.r.Float32())
	}
	return x
}

func sumsAgree[F real](t *kernelTest, k, plain *sumKernels[F]) {
	y := t.y
	positive := func() []F { return positive[F](t) }
	want, want2 := make([]F, t.stride), make([]float32, t.stride)

	to, alive := out[F](t, 3*t.stride)
	from, wantTo := rows(3, func() []float32 { return t.row(minusInf)[:y] }), make([]F, 3*t.stride)
	from[0] = minusInf
	k.exps(to, from, 3, y, t.stride, 6, 2.7)
	alive()
	plain.exps(wantTo, from, 3, y, t.stride, 6, 2.7)
	same(t, "exp", to, wantTo, 3e-6)
	if got, want := k.leastPositive(to), plain.leastPositive(to); got != want {
		t.Fatalf("Y=%d: least of %g is %g", y, to, got)
	}

	m, prev, other, third := rows(y, positive), positive(), positive(), positive()
	next, alive := out[F](t, t.stride)
	k.matVec(next, prev, m, y)
	alive()
	plain.matVec(want, prev, m, y)
	same(t, "product with the transposed matrix", next, want, 1e-5)

	next, alive = out[F](t, t.stride)
	k.matDots(next, prev, m, y)
	alive()
	plain.matDots(want, prev, m, y)
	same(t, "product with the matrix", next, want, 1e-5)

	next, alive = out[F](t, t.stride)
	got := k.normalise(next, prev, other)
	alive()
	same(t, "sum", []F{got}, []F{plain.normalise(want, prev, other)}, 1e-5)
	same(t, "normalised", next, want, 1e-5)

	if y > 1 {
		other[0], other[1], third[0] = 0, 0.5, F(math.Inf(1))
		g, alive := out[F](t, t.stride)
		p, alive2 := out[float32](t, t.stride)
		k.combine(g, p, prev, other, third)
		alive()
		alive2()
		plain.combine(want, want2, prev, other, third)
		same(t, "g", g, want, 1e-5)
		same(t, "p", p, want2, 1e-5)
	}

	for _, steps := range []int{0, 1, 2, 7} {
		α, g := rows(steps+1, positive), rows(steps+1, positive)[t.stride:]
		to, alive := out[float32](t, y*y)
		k.edgeSums(to, α, g, m, y, t.stride, steps)
		alive()
		wantTo := make([]float32, y*y)
		plain.edgeSums(wantTo, α, g, m, y, t.stride, steps)
		same(t, fmt.Sprintf("sum over %d edges", steps), to, wantTo, 1e-5)
	}
}

// Exponentials err by at most what their kernels state.
func TestExpErrors(t *testing.T) {
	const n = 1 << 10
	for _, k := range available {
		t.Run(k.name, func(t *testing.T) {
			r, from := rand.New(rand.NewPCG(1, 1)), make([]float32, n)
			single, double := make([]float32, n), make([]float64, n)
			worst, worstDouble := 0.0, 0.0
			for round := range 400 {
				for i := range from {
					from[i] = -85 * r.Float32()
					if round%2 == 0 {
						from[i] = -float32(math.Exp(4.4 - 20*r.Float64()))
					}
				}
				k.single.exps(single, from, 1, n, n, 0, 1)
				k.double.exps(double, from, 1, n, n, 0, 1)
				for i, x := range from {
					want := math.Exp(float64(x))
					worst = max(worst, math.Abs(float64(single[i])/want-1))
					worstDouble = max(worstDouble, math.Abs(double[i]/want-1))
				}
			}
			t.Logf("float32: %.3g, %.2f of the bound; float64: %.3g, %.2f of the bound", worst, worst/k.single.expError,
				worstDouble, worstDouble/k.double.expError)
			if worst > k.single.expError || worstDouble > k.double.expError {
				t.Errorf("float32 errs by %g, bound %g; float64 by %g, bound %g", worst, k.single.expError, worstDouble,
					k.double.expError)
			}
		})
	}
}

func logsAgree(t *kernelTest, k *kernels) {
	edge, w := t.row(minusInf), positive[float32](t)
	score := make([]float64, t.stride)
	for j := range score {
		score[j] = math.Inf(-1)
		if j < t.y && (j != 2 || t.y == 3) {
			score[j] = 1000 + t.r.NormFloat64()
		}
	}
	for _, rate := range []float64{0.1, 1, 100, 1e4} {
		m, sum := k.logSum(edge, score, w, rate)
		wantM, wantSum := logSum(edge, score, w, rate)
		if m != wantM {
			t.Fatalf("Y=%d: largest is %g, want %g", t.y, m, wantM)
		}
		same(t, "sum", []float32{float32(sum)}, []float32{float32(wantSum)}, 1e-5)
		a, alive := out[float32](t, t.stride)
		b, alive2 := out[float32](t, t.stride)
		wantA, wantB := make([]float32, t.stride), make([]float32, t.stride)
		for j := range a {
			a[j], b[j] = float32(j), 1
			wantA[j], wantB[j] = float32(j), 1
		}
		k.logSpread(a, b, edge, score, w, m, rate, 0.5)
		alive()
		alive2()
		logSpread(wantA, wantB, edge, score, w, m, rate, 0.5)
		same(t, "a", a, wantA, 1e-5)
		same(t, "b", b, wantB, 1e-5)
	}
	for j := range score {
		score[j] = math.Inf(-1)
	}
	if m, sum := k.logSum(edge, score, w, 1); m != math.Inf(-1) || sum != 0 {
		t.Fatalf("Y=%d: nothing allowed, sum %g times exp %g", t.y, sum, m)
	}
}
