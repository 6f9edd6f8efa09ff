package oracles

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Every set of kernels does what plain Go does, for all sizes around whole vectors, and writes nothing beyond its rows.
func TestKernelsAgree(t *testing.T) {
	for _, k := range available() {
		t.Run(k.name, func(t *testing.T) {
			for y := 1; y <= 140; y++ {
				kernelsAgree(t, k, y, rand.New(rand.NewPCG(uint64(y), 7)))
			}
		})
	}
}

// canary lies beyond what a kernel may write.
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

func (t *kernelTest) positive() []float32 {
	x := t.row(0)
	for i := range t.y {
		x[i] = t.r.Float32()
	}
	return x
}

// rows returns n rows.
func rows(n int, row func() []float32) []float32 {
	var m []float32
	for range n {
		m = append(m, row()...)
	}
	return m
}

// out returns room for n numbers with canaries behind, and a check that they live.
func (t *kernelTest) out(n int) ([]float32, func()) {
	x := make([]float32, n+64)
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

func (t *kernelTest) same(what string, got, want []float32, relative float64) {
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
	low := func() []float32 { return t.row(never) }
	want := make([]float32, t.stride)

	next, alive := t.out(t.stride)
	prev, edge, node := low(), rows(y, low), low()
	k.maxPlus(next, prev, edge, node, y, t.stride)
	alive()
	plain.maxPlus(want, prev, edge, node, y, t.stride)
	pad(want, y)
	t.same("max-plus", next, want, 0)
	unpadded := rows(y, func() []float32 { return low()[:y] })
	copied := padRows(nil, unpadded, y, y, t.stride)
	k.maxPlus(next, prev, append(unpadded, low()...), node, y, y)
	plain.maxPlus(want, prev, copied, node, y, t.stride)
	t.same("max-plus of short rows", next, want, 0)

	if got, want := k.argmax(node), plain.argmax(node); got != want {
		t.Fatalf("Y=%d: argmax is %d, want %d", y, got, want)
	}
	changed, i, j := append([]float32(nil), node...), r.IntN(y), r.IntN(y)
	if got, want := k.exchange(node, i, 5.5, j), plain.exchange(changed, i, 5.5, j); got != want {
		t.Fatalf("Y=%d: argmax after an exchange is %d, want %d", y, got, want)
	}
	t.same("changed row", node, changed, 0)
	sum, alive := t.out(t.stride)
	if got, want := k.addArgmax(sum, prev, node), plain.addArgmax(want, prev, node); got != want {
		t.Fatalf("Y=%d: argmax of the sum is %d, want %d", y, got, want)
	}
	alive()
	t.same("sum", sum, want, 0)

	some := low()[:y]
	some[r.IntN(y)] = never
	for _, floor := range []float32{never, 0} {
		if got, want := k.bounds(some, floor), boundsAbove(some, floor); got != want {
			t.Fatalf("Y=%d: bounds above %g are %v, want %v", y, floor, got, want)
		}
	}
	to, alive := t.out(3 * t.stride)
	from, wantTo := rows(3, func() []float32 { return low()[:y] }), make([]float32, 3*t.stride)
	from[0] = never
	k.exps(to, from, 3, y, t.stride, 6, 2.7)
	alive()
	exps(wantTo, from, 3, y, t.stride, 6, 2.7)
	t.same("exp", to, wantTo, 3e-6)

	sumsAgree(t, k)
	logsAgree(t, k)
}

func sumsAgree(t *kernelTest, k *kernels) {
	y := t.y
	want, want2 := make([]float32, t.stride), make([]float32, t.stride)
	m, prev, other, third := rows(y, t.positive), t.positive(), t.positive(), t.positive()

	next, alive := t.out(t.stride)
	k.matVec(next, prev, m, y)
	alive()
	matVec(want, prev, m, y)
	t.same("product with the transposed matrix", next, want, 1e-5)

	next, alive = t.out(t.stride)
	k.matDots(next, prev, m, y)
	alive()
	matDots(want, prev, m, y)
	t.same("product with the matrix", next, want, 1e-5)

	next, alive = t.out(t.stride)
	got := k.normalise(next, prev, other)
	alive()
	t.same("sum", []float32{got}, []float32{normalise(want, prev, other)}, 1e-5)
	t.same("normalised", next, want, 1e-5)

	other[t.r.IntN(y)], third[0] = 0, float32(math.Inf(1))
	other[0] = 0
	if y > 1 {
		other[1] = 0.5
		g, alive := t.out(t.stride)
		p, alive2 := t.out(t.stride)
		k.combine(g, p, prev, other, third)
		alive()
		alive2()
		combine(want, want2, prev, other, third)
		t.same("g", g, want, 1e-5)
		t.same("p", p, want2, 1e-5)
	}

	for _, steps := range []int{0, 1, 2, 7} {
		α, g := rows(steps+1, t.positive), rows(steps+1, t.positive)[t.stride:]
		to, alive := t.out(y * y)
		k.edgeSums(to, α, g, m, y, t.stride, steps)
		alive()
		wantTo := make([]float32, y*y)
		edgeSums(wantTo, α, g, m, y, t.stride, steps)
		t.same(fmt.Sprintf("sum over %d edges", steps), to, wantTo, 1e-5)
	}
}

func logsAgree(t *kernelTest, k *kernels) {
	edge, w := t.row(never), t.positive()
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
		t.same("sum", []float32{float32(sum)}, []float32{float32(wantSum)}, 1e-5)
		a, alive := t.out(t.stride)
		b, alive2 := t.out(t.stride)
		wantA, wantB := make([]float32, t.stride), make([]float32, t.stride)
		for j := range a {
			a[j], b[j] = float32(j), 1
			wantA[j], wantB[j] = float32(j), 1
		}
		k.logSpread(a, b, edge, score, w, m, rate, 0.5)
		alive()
		alive2()
		logSpread(wantA, wantB, edge, score, w, m, rate, 0.5)
		t.same("a", a, wantA, 1e-5)
		t.same("b", b, wantB, 1e-5)
	}
	for j := range score {
		score[j] = math.Inf(-1)
	}
	if m, sum := k.logSum(edge, score, w, 1); m != math.Inf(-1) || sum != 0 {
		t.Fatalf("Y=%d: nothing allowed, sum %g times exp %g", t.y, sum, m)
	}
}
