// Package exact does exact inference for labels on the variables of a graph whose edges score pairs of labels: the best
// labels, the K best, and sums over all of them.
//
// Forests are found by themselves and cost O(V·Y²) for Y labels (Algorithms 7 to 9 of Pillutla et al. 2019). Graphs
// with loops go through a junction tree (package junction), whose tables are exponential in the width of the graph.
//
// Inference is in float64 throughout. Nothing recurses, so a path of a million variables is no problem.
package exact

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Oracle answers max, top-K, exp and max-marginals for graphs.Pairwise. It keeps its scratch memory between calls.
type Oracle struct {
	k       *kernels
	guard   oracles.Guard
	y, wide int // labels, and numbers per row of scratch
	// [2·types × y × wide] of typed edges: as they are, with labels of the first end as rows, and transposed
	tables   []float64
	table    []float64 // [y×wide] of an edge
	below    []float64 // [V×wide] what the subtree of a variable says about its labels
	above    []float64 // [V×wide] the message to the parent; on the way down, the marginals
	row, sum []float64 // [wide]
	floor    []float64 // [lanes] the smallest positive numbers so far
	weights  weights
	logs     logs
	scores   []float64 // [y] of top-K, and of samples
	draws    oracles.Draws
}

func New() *Oracle { return &Oracle{k: fastest} }

var (
	_ oracles.Oracle        = (*Oracle)(nil)
	_ oracles.Sampler       = (*Oracle)(nil)
	_ oracles.MaxMarginaler = (*Oracle)(nil)
)

// prepare makes room for a batch.
func (o *Oracle) prepare(θ *structured.Potentials) {
	if o.k == nil {
		o.k = fastest
	}
	o.guard.Begin(θ)
	o.y = θ.Parts[0].Width
	o.wide = (o.y + o.k.lanes - 1) / o.k.lanes * o.k.lanes
	o.row, o.sum, o.table = vec.Grow(o.row, o.wide), vec.Grow(o.sum, o.wide), vec.Grow(o.table, o.y*o.wide)
	clear(o.row)
	if o.types(θ) > 0 {
		o.tables = vec.Grow(o.tables, 2*o.types(θ)*o.y*o.wide)
	}
}

// types returns the number of types of typed edges, 0 for other kinds.
func (o *Oracle) types(θ *structured.Potentials) int {
	if θ.Structure.(graphs.Pairwise).Edges != graphs.Typed {
		return 0
	}
	return θ.Parts[1].Width / (o.y * o.y)
}

// typed returns a table of typed edges: 2·type for the labels of the first end as rows, 2·type + 1 for those of the
// second.
func (o *Oracle) typed(table int32) []float64 {
	size := o.y * o.wide
	return o.tables[int(table)*size:][:size]
}

// transpose makes the tables with an odd number from those with even numbers.
func (o *Oracle) transpose(types int) {
	for r := range int32(types) {
		o.turn(o.typed(2*r+1), o.typed(2*r))
	}
}

// turn sets to to the transposed table.
func (o *Oracle) turn(to, from []float64) {
	clear(to)
	for k := range o.y {
		for l, t := range from[k*o.wide:][:o.y] {
			to[l*o.wide+k] = t
		}
	}
}

// rowOf returns the numbers of variable v in scratch memory.
func (o *Oracle) rowOf(of []float64, v int32) []float64 { return of[int(v)*o.wide:][:o.wide] }
