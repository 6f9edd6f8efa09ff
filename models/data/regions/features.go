package regions

import (
	"math"

	"github.com/dsp-go/dsp/structured/images"
)

// around lists the features of a region of which the means over its neighbours are features, too: colour, its spread,
// and the strength of the gradient.
var around = [...]int{0, 1, 2, 3, 4, 5, images.StrengthAt}

// Dim is the number of features of a region: those of images.Image.Regions (mean colour, spread of the colour,
// orientations and strength of the gradient, position), then means over the neighbours.
const Dim = images.CellFeatures + len(around)

// Features appends the features of the regions [Count×Dim] to dst. A region without neighbours is its own.
func Features(dst []float32, m *images.Image, p *Partition, borders []Border) []float32 {
	own := make([]float32, p.Count*images.CellFeatures)
	m.Regions(own, p.Of, p.Count)
	sums, degree := make([]float32, p.Count*len(around)), make([]float32, p.Count)
	add := func(to, from int32) {
		degree[to]++
		for k, at := range around {
			sums[int(to)*len(around)+k] += own[int(from)*images.CellFeatures+at]
		}
	}
	for _, b := range borders {
		add(b.Ends[0], b.Ends[1])
		add(b.Ends[1], b.Ends[0])
	}
	for r := range p.Count {
		if degree[r] == 0 {
			add(int32(r), int32(r))
		}
		dst = append(dst, own[r*images.CellFeatures:][:images.CellFeatures]...)
		for _, s := range sums[r*len(around):][:len(around)] {
			dst = append(dst, s/degree[r])
		}
	}
	return dst
}

// EdgeDim is the number of features of an edge.
const EdgeDim = 3 + directions

// EdgeFeatures appends the features of the borders [edges×EdgeDim] to dst. None is negative:
//
//	exp(−‖Δc‖²/σ²)  Δc is the difference of the regions' mean colours, and σ² twice the mean of ‖Δc‖² over the edges
//	                of the image (Boykov and Jolly 2001): 1 where the regions look alike
//	exp(−s²/τ²)     the same of the border's strength s
//	length          of the border, in sides of a square of the mean region's size
//	direction       1 at its place, else 0 [Directions]
//
// features are those of the regions [Count×Dim].
func EdgeFeatures(dst, features []float32, p *Partition, borders []Border) []float32 {
	colours := make([]float64, len(borders)) // ‖Δc‖²
	meanColour, meanStrength := 0.0, 0.0
	for k, b := range borders {
		u, v := features[int(b.Ends[0])*Dim:][:3], features[int(b.Ends[1])*Dim:][:3]
		for c := range 3 {
			d := float64(u[c] - v[c])
			colours[k] += d * d
		}
		meanColour += colours[k]
		meanStrength += float64(b.Strength) * float64(b.Strength)
	}
	edges := float64(max(1, len(borders)))
	meanColour, meanStrength = meanColour/edges, meanStrength/edges
	side := math.Sqrt(float64(len(p.Of)) / float64(p.Count))
	for k, b := range borders {
		s := float64(b.Strength)
		dst = append(dst, alike(colours[k], meanColour), alike(s*s, meanStrength), float32(float64(b.Length)/side))
		for d := range directions {
			is := float32(0)
			if b.Direction == Direction(d) {
				is = 1
			}
			dst = append(dst, is)
		}
	}
	return dst
}

// alike returns exp(−square/(2·mean)). On an image of one colour, where both are 0, all regions are alike.
func alike(square, mean float64) float32 {
	if mean == 0 {
		return 1
	}
	return float32(math.Exp(-square / (2 * mean)))
}
