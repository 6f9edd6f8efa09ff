package engine

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/registry"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/constituents"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/trees"
)

// deep is an example with few outputs, and an entry that only some of them use.
type deep struct {
	θ           *structured.Potentials
	outputs     [][]int32
	part, entry int
	uses        func(y int) bool
}

// deepKinds are structures whose oracles add potentials one by one in float64, each with an example like those of
// TestMarginalsOfLongChains: half of the potentials are large, and one output adds small ones to their sum that all
// round to the same side, which others have at once.
var deepKinds = []struct {
	name  string
	sizes []int
	draw  func(n int, large float32) deep
}{
	{"projective trees", []int{30, 300}, func(n int, large float32) deep { return twoTrees(n, large, false) }},
	{"trees", []int{30, 200}, func(n int, large float32) deep { return twoTrees(n, large, true) }},
	{"constituents", []int{10, 80}, combs},
	{"segments", []int{200, 20000}, twoSegmentations},
	{"forests", []int{200, 20000}, twoLabelings},
	{"graphs of two variables", []int{200, 20000}, manyEdges},
	{"second-order chains", []int{200, 20000}, twoSecond},
}

// Marginals of deep structures err beyond float32 by no more than is charged, and log Z by no more than the oracle
// says.
func TestMarginalsOfDeepStructures(t *testing.T) {
	for _, k := range deepKinds {
		for _, n := range k.sizes {
			for _, large := range []float32{1 << 17, 1 << 24} {
				d := k.draw(n, large)
				oracle := registry.Of(d.θ.Structure).Oracle()
				var u structured.Marginals
				var value [1]float64
				oracle.(oracles.Summer).Exp(d.θ, 1, value[:], &u)
				logZ, p := d.exactly()
				off, most := math.Abs(float64(u.Parts[d.part].Of(0)[d.entry])/p-1), beyond(nil, d.θ, 0, 1)
				name := fmt.Sprintf("%s of %d, potentials of %g", k.name, n, large)
				if !(off <= most+noise*Unit) {
					t.Errorf("%s: a marginal of %.9g is off by %.3g, expected at most %.3g beyond float32", name, p, off, most)
				}
				rest, _ := new(big.Float).Sub(logZ, big.NewFloat(value[0])).Float64()
				ω := oracles.Rounding(oracle, d.θ, 0, 1)
				if !(math.Abs(rest) <= ω) {
					t.Errorf("%s: log Z is off by %.3g, expected at most %.3g", name, rest, ω)
				}
				t.Logf("%s: off by %.3g of %.3g, log Z by %.3g of %.3g", name, off, most, math.Abs(rest), ω)
			}
		}
	}
}

// exactly returns log Z and the probability of the entry, from the scores of all outputs without a rounding.
func (d *deep) exactly() (logZ *big.Float, p float64) {
	scores := make([]*big.Float, len(d.outputs))
	var indicator structured.Marginals
	indicator.Like(d.θ)
	for k, y := range d.outputs {
		scores[k] = new(big.Float).SetPrec(500)
		indicator.Clear()
		indicator.Add(0, y, 1)
		for j := range indicator.Parts {
			for i, times := range indicator.Parts[j].Of(0) {
				if times != 0 {
					x := new(big.Float).SetPrec(500).SetFloat64(float64(d.θ.Parts[j].Of(0)[i]))
					scores[k].Add(scores[k], x.Mul(x, big.NewFloat(float64(times))))
				}
			}
		}
	}
	total, uses := 0.0, 0.0 // relative to the first
	for k, s := range scores {
		x, _ := new(big.Float).Sub(s, scores[0]).Float64()
		if total += math.Exp(x); d.uses(k) {
			uses += math.Exp(x)
		}
	}
	return new(big.Float).Add(scores[0], big.NewFloat(math.Log(total))), uses / total
}

// smallBeside returns a number that sums like this one lose, to the upper side, when it is added to them.
func smallBeside(sum float64) float32 { return float32(0.6 * (math.Nextafter(sum, 2*sum) - sum)) }

func forbidAll(x []float32) {
	for i := range x {
		x[i] = float32(math.Inf(-1))
	}
}

// twoTrees has the tree of n words whose heads are all to the left and the one whose heads are all to the right.
func twoTrees(n int, large float32, all bool) deep {
	structure, θ := trees.SpanningTree{NonProjective: all}, &structured.Potentials{}
	θ.Reshape(structure.Form(1), []int{0, 2 * n}, func(string) []int { return []int{0, n * n} })
	arc := θ.Parts[0].Values
	forbidAll(arc)
	clear(θ.Parts[1].Values)
	left, right := make([]int32, 2*n), make([]int32, 2*n)
	half, small := n/2, smallBeside(float64(n/2)*float64(large))
	for d := range n {
		left[d], right[d] = int32(d), int32(d+2) // the word before, and the word behind
		if d == n-1 {
			right[d] = 0
		}
		l, r := small, large
		if d >= n-half {
			l, r = large, 0
		}
		if d >= half {
			r = 0
		}
		arc[trees.Row(n, d, left[d])], arc[trees.Row(n, d, right[d])] = l, r
	}
	arc[trees.Row(n, n-1, 0)] = float32(float64(n-half) * float64(small))
	return deep{θ, [][]int32{left, right}, 0, trees.Row(n, 0, 0), func(y int) bool { return y == 0 }}
}

// combs has the binary trees over n words that have a first part of 1 to n−1 words, branch to the left in it, and to
// the right behind it.
func combs(n int, large float32) deep {
	θ := &structured.Potentials{}
	θ.Reshape(constituents.Form(1), []int{0, n * n}, func(string) []int { return []int{0, n * n} })
	span, label := θ.Parts[0].Values, θ.Parts[1].Values
	forbidAll(span)
	forbidAll(label)
	small := smallBeside(float64(n/2) * float64(large))
	for i := range n {
		for j := i; j < n; j++ {
			row := i*n + j
			if i > 0 && j < n-1 && i < j {
				continue
			}
			if span[row] = 0; i == 0 && j > 0 && j < n-1 {
				span[row] = large
			} else if j == n-1 && i > 0 && i < j {
				span[row] = large
			}
			if label[2*row+1] = 0; i == j {
				label[2*row], label[2*row+1] = 0, float32(math.Inf(-1))
			} else if i == 0 && j < n-1 {
				label[2*row], label[2*row+1] = small, float32(math.Inf(-1))
			}
		}
	}
	var all [][]int32
	for first := 1; first < n; first++ {
		y := make([]int32, n*n)
		y[n-1] = 1
		for i := first; i < n-1; i++ {
			y[i*n+n-1] = 1
		}
		all = append(all, y)
	}
	return deep{θ, all, 0, n - 2, func(y int) bool { return y == n-2 }}
}

// twoSegmentations has two labels without a step between them, and segments of one position. What continues segments is
// large and is not used.
func twoSegmentations(n int, large float32) deep {
	θ := &structured.Potentials{}
	θ.Reshape(segments.Form(4, 2, segments.Optional{}), []int{0, n}, func(string) []int { return []int{0, n} })
	forbidAll(θ.Parts[1].Values)
	clear(θ.Parts[1].Values[:2])
	never := float32(math.Inf(-1))
	copy(θ.Parts[2].Values, []float32{0, never, never, 0})
	node, small := θ.Parts[0].Values, smallBeside(float64(n)*float64(large))
	clear(node)
	y := [][]int32{make([]int32, n), make([]int32, n)}
	for t := range n {
		if node[4*t+1] = large; t > 0 {
			node[4*t] = small
		}
		y[1][t] = 2
	}
	node[2] = float32(float64(n-1) * float64(small))
	return deep{θ, y, 0, 0, func(y int) bool { return y == 0 }}
}

// twoRows fills nodes [n×2] as those of TestMarginalsOfLongChains.
func twoRows(node []float32, large float32) (y [][]int32) {
	n := len(node) / 2
	half := n / 2
	small := smallBeside(float64(half) * float64(large))
	y = [][]int32{make([]int32, n), make([]int32, n)}
	clear(node)
	for t := range n {
		if y[1][t] = 1; t >= half {
			node[2*t], node[2*t+1] = large, large
		} else if t > 0 {
			node[2*t] = small
		}
	}
	node[1] = float32(float64(half-1) * float64(small))
	return y
}

// twoLabelings has a path of variables that all have the same of two labels.
func twoLabelings(n int, large float32) deep {
	g, structure, θ := &structured.Graph{}, graphs.Pairwise{Edges: graphs.Typed}, &structured.Potentials{}
	for v := range n - 1 {
		g.Ends, g.Types = append(g.Ends, [2]int32{int32(v), int32(v + 1)}), append(g.Types, 0)
	}
	θ.Reshape(structure.Form(2, 1), []int{0, n}, func(table string) []int {
		if table == graphs.EdgeRows {
			return []int{0, n - 1}
		}
		return []int{0, n}
	})
	θ.Graphs = []*structured.Graph{g}
	never := float32(math.Inf(-1))
	copy(θ.Parts[1].Values, []float32{0, never, never, 0})
	return deep{θ, twoRows(θ.Parts[0].Values, large), 0, 0, func(y int) bool { return y == 0 }}
}

// manyEdges has n edges between two variables that have the same label.
func manyEdges(n int, large float32) deep {
	g, structure, θ := &structured.Graph{}, graphs.Pairwise{Edges: graphs.Own}, &structured.Potentials{}
	for range n {
		g.Ends = append(g.Ends, [2]int32{0, 1})
	}
	θ.Reshape(structure.Form(2, 0), []int{0, 2}, func(table string) []int {
		if table == graphs.EdgeRows {
			return []int{0, n}
		}
		return []int{0, 2}
	})
	θ.Graphs = []*structured.Graph{g}
	clear(θ.Parts[0].Values)
	half, edge := n/2, θ.Parts[1].Values
	forbidAll(edge)
	small := smallBeside(float64(half) * float64(large))
	for e := range n {
		edge[4*e], edge[4*e+3] = large, large
		if e >= half {
			edge[4*e], edge[4*e+3] = small, 0
		}
	}
	θ.Parts[0].Values[1] = float32(float64(n-half) * float64(small))
	return deep{θ, [][]int32{{0, 0}, {1, 1}}, 0, 0, func(y int) bool { return y == 0 }}
}

// twoSecond is twoLabelings for chains.
func twoSecond(n int, large float32) deep {
	steps := chains.NewSteps(2, func(yield func([]int32) bool) { _ = yield([]int32{0, 0, 0}) && yield([]int32{1, 1, 1}) })
	θ := &structured.Potentials{}
	θ.Reshape(chains.SecondForm(steps), []int{0, n}, func(string) []int { return []int{0, n} })
	for _, p := range θ.Parts[1:] {
		clear(p.Values)
	}
	return deep{θ, twoRows(θ.Parts[0].Values, large), 0, 0, func(y int) bool { return y == 0 }}
}
