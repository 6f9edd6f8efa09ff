package netstest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// CheckOp checks an op of the user's own on random rows with the given numbers of columns, one for each input: Push
// against central differences of Forward, Pullback against Push, and that Pullback adds to what it is given.
func CheckOp(t testing.TB, op graph.RowOp, columns ...int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		if !checkRow(t, op, rng, columns) {
			return
		}
	}
}

func checkRow(t testing.TB, op graph.RowOp, rng *rand.Rand, columns []int) (ok bool) {
	t.Helper()
	draw := func(sizes []int) [][]float32 {
		rows := make([][]float32, len(sizes))
		for i, n := range sizes {
			for range n {
				rows[i] = append(rows[i], float32(rng.NormFloat64()))
			}
		}
		return rows
	}
	forward := func(x [][]float32) []float32 {
		y := make([]float32, op.Width)
		op.Forward(x, y)
		return y
	}
	x, dx := draw(columns), draw(columns)
	y, v := forward(x), draw([]int{op.Width})[0]
	before := clone(x)
	tangent := make([]float32, op.Width)
	op.Push(x, dx, y, tangent)
	off := bestStep(func(step float64) []float32 {
		moved := clone(x)
		for i := range moved {
			vec.Axpy(float32(step), dx[i], moved[i])
		}
		return forward(moved)
	}, tangent)
	if ok = off <= tolerance; !ok {
		t.Errorf("op %q: Push differs from finite differences of Forward by %.2g of its size", op.Name, off)
	}

	start := draw(columns)
	grad := clone(start)
	op.Pullback(x, y, v, grad)
	pulled, scale := 0.0, math.Sqrt(vec.Norm2(v)*vec.Norm2(tangent))
	for i := range grad {
		for j := range grad[i] {
			pulled += float64(dx[i][j]) * (float64(grad[i][j]) - float64(start[i][j]))
		}
	}
	if pushed := vec.Dot64(v, tangent); math.Abs(pushed-pulled) > 1e-4*scale+1e-4 {
		ok = false
		t.Errorf("op %q: ⟨J dx, v⟩ = %g by Push, ⟨dx, Jᵀv⟩ = %g by Pullback, which has to add to what it is given", op.Name,
			pushed, pulled)
	}
	if !slices.EqualFunc(x, before, slices.Equal) {
		ok = false
		t.Errorf("op %q changes its inputs", op.Name)
	}
	return ok
}

func clone(rows [][]float32) [][]float32 {
	to := make([][]float32, len(rows))
	for i, r := range rows {
		to[i] = slices.Clone(r)
	}
	return to
}
