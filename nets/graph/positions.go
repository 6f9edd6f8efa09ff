package graph

import (
	"fmt"
	"math"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/kernels"
)

// The ops of this file tell the network where in its example a row is: row t of an example, counted from 0, is
// described by cosines and sines of t·f_i with the frequencies f_i = b^(−i/F), i = 0 … F−1, b = 10000 unless the
// network chooses it.

// Rotation turns channels by the position of the row, such that the scalar product of two rotated rows depends on their
// distance only (Su et al. 2021). Rows have Cols channels, of which the first Turned are heads of Size channels; the
// rest is copied. In each head, channels i and i + Size/2 are a pair, which is turned by the angle t·f_i, or by −t·f_i
// with Back. Padding rows get zeros.
type Rotation struct {
	Cols, Turned, Size int
	Back               bool
	Base               float64 // b
}

// WaveBase is the base b of frequencies where the network does not choose it.
const WaveBase = 10000

func (o Rotation) String() string {
	return fmt.Sprintf("rotation %d of %d by %d%s", o.Turned, o.Cols, o.Size, map[bool]string{true: " back"}[o.Back])
}

func (o Rotation) tangent(b *builder, v *value, d []*value) *value { return b.add(o, v.shape, d[0]) }

func (o Rotation) Run(m *Machine, in *Instruction) {
	out, x, half, sign := m.At(in.Out), m.At(in.Args[0].Buffer), o.Size/2, float32(1)
	if o.Back {
		sign = -1
	}
	clear(out[m.positions()*o.Cols:])
	for _, r := range m.eachExample() {
		wave := m.wavesOf(half, r.hi-r.lo, o.Base)
		for t := range r.hi - r.lo {
			cos, sin := wave.at(t, half)
			from, to := x[(r.lo+t)*o.Cols:][:o.Cols], out[(r.lo+t)*o.Cols:][:o.Cols]
			kernels.Rows.Rotate(to[:o.Turned], from[:o.Turned], cos, sin, sign)
			copy(to[o.Turned:], from[o.Turned:])
		}
	}
}

// Sinusoids adds the position of the row to its Cols channels: cos(t·f_i) to channel i and sin(t·f_i) to channel i +
// Cols/2 (Vaswani et al. 2017). Padding rows are copied.
type Sinusoids struct{ Cols int }

func (o Sinusoids) String() string { return fmt.Sprintf("sinusoids ×%d", o.Cols) }

func (o Sinusoids) tangent(_ *builder, _ *value, d []*value) *value { return d[0] }

func (o Sinusoids) Run(m *Machine, in *Instruction) {
	out, x, c := m.At(in.Out), m.At(in.Args[0].Buffer), o.Cols
	for _, r := range m.eachExample() {
		n := r.hi - r.lo
		kernels.Rows.Add(out[r.lo*c:r.hi*c], x[r.lo*c:r.hi*c], m.wavesOf(c/2, n, WaveBase)[:n*c])
	}
	copy(out[m.positions()*c:], x[m.positions()*c:])
}

// waves has a row for each position: the cosines of all frequencies, then the sines.
type waves []float32

// Waves returns the first rows of waves with half frequencies and the given base, at least n. It reuses the rows of
// before.
func Waves(before []float32, n, half int, base float64) []float32 {
	from := len(before) / (2 * half)
	if n <= from {
		return before
	}
	w := append(make([]float32, 0, 2*half*n), before...)
	for t := from; t < n; t++ {
		for _, f := range []func(float64) float64{math.Cos, math.Sin} {
			for i := range half {
				w = append(w, float32(f(float64(t)*math.Pow(base, -float64(i)/float64(half)))))
			}
		}
	}
	return w
}

func (w waves) at(t, half int) (cos, sin []float32) {
	row := w[t*2*half : (t+1)*2*half]
	return row[:half], row[half:]
}

// waveKey tells waves apart.
type waveKey struct {
	half int
	base float64
}

// wavesOf returns waves for at least n positions.
func (m *Machine) wavesOf(half, n int, base float64) waves {
	key := waveKey{half, base}
	w := m.waves[key]
	if have := len(w) / (2 * half); have < n {
		if m.waves == nil {
			m.waves = map[waveKey]waves{}
		}
		w = Waves(w, max(n, 2*have), half, base)
		m.waves[key] = w
	}
	return w
}

// Rotate turns the heads of size channels in the first turned channels of x [Rows×C] by the position of each row in its
// example, as the op Rotation says; the other channels stay. Size is even.
func (g *Graph) Rotate(x *gorgonia.Node, turned, size int) (*gorgonia.Node, error) {
	return g.RotateBy(x, turned, size, WaveBase)
}

// RotateBy is Rotate with frequencies of the given base.
func (g *Graph) RotateBy(x *gorgonia.Node, turned, size int, base float64) (*gorgonia.Node, error) {
	s := x.Shape()
	if len(s) != 2 || s[0] != g.Rows || size < 2 || size%2 != 0 || turned < 0 || turned > s[1] || turned%size != 0 {
		return nil, fmt.Errorf("nets: Rotate of %d channels of %v by heads of %d: expected [%d×C] and "+
			"whole heads of an even size", turned, s, size, g.Rows)
	}
	return g.rotate(x, Rotation{s[1], turned, size, false, base})
}

func (g *Graph) rotate(x *gorgonia.Node, o Rotation) (*gorgonia.Node, error) {
	shape := x.Shape().Clone()
	op := &fusedOp{name: o.String(), out: shape,
		eval: func(args [][]float64, out []float64) {
			g.eachRow(func(row, t int) {
				x, out := args[0][row*o.Cols:(row+1)*o.Cols], out[row*o.Cols:(row+1)*o.Cols]
				copy(out, x)
				for c := 0; c < o.Turned; c += o.Size {
					for i := range o.Size / 2 {
						sin, cos := math.Sincos(angle(t, i, o.Size/2, o.Base))
						if o.Back {
							sin = -sin
						}
						j, k := c+i, c+i+o.Size/2
						out[j], out[k] = x[j]*cos-x[k]*sin, x[j]*sin+x[k]*cos
					}
				}
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(o, shape, args[0]) },
	}
	op.pull = func(_ gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
		back := o
		back.Back = !o.Back
		n, err := g.rotate(grad, back)
		return gorgonia.Nodes{n}, err
	}
	return op.apply(x)
}

// AddPositions adds sinusoids of the position of each row in its example to x [Rows×C], as the op Sinusoids says. C is
// even.
func (g *Graph) AddPositions(x *gorgonia.Node) (*gorgonia.Node, error) {
	s := x.Shape()
	if len(s) != 2 || s[0] != g.Rows || s[1]%2 != 0 {
		return nil, fmt.Errorf("nets: AddPositions to %v: expected [%d×C] with an even C", s, g.Rows)
	}
	shape, c := s.Clone(), s[1]
	op := &fusedOp{name: Sinusoids{c}.String(), out: shape,
		eval: func(args [][]float64, out []float64) {
			copy(out, args[0])
			g.eachRow(func(row, t int) {
				for i := range c / 2 {
					sin, cos := math.Sincos(angle(t, i, c/2, WaveBase))
					out[row*c+i] += cos
					out[row*c+i+c/2] += sin
				}
			})
		},
		lowered: func(b *builder, args []*value) *value { return b.add(Sinusoids{c}, shape, args[0]) },
		pull: func(_ gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
			return gorgonia.Nodes{grad}, nil
		},
	}
	return op.apply(x)
}

// angle is t·f_i for half frequencies.
func angle(t, i, half int, base float64) float64 {
	return float64(t) * math.Exp(-math.Log(base)*float64(i)/float64(half))
}

// eachRow visits the rows of the batch that are not padding, with their position in their example, for Gorgonia's
// machines.
func (g *Graph) eachRow(visit func(row, t int)) {
	for b := range len(g.offsets) - 1 {
		for row := g.offsets[b]; row < g.offsets[b+1]; row++ {
			visit(row, row-g.offsets[b])
		}
	}
}
