package graph

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// broadcast prepares x f y for x [rows×cols] and y [rows×1], or y f x with flip.
func broadcast(name string, rows, cols int, flip bool) (*Machine, *Instruction) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := gaussians(rng, rows*cols), gaussians(rng, rows)
	m := &Machine{Mem: [][]float32{slices.Concat(x, y, x)}}
	in := &Instruction{Op: Binary{binaries[name]}, Out: &Buffer{Offset: len(x) + len(y), N: len(x)}, Args: []Operand{
		{Buffer: &Buffer{N: len(x)}}, {Buffer: &Buffer{Offset: len(x), N: len(y)}, Expand: Expand{rows, cols, 1}}}}
	if flip {
		slices.Reverse(in.Args)
	}
	return m, in
}

// Every function of two numbers gives the same bits for a broadcast number per row as for a whole array with that number.
func TestBroadcastsEqualArrays(t *testing.T) {
	const rows, cols = 5, 19
	for name, f := range binaries {
		for _, flip := range []bool{false, true} {
			m, in := broadcast(name, rows, cols, flip)
			in.Op.Run(m, in)
			got := m.At(in.Out)
			for r := range rows {
				x, y := m.Mem[0][r*cols:(r+1)*cols], slices.Repeat(m.Mem[0][rows*cols+r:rows*cols+r+1], cols)
				if flip {
					x, y = y, x
				}
				want := make([]float32, cols)
				f.vv(want, x, y)
				for i, w := range want {
					if g := got[r*cols+i]; g != w && (g == g || w == w) {
						t.Fatalf("%g %s %g = %g, want %g", x[i], name, y[i], g, w)
					}
				}
			}
		}
	}
}

// [512×128] with a number per row.
func BenchmarkRowBroadcast(b *testing.B) {
	for _, c := range []struct {
		name string
		flip bool
	}{{"+", false}, {"-", false}, {"-", true}, {"⊙", false}, {"÷", false}, {"÷", true}, {">", false}} {
		b.Run(map[bool]string{false: "x" + c.name + "y", true: "y" + c.name + "x"}[c.flip], func(b *testing.B) {
			m, in := broadcast(c.name, 512, 128, c.flip)
			b.SetBytes(512 * 128 * 4)
			for b.Loop() {
				in.Op.Run(m, in)
			}
		})
	}
	b.Run("sum", func(b *testing.B) {
		m, _ := broadcast("+", 512, 128, false)
		in := &Instruction{Op: Sum{512, 128, 1}, Out: &Buffer{Offset: 512 * 128, N: 512}, Args: []Operand{{Buffer: &Buffer{N: 512 * 128}}}}
		b.SetBytes(512 * 128 * 4)
		for b.Loop() {
			in.Op.Run(m, in)
		}
	})
}
