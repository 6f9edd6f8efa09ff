package randomgraphs

import (
	"math/rand/v2"

	"github.com/dsp-go/dsp/structured"
)

// Shape is the shape of graphs.
type Shape int

// Shapes.
const (
	Random Shape = iota // a tree of 12 to 28 variables with a few edges more, which close loops
	Tree                // a tree of 12 to 28 variables
	Grid                // a grid of 4×4 to 6×6 variables
)

var shapeNames = []string{"random", "tree", "grid"}

// String returns "random", "tree" or "grid".
func (s Shape) String() string { return shapeNames[s] }

// ParseShape parses a name in the form that String writes.
func ParseShape(name string) (Shape, error) {
	return structured.ParseName[Shape]("shape", shapeNames, name)
}

// draw draws a graph and labels of its variables. Along an edge, a label mostly stays, or becomes the next one.
func (s Shape) draw(r *rand.Rand, classes int) (*structured.Graph, []int32) {
	if s == Grid {
		return drawGrid(r, classes)
	}
	n := 12 + r.IntN(17)
	g, labels := &structured.Graph{}, make([]int32, n)
	labels[0] = int32(r.IntN(classes))
	joined := map[[2]int32]bool{}
	join := func(u, v int) {
		g.Ends = append(g.Ends, [2]int32{int32(u), int32(v)})
		joined[[2]int32{int32(u), int32(v)}] = true
	}
	for v := 1; v < n; v++ {
		u := r.IntN(v)
		join(u, v)
		labels[v] = follow(r, labels[u], classes)
	}
	if s == Tree {
		return g, labels
	}
	for range n / 4 {
		u, v := r.IntN(n), r.IntN(n)
		if u, v = min(u, v), max(u, v); u != v && !joined[[2]int32{int32(u), int32(v)}] {
			join(u, v)
		}
	}
	return g, labels
}

// drawGrid draws a grid whose labels follow from the left or from above.
func drawGrid(r *rand.Rand, classes int) (*structured.Graph, []int32) {
	side := 4 + r.IntN(3)
	g, labels := &structured.Graph{}, make([]int32, side*side)
	for v := range labels {
		left, above := v%side > 0, v >= side
		if left {
			g.Ends = append(g.Ends, [2]int32{int32(v - 1), int32(v)})
		}
		if above {
			g.Ends = append(g.Ends, [2]int32{int32(v - side), int32(v)})
		}
		switch {
		case !left && !above:
			labels[v] = int32(r.IntN(classes))
		case left && (!above || r.IntN(2) == 0):
			labels[v] = follow(r, labels[v-1], classes)
		default:
			labels[v] = follow(r, labels[v-side], classes)
		}
	}
	return g, labels
}

// follow draws the label after l.
func follow(r *rand.Rand, l int32, classes int) int32 {
	switch x := r.Float64(); {
	case x < 0.6:
		return l
	case x < 0.9:
		return (l + 1) % int32(classes)
	}
	return int32(r.IntN(classes))
}

// relations is the number of relations between the labels of an edge's ends: the same, the next one, or any other.
const relations = 3

func relation(u, v int32, classes int) int {
	switch v {
	case u:
		return 0
	case (u + 1) % int32(classes):
		return 1
	}
	return 2
}

// Standard deviations of the noise in features at difficulty 1.
const (
	nodeNoise = 0.9
	edgeNoise = 0.5
)

// describe appends the features of variables [V×Y]: 1 for the label, 0 for others, and noise.
func (o Options) describe(r *rand.Rand, to []float32, labels []int32) []float32 {
	for _, l := range labels {
		to = o.indicate(r, to, int(l), o.Classes, nodeNoise)
	}
	return to
}

// relate appends the features of edges [E×relations]: 1 for the relation of the labels, 0 for others, and noise. It
// sets the type of an edge to the relation of which its features tell most.
func (o Options) relate(r *rand.Rand, to []float32, g *structured.Graph, labels []int32) []float32 {
	for _, ends := range g.Ends {
		from := len(to)
		to = o.indicate(r, to, relation(labels[ends[0]], labels[ends[1]], o.Classes), relations, edgeNoise)
		most := 0
		for k, x := range to[from:] {
			if x > to[from+most] {
				most = k
			}
		}
		g.Types = append(g.Types, int32(most))
	}
	return to
}

func (o Options) indicate(r *rand.Rand, to []float32, which, of int, noise float64) []float32 {
	for k := range of {
		x := o.Difficulty * noise * r.NormFloat64()
		if k == which {
			x++
		}
		to = append(to, float32(x))
	}
	return to
}
