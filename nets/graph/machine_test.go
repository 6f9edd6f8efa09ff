package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/dsp-go/dsp/nets/kernels"
)

func gaussians(rng *rand.Rand, n int) []float32 {
	xs := make([]float32, n)
	for i := range xs {
		xs[i] = float32(rng.NormFloat64())
	}
	return xs
}

func mustBeClose(t testing.TB, what string, got []float32, want []float64) {
	t.Helper()
	for i, g := range got {
		if d := math.Abs(float64(g) - want[i]); !(d <= 1e-6*(1+math.Abs(want[i]))) {
			t.Fatalf("%s[%d] = %g, want %g", what, i, g, want[i])
		}
	}
}

// A mask of dropout has two values, and its mean is 1.
func TestMaskMean(t *testing.T) {
	out := make([]float32, 400*64)
	m := Machine{Seed: 9, keys: make([]uint64, 64)}
	for i := range m.keys {
		m.keys[i] = mix(uint64(i))
	}
	m.Mem = [][]float32{SpaceArena: out}
	Mask{0, 400, 0.25, false}.Run(&m, &Instruction{Out: &Buffer{N: len(out)}})
	sum := 0.0
	for _, x := range out {
		if x != 0 && x != float32(1/0.75) {
			t.Fatalf("mask %g", x)
		}
		sum += float64(x)
	}
	if mean := sum / float64(len(out)); mean < 0.98 || mean > 1.02 {
		t.Errorf("mean of the mask %g", mean)
	}
}

// Absolute values and signs are those of package math, also of zeros, infinities and NaN.
func TestSigns(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := append(gaussians(rand.New(rand.NewPCG(1, 1)), 40), 0, float32(math.Copysign(0, -1)),
		inf, -inf, nan, 1e-45, -1e-45)
	size, signs := make([]float32, len(x)), make([]float32, len(x))
	unaries["abs"].apply(size, x, nil)
	unaries["sign"].apply(signs, x, nil)
	for i, v := range x {
		if want := float32(math.Abs(float64(v))); size[i] != want && v == v {
			t.Errorf("|%g| = %g", v, size[i])
		}
		if want := float32(sign(float64(v))); signs[i] != want {
			t.Errorf("sign of %g is %g", v, signs[i])
		}
	}
}

// Scalar products of rotated rows depend on the distance of their positions only, and rotation keeps the length of a
// row.
func TestRotationIsRelative(t *testing.T) {
	const n, size = 20, 8
	m := Machine{offsets: []int{0, n}, Mem: [][]float32{SpaceArena: make([]float32, 2*n*size)}}
	for i := range n {
		for c := range size {
			m.Mem[SpaceArena][i*size+c] = float32(math.Cos(float64(c * c))) // the same row everywhere
		}
	}
	x, out := &Buffer{N: n * size}, &Buffer{Offset: n * size, N: n * size}
	Rotation{size, size, size, false, WaveBase}.Run(&m, &Instruction{Out: out, Args: []Operand{{Buffer: x}}})
	product := func(i, j int) (s float64) {
		for c := range size {
			s += float64(m.At(out)[i*size+c]) * float64(m.At(out)[j*size+c])
		}
		return s
	}
	for i := range n {
		for j := range n {
			if d := max(i-j, j-i); math.Abs(product(i, j)-product(0, d)) > 1e-5 {
				t.Fatalf("rows %d and %d have product %g, rows 0 and %d %g", i, j, product(i, j), d, product(0, d))
			}
		}
	}
	if math.Abs(product(0, 1)-product(0, 0)) < 1e-3 {
		t.Error("rows one position apart have the product of equal rows")
	}
}

// The ops overwrite whatever is in their result, and set padding rows to zero.
func TestAttentionPadding(t *testing.T) {
	const rows, heads, size = 8, 2, 2
	rng := rand.New(rand.NewPCG(49, 50))
	o := Attention{heads, size}
	for _, c := range []struct {
		op   Op
		cols int
		args []int
	}{
		{o, 4, []int{12}}, {AttentionPush{o}, 4, []int{12, 12}}, {AttentionPull{o}, 12, []int{12, 4}},
		{Rotation{12, 8, 4, false, WaveBase}, 12, []int{12}}, {Rotation{12, 8, 4, true, WaveBase}, 12, []int{12}},
	} {
		m := Machine{offsets: []int{0, 3, 3, 5}, BLAS: kernels.CurrentBLAS(), Mem: [][]float32{nil}}
		in := Instruction{Op: c.op, Out: &Buffer{N: rows * c.cols}}
		m.Mem[SpaceArena] = slices.Repeat([]float32{float32(math.NaN())}, rows*c.cols)
		for _, n := range c.args {
			in.Args = append(in.Args, Operand{Buffer: &Buffer{Offset: len(m.Mem[SpaceArena]), N: rows * n}})
			m.Mem[SpaceArena] = append(m.Mem[SpaceArena], gaussians(rng, rows*n)...)
		}
		c.op.Run(&m, &in)
		for i, x := range m.At(in.Out) {
			if padding := i >= 5*c.cols; x != x || padding && x != 0 {
				t.Errorf("%s: entry %d is %g", c.op, i, x)
			}
		}
	}
}

// A recurrence follows its formula in both directions.
func TestRecurrenceFormula(t *testing.T) {
	const c, forward = 19, 8
	rng := rand.New(rand.NewPCG(33, 34))
	offsets := []int{0, 6, 6, 7, 40}
	a, b := gaussians(rng, 48*c), gaussians(rng, 48*c)
	m := &Machine{offsets: offsets, Mem: [][]float32{slices.Concat(a, b, gaussians(rng, 48*c))}}
	buffers := [3]*Buffer{}
	for i := range buffers {
		buffers[i] = &Buffer{Offset: i * len(a), N: len(a)}
	}
	h := make([]float64, len(a))
	for k := range len(offsets) - 1 {
		for j := range c {
			state := 0.0
			for i := range offsets[k+1] - offsets[k] {
				t := offsets[k] + i
				if j >= forward {
					t = offsets[k+1] - 1 - i
				}
				state = float64(a[t*c+j])*state + float64(b[t*c+j])
				h[t*c+j] = state
			}
		}
	}
	in := &Instruction{Op: Recurrence{Cols: c, Forward: forward}, Out: buffers[2],
		Args: []Operand{{Buffer: buffers[0]}, {Buffer: buffers[1]}}}
	in.Op.Run(m, in)
	mustBeClose(t, "h", m.At(buffers[2]), h)
}

// The product with the row before is zero at the start of each example and in padding, whatever the memory held; added,
// it leaves these rows alone.
func TestTimesPrevious(t *testing.T) {
	const c, forward = 19, 8
	rng := rand.New(rand.NewPCG(35, 36))
	offsets := []int{0, 6, 6, 7, 40}
	x, h, before := gaussians(rng, 48*c), gaussians(rng, 48*c), gaussians(rng, 48*c)
	want, added := make([]float64, 48*c), make([]float64, 48*c)
	for i, x := range before {
		added[i] = float64(x)
	}
	for k := range len(offsets) - 1 {
		for t := offsets[k]; t < offsets[k+1]; t++ {
			for j := range c {
				s := t - 1
				if j >= forward {
					s = t + 1
				}
				if s >= offsets[k] && s < offsets[k+1] {
					want[t*c+j] = float64(x[t*c+j]) * float64(h[s*c+j])
					added[t*c+j] += want[t*c+j]
				}
			}
		}
	}
	for _, accumulate := range []bool{false, true} {
		m := &Machine{offsets: offsets, Mem: [][]float32{slices.Concat(x, h, before)}}
		n := len(x)
		in := &Instruction{Op: TimesPrevious{c, forward}, Out: &Buffer{Offset: 2 * n, N: n}, Accumulate: accumulate,
			Args: []Operand{{Buffer: &Buffer{N: n}}, {Buffer: &Buffer{Offset: n, N: n}}}}
		in.Op.Run(m, in)
		if accumulate {
			want = added
		}
		mustBeClose(t, fmt.Sprint("accumulate ", accumulate), m.At(in.Out), want)
	}
}

// A step of attention alone on 8 sentences of 20 words, 4 heads of 32 channels, and on longer ones.
func BenchmarkAttention(b *testing.B) {
	for _, words := range []int{20, 60, 200} {
		b.Run(fmt.Sprint(words), func(b *testing.B) {
			const sentences, heads, size = 8, 4, 32
			rng := rand.New(rand.NewPCG(1, 1))
			o := Attention{heads, size}
			rows, width := sentences*words, o.width()
			m := Machine{BLAS: kernels.CurrentBLAS(), Mem: [][]float32{gaussians(rng, rows*8*width)}}
			for i := range sentences + 1 {
				m.offsets = append(m.offsets, i*words)
			}
			x, g := Operand{Buffer: &Buffer{N: rows * 3 * width}},
				Operand{Buffer: &Buffer{Offset: rows * 3 * width, N: rows * width}}
			out := &Buffer{Offset: rows * 4 * width, N: rows * width}
			dx := &Buffer{Offset: rows * 5 * width, N: rows * 3 * width}
			forward, pull := Instruction{Op: o, Out: out, Args: []Operand{x}},
				Instruction{Op: AttentionPull{o}, Out: dx, Args: []Operand{x, g}}
			b.ReportAllocs()
			var first time.Duration
			for b.Loop() {
				start := time.Now()
				forward.Op.Run(&m, &forward)
				first += time.Since(start)
				pull.Op.Run(&m, &pull)
			}
			b.ReportMetric(float64(first.Nanoseconds())/float64(b.N), "forward-ns")
		})
	}
}

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

// Every function of two numbers gives the same bits for a broadcast number per row as for a whole array with that
// number.
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
		in := &Instruction{Op: Sum{512, 128, 1}, Out: &Buffer{Offset: 512 * 128, N: 512},
			Args: []Operand{{Buffer: &Buffer{N: 512 * 128}}}}
		b.SetBytes(512 * 128 * 4)
		for b.Loop() {
			in.Op.Run(m, in)
		}
	})
}
