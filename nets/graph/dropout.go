package graph

import (
	"fmt"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/kernels"
)

// Mask is the dropout mask of one layer: for each of Units of each row, 0 with probability Rate and 1/(1−Rate)
// otherwise; all ones in evaluation. It depends only on the worker's seed, the example, the row in the example and the
// unit, so an example sees the same network until the seed changes.
type Mask struct {
	Layer, Units int
	Rate         float64
	Pairs        bool // rows are pairs of positions
}

func (o Mask) String() string { return fmt.Sprintf("dropout mask %d ×%d", o.Layer, o.Units) }

func (o Mask) tangent(*builder, *value, []*value) *value { return nil }

func (o Mask) Run(m *Machine, in *Instruction) {
	out := m.At(in.Out)
	if m.Seed == 0 {
		kernels.Numbers.Fill(out, 1)
		return
	}
	keep := float32(1 / (1 - o.Rate))
	threshold := uint64(o.Rate * (1 << 32))
	keys := m.keys
	if o.Pairs {
		keys = m.pairKeys
	}
	for t := range len(out) / o.Units {
		row := out[t*o.Units : (t+1)*o.Units]
		state := mix(m.Seed ^ mix(keys[t]^mix(uint64(o.Layer))))
		for u := range row {
			state += 0x9e3779b97f4a7c15
			if mix(state)>>32 < threshold {
				row[u] = 0
			} else {
				row[u] = keep
			}
		}
	}
}

// mix is the output function of SplitMix64 (Steele, Lea and Flood 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Dropout zeroes entries of x [Rows×C] or [Pairs×C] with the given probability while training (DropoutWorker), and
// scales the rest by 1/(1−rate) (Srivastava et al. 2014).
func (g *Graph) Dropout(x *gorgonia.Node, rate float64) (*gorgonia.Node, error) {
	if rate == 0 {
		return x, nil
	}
	s := x.Shape()
	if rate < 0 || rate >= 1 || len(s) != 2 || s[0] != g.Rows && s[0] != g.Pairs {
		return nil, fmt.Errorf("nets: Dropout of %v with rate %g: expected [%d×C] or [%d×C] and a rate in [0,1)", s, rate,
			g.Rows, g.Pairs)
	}
	g.needs.Dropout = true
	layer := len(g.masks)
	n := g.input(fmt.Sprintf("mask%d", layer), s...)
	g.masks[n] = Mask{layer, s[1], rate, g.isPairs(x)}
	if g.masks[n].Pairs {
		g.needs.Pairs = true
	}
	return gorgonia.HadamardProd(x, n)
}
