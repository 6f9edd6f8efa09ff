package regions

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
)

// Direction says how two neighbours lie to each other: a type of edge.
type Direction int32

// Directions, with the order of an edge's two ends.
const (
	Horizontal Direction = iota // the left region first
	Vertical                    // the upper region first
	Diagonal                    // the upper region first
)

// directions is the number of types of edges.
const directions = 3

// Border is what two neighbouring regions share.
type Border struct {
	Ends      [2]int32 // the regions
	Direction Direction
	Length    int // pairs of pixels on both sides of the border; 0 if only corners touch
	// mean distance of the colours of these pairs (of those at the corners if there are no others), each colour from 0
	// to 1
	Strength float32
}

// borderSums are sums over the pairs of pixels of a border.
type borderSums struct {
	ends     [2]int32 // in rising order
	pairs    [2]int   // beside or above each other; and at corners
	distance [2]float64
}

// Borders returns the pairs of neighbours, sorted by their numbers. Regions are neighbours if a pixel of one is beside
// or above a pixel of the other; if corners is true, pixels whose corners touch make neighbours too.
func Borders(m *images.Image, p *Partition, corners bool) []Border {
	index := map[uint64]int{}
	var sums []borderSums
	meet := func(i, j, kind int) {
		a, b := p.Of[i], p.Of[j]
		if a == b {
			return
		}
		ends := [2]int32{min(a, b), max(a, b)}
		key := uint64(ends[0])<<32 | uint64(ends[1])
		k, known := index[key]
		if !known {
			k = len(sums)
			index[key] = k
			sums = append(sums, borderSums{ends: ends})
		}
		sums[k].pairs[kind]++
		sums[k].distance[kind] += distance(m.Pixels[3*i:][:3], m.Pixels[3*j:][:3])
	}
	for y := range p.Height {
		for x := range p.Width {
			i := y*p.Width + x
			right, below := x+1 < p.Width, y+1 < p.Height
			if right {
				meet(i, i+1, 0)
			}
			if below {
				meet(i, i+p.Width, 0)
			}
			if corners && right && below {
				meet(i, i+p.Width+1, 1)
				meet(i+1, i+p.Width, 1)
			}
		}
	}
	slices.SortFunc(sums, func(a, b borderSums) int { return slices.Compare(a.ends[:], b.ends[:]) })
	centres := p.Centres()
	borders := make([]Border, len(sums))
	for k, s := range sums {
		kind := 0
		if s.pairs[0] == 0 {
			kind = 1
		}
		b := Border{Ends: s.ends, Length: s.pairs[0], Strength: float32(s.distance[kind] / float64(s.pairs[kind]))}
		b.orient(centres)
		borders[k] = b
	}
	return borders
}

// orient sets the direction and the order of the ends. Less than 22.5 degrees from an axis is along the axis.
func (b *Border) orient(centres [][2]float64) {
	from, to := centres[b.Ends[0]], centres[b.Ends[1]]
	dx, dy := to[0]-from[0], to[1]-from[1]
	first := dy
	switch near := math.Tan(math.Pi / 8); {
	case math.Abs(dy) <= near*math.Abs(dx):
		b.Direction, first = Horizontal, dx
	case math.Abs(dx) <= near*math.Abs(dy):
		b.Direction = Vertical
	default:
		b.Direction = Diagonal
	}
	if first < 0 {
		b.Ends[0], b.Ends[1] = b.Ends[1], b.Ends[0]
	}
}

// distance returns the Euclidean distance of two colours whose parts are from 0 to 255, as if they were from 0 to 1.
func distance(a, b []uint8) float64 {
	r, g, u := float64(a[0])-float64(b[0]), float64(a[1])-float64(b[1]), float64(a[2])-float64(b[2])
	return math.Sqrt(r*r+g*g+u*u) / 255
}

// Graph returns the regions' graph; the types of its edges are their directions.
func Graph(borders []Border) *structured.Graph {
	g := &structured.Graph{Ends: make([][2]int32, len(borders)), Types: make([]int32, len(borders))}
	for k, b := range borders {
		g.Ends[k], g.Types[k] = b.Ends, int32(b.Direction)
	}
	return g
}
