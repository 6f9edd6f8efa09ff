package regions

import (
	"math"

	"github.com/dsp-go/dsp/structured/images"
)

// SLIC divides images into superpixels: k-means over position and CIELAB colour from a grid of centres, each of which
// looks for pixels only nearby (Achanta, Shaji, Smith, Lucchi, Fua and Süsstrunk 2012, Algorithm 1). The same image
// gives the same superpixels.
type SLIC struct {
	Count       int     // superpixels that are wanted, at least 1; there are a few more or less
	Compactness float64 // m > 0: the distance of colours that weighs as much as a superpixel's side; 10 suits most images
	Rounds      int     // of k-means; 0 means 10
}

// slicCentre is the mean colour and place of a superpixel.
type slicCentre struct {
	colour lab
	x, y   float32
}

// Partition divides an image. The superpixels are connected (through the sides of their pixels) and are numbered by
// their first pixels, row by row.
func (s SLIC) Partition(m *images.Image) *Partition {
	pixels := toLab(m)
	n := len(pixels)
	step := math.Sqrt(float64(n) / float64(min(s.Count, n)))
	columns, rows := startingGrid(m.Width, m.Height, step)
	c := clustering{m.Width, m.Height, pixels, startingCentres(m, pixels, columns, rows),
		make([]int32, n), make([]float32, n)}
	place := float32(s.Compactness * s.Compactness / (step * step))
	rounds := s.Rounds
	if rounds == 0 {
		rounds = 10
	}
	reach := max(1, int(math.Ceil(step)), m.Width/columns, m.Height/rows)
	for range rounds {
		c.assign(reach, place)
		if !c.move() {
			break
		}
	}
	c.assign(reach, place)
	return connected(m, c.of, n/(4*len(c.centres)))
}

// startingGrid divides an image into columns and rows of squares whose sides are about step. The shorter side of the
// image comes first, so that their number is right if it is shorter than step.
func startingGrid(width, height int, step float64) (columns, rows int) {
	if width > height {
		rows, columns = startingGrid(height, width, step)
		return columns, rows
	}
	columns = max(1, int(math.Round(float64(width)/step)))
	rows = int(math.Round(float64(width*height) / (step * step * float64(columns))))
	return columns, min(max(1, rows), height)
}

// startingCentres puts a centre into the middle of each cell of a grid, and moves it to the pixel around it with the
// smallest gradient, so that it is neither on an edge nor on a noisy pixel.
func startingCentres(m *images.Image, pixels []lab, columns, rows int) []slicCentre {
	centres := make([]slicCentre, 0, columns*rows)
	for r := range rows {
		for k := range columns {
			x, y := (2*k+1)*m.Width/(2*columns), (2*r+1)*m.Height/(2*rows)
			bestX, bestY, least := x, y, float32(math.Inf(1))
			for v := max(y-1, 0); v <= min(y+1, m.Height-1); v++ {
				for u := max(x-1, 0); u <= min(x+1, m.Width-1); u++ {
					across := pixels[v*m.Width+max(u-1, 0)].squared(pixels[v*m.Width+min(u+1, m.Width-1)])
					upright := pixels[max(v-1, 0)*m.Width+u].squared(pixels[min(v+1, m.Height-1)*m.Width+u])
					if across+upright < least {
						bestX, bestY, least = u, v, across+upright
					}
				}
			}
			centres = append(centres, slicCentre{pixels[bestY*m.Width+bestX], float32(bestX), float32(bestY)})
		}
	}
	return centres
}

// clustering is the state of k-means.
type clustering struct {
	width, height int
	pixels        []lab
	centres       []slicCentre
	of            []int32   // [pixels] the nearest centre
	distance      []float32 // [pixels] to it
}

// assign gives every pixel the nearest centre of those within reach in both directions. A pixel that no centre reaches
// keeps its last one. place weighs the squared distance in pixels against that of the colours.
func (c *clustering) assign(reach int, place float32) {
	for i := range c.distance {
		c.distance[i] = math.MaxFloat32
	}
	for k, centre := range c.centres {
		left, right := max(0, int(centre.x)-reach), min(c.width-1, int(centre.x)+reach)
		for y := max(0, int(centre.y)-reach); y <= min(c.height-1, int(centre.y)+reach); y++ {
			dy := float32(y) - centre.y
			for x := left; x <= right; x++ {
				i, dx := y*c.width+x, float32(x)-centre.x
				if d := c.pixels[i].squared(centre.colour) + place*(dx*dx+dy*dy); d < c.distance[i] {
					c.distance[i], c.of[i] = d, int32(k)
				}
			}
		}
	}
}

// move puts every centre into the mean of its pixels. It reports whether one moved.
func (c *clustering) move() bool {
	sums, counts := make([][5]float64, len(c.centres)), make([]float64, len(c.centres))
	for i, k := range c.of {
		s := &sums[k]
		for a, v := range c.pixels[i] {
			s[a] += float64(v)
		}
		s[3] += float64(i % c.width)
		s[4] += float64(i / c.width)
		counts[k]++
	}
	moved := false
	for k, n := range counts {
		if n == 0 {
			continue
		}
		s := sums[k]
		to := slicCentre{lab{float32(s[0] / n), float32(s[1] / n), float32(s[2] / n)}, float32(s[3] / n), float32(s[4] / n)}
		moved = moved || to != c.centres[k]
		c.centres[k] = to
	}
	return moved
}
