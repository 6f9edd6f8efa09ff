package chain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// drawLong draws a long chain whose positions are far apart, so that its sums need logarithms, or not.
var drawLong = []struct {
	name string
	fill func(r *rand.Rand, p *chains.Potentials)
}{
	{"small", func(r *rand.Rand, p *chains.Potentials) { fillNormal(r, p, 0) }},
	{"apart", func(r *rand.Rand, p *chains.Potentials) { fillNormal(r, p, 1e4) }},
	{"far apart", func(r *rand.Rand, p *chains.Potentials) { fillNormal(r, p, 1e8) }},
	{"alike, one position apart", func(_ *rand.Rand, p *chains.Potentials) { // every step has the same roundings
		clear(p.Node)
		for i := range p.Edge {
			p.Edge[i] = float32(i%p.Y) / 7
		}
		for j := range p.Y {
			p.Node[j] = 1e4
		}
	}},
	{"few steps", func(r *rand.Rand, p *chains.Potentials) {
		fillNormal(r, p, 1e4)
		for i := range p.Edge {
			if from, to := i/p.Y%p.Y, i%p.Y; from != to && from+1 != to {
				p.Edge[i] = minusInf
			}
		}
	}},
}

func fillNormal(r *rand.Rand, p *chains.Potentials, apart float64) {
	for t := range p.Positions() {
		common := apart * r.Float64()
		for j := range p.Y {
			p.Node[t*p.Y+j] = float32(common + r.NormFloat64())
		}
	}
	for i := range p.Edge {
		p.Edge[i] = float32(r.NormFloat64())
	}
}

// Marginals of long chains are those of a distribution, to a few roundings of float32: those of each position sum to 1,
// and those of steps to those of the positions that they lead from and to.
func TestLongChainsAreProper(t *testing.T) {
	const most, length = 16 * 0x1p-24, 20000
	for name, o := range Every() {
		for _, d := range drawLong {
			for _, perPosition := range []bool{false, true} {
				for _, y := range []int{2, 5} {
					what := fmt.Sprintf("%s, %s, %d labels, edges per position %v", name, d.name, y, perPosition)
					θ, u := &structured.Potentials{}, &structured.Marginals{}
					chains.Resize(θ, []int{0, length}, y, perPosition)
					in := chains.Of(θ)
					d.fill(rand.New(rand.NewPCG(1, 2)), &in)
					if !o.Proper(θ, 0, 1) {
						t.Fatalf("%s: is said not to be proper", what)
					}
					o.Exp(θ, 1, make([]float64, 1), u)
					if off := offSums(u.Parts[0].Of(0), y); !(off <= most) {
						t.Errorf("%s: marginals of a position sum to 1 but for %.3g", what, off)
					}
					if off := offSteps(u, y, length, perPosition); !(off <= most) {
						t.Errorf("%s: marginals of steps differ from those of positions by a share of %.3g", what, off)
					}
				}
			}
		}
	}
}

// offSums returns how far the sums of rows are from 1.
func offSums(node []float32, y int) (off float64) {
	for ; len(node) > 0; node = node[y:] {
		sum := 0.0
		for _, p := range node[:y] {
			sum += float64(p)
		}
		off = max(off, math.Abs(sum-1))
	}
	return off
}

// offSteps returns the largest share by which the marginals of steps from or to a label differ from its own, where
// those are not negligible.
func offSteps(u *structured.Marginals, y, length int, perPosition bool) (off float64) {
	const least = 1e-20
	node, edge := u.Parts[0].Of(0), u.Parts[1].Of(0)
	before, after, from, to := make([]float64, y), make([]float64, y), make([]float64, y), make([]float64, y)
	compare := func() {
		for j := range y {
			if before[j] > least {
				off = max(off, math.Abs(from[j]/before[j]-1))
			}
			if after[j] > least {
				off = max(off, math.Abs(to[j]/after[j]-1))
			}
		}
		clear(before)
		clear(after)
		clear(from)
		clear(to)
	}
	add := func(edge []float32) {
		for i, p := range edge[:y*y] {
			from[i/y] += float64(p)
			to[i%y] += float64(p)
		}
	}
	for t := 1; t < length; t++ {
		for j := range y {
			before[j] += float64(node[(t-1)*y+j])
			after[j] += float64(node[t*y+j])
		}
		if perPosition {
			add(edge[t*y*y:])
			compare()
		}
	}
	if !perPosition {
		add(edge)
		compare()
	}
	return off
}

// Potentials that leave no digits for the logarithms of sums are not said to be proper.
func TestHugePotentialsAreNotProper(t *testing.T) {
	θ := &structured.Potentials{}
	chains.Resize(θ, []int{0, 2}, 2, false)
	for _, p := range θ.Parts {
		for i := range p.Values {
			p.Values[i] = 1e15
		}
	}
	if o := New(); o.Proper(θ, 0, 1) || !o.Proper(θ, 0, 1e6) || oracles.Magnitude(θ, 0) < 1e15 {
		t.Errorf("proper at 1: %v, at 1e6: %v", o.Proper(θ, 0, 1), o.Proper(θ, 0, 1e6))
	}
}
