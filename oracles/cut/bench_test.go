package cut_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/cut"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// image draws a grid of pixels with 4 or 8 neighbours: blobs with noise, and Potts edges that are weak where the
// colours differ.
func image(height, width, neighbours int) *structured.Potentials {
	r := rand.New(rand.NewPCG(1, 2))
	n, g := height*width, &structured.Graph{}
	steps := [][2]int{{0, 1}, {1, 0}, {1, 1}, {1, -1}}[:neighbours/2]
	colour := make([]float64, n)
	for v := range colour {
		x, y := float64(v%width), float64(v/width)
		colour[v] = 0.4*r.NormFloat64() - 0.5
		if math.Sin(x/17)*math.Cos(y/23)+math.Sin((x+y)/31) > 0.3 {
			colour[v]++
		}
	}
	var same []float32
	for v := range n {
		for _, s := range steps {
			y, x := v/width+s[0], v%width+s[1]
			if y >= height || x < 0 || x >= width {
				continue
			}
			u := y*width + x
			d := colour[v] - colour[u]
			g.Ends = append(g.Ends, [2]int32{int32(v), int32(u)})
			same = append(same, float32(0.1+2*math.Exp(-2*d*d))/float32(math.Hypot(float64(s[0]), float64(s[1]))))
		}
	}
	θ := new(structured.Potentials)
	θ.Reshape(graphs.Pairwise{Edges: graphs.Potts, By: graphs.Cut}.Form(2, 0), []int{0, n}, func(table string) []int {
		if table == graphs.EdgeRows {
			return []int{0, len(same)}
		}
		return []int{0, n}
	})
	for v, c := range colour {
		θ.Parts[0].Values[2*v], θ.Parts[0].Values[2*v+1] = 0, float32(3*c)
	}
	copy(θ.Parts[1].Values, same)
	θ.Graphs = []*structured.Graph{g}
	return θ
}

// noise is image with random potentials.
func noise(height, width, neighbours int) *structured.Potentials {
	θ := image(height, width, neighbours)
	r := rand.New(rand.NewPCG(3, 4))
	for v := range θ.Parts[0].Values {
		θ.Parts[0].Values[v] = float32(r.NormFloat64())
	}
	for e := range θ.Parts[1].Values {
		θ.Parts[1].Values[e] = r.Float32()
	}
	return θ
}

var drawings = []struct {
	name string
	draw func(height, width, neighbours int) *structured.Potentials
}{{"image", image}, {"noise", noise}}

func BenchmarkMax(b *testing.B) {
	for _, d := range drawings {
		for _, size := range [][2]int{{100, 100}, {240, 320}, {512, 512}} {
			for _, neighbours := range []int{4, 8} {
				b.Run(fmt.Sprintf("%s/%dx%d/%d", d.name, size[1], size[0], neighbours), func(b *testing.B) {
					θ, o := d.draw(size[0], size[1], neighbours), cut.New()
					y, value := make([]int32, θ.OutputSize()), make([]float64, 1)
					for b.Loop() {
						o.Max(θ, y, value)
					}
				})
			}
		}
	}
}

func BenchmarkMaxMarginals(b *testing.B) {
	for _, d := range drawings {
		for _, size := range []int{64, 100} {
			for _, neighbours := range []int{4, 8} {
				b.Run(fmt.Sprintf("%s/%dx%d/%d", d.name, size, size, neighbours), func(b *testing.B) {
					θ, o := d.draw(size, size, neighbours), cut.New()
					y, value, m := make([]int32, θ.OutputSize()), make([]float64, 1), oracles.MaxMarginals{}
					for b.Loop() {
						o.MaxMarginals(θ, y, value, &m)
					}
				})
			}
		}
	}
}
