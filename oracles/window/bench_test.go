package window

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/windows"
)

// drawMaps draws maps like those of a trained network: a smooth blob of positive cells around an object, of the size of
// its gold box, on a negative background, with noise. Boxes of the object's size have the best size terms. With loss,
// the potentials are augmented.
func drawMaps(count, height, width int, noise, scale float64, loss bool) *structured.Potentials {
	r := rand.New(rand.NewPCG(1, 2))
	w := windows.Window{Height: height, Width: width}
	θ := new(structured.Potentials)
	rows := func(n int) []int {
		at := make([]int, count+1)
		for b := range at {
			at[b] = b * n
		}
		return at
	}
	θ.Reshape(w.Form(), rows(4), func(table string) []int {
		if table == structured.Examples {
			return rows(1)
		}
		return rows(height * width)
	})
	for k := range w.Height + w.Width {
		θ.Parts[1].Values[k] = float32(-scale * 0.5 * math.Abs(float64(k%w.Height-w.Height/3)) / float64(w.Height))
	}
	for b := range count {
		h, v := height/5+r.IntN(height/3), width/5+r.IntN(width/3)
		top, left := r.IntN(height-h), r.IntN(width-v)
		θ.Gold = append(θ.Gold, []int32{int32(top), int32(left), int32(top + h - 1), int32(left + v - 1)})
		cells := θ.Parts[0].Of(b)
		for i := range cells {
			y := (float64(i/width) - float64(top) - float64(h-1)/2) / (float64(h) / 2)
			x := (float64(i%width) - float64(left) - float64(v-1)/2) / (float64(v) / 2)
			inside := 1.5*math.Exp(-math.Pow(x*x+y*y, 2)/2) - 0.6
			cells[i] = float32(scale * (inside + noise*r.NormFloat64()) / 20)
		}
		θ.Parts[2].Of(b)[0] = 0
		if loss {
			windows.IoULoss{}.Augment(θ, b, structured.Gold{})
		}
	}
	return θ
}

// BenchmarkSearch measures the best box and the 10 best of maps of 64×64, each iteration one map. It reports the median
// and the number of sets taken from the queue.
func BenchmarkSearch(b *testing.B) {
	for _, c := range []struct {
		noise, scale float64
		loss         bool
	}{{0.3, 1, false}, {0.3, 1, true}, {1, 1, false}, {1, 1, true}, {1, 0.1, true}, {1, 10, true}, {3, 1, true},
		{1, 0.01, true}, {1, 0, true}, {1e-6, 1, true}} {
		θ := drawMaps(40, 64, 64, c.noise, c.scale, c.loss)
		for _, k := range []int{1, 10} {
			b.Run(fmt.Sprintf("noise=%g,scale=%g,loss=%v/K=%d", c.noise, c.scale, c.loss, k), func(b *testing.B) {
				o, view := New(), new(structured.Potentials)
				var best oracles.KBest
				taken := 0
				var times []float64
				for i := range b.N {
					θ.View(i%θ.Len(), view)
					before := b.Elapsed()
					o.TopK(view, k, &best)
					times = append(times, float64(b.Elapsed()-before)/1e6)
					taken += o.search.taken
				}
				slices.Sort(times)
				b.ReportMetric(times[len(times)/2], "ms-median")
				b.ReportMetric(times[len(times)-1], "ms-most")
				b.ReportMetric(float64(taken)/float64(b.N), "sets/op")
				b.ReportAllocs()
			})
		}
	}
}
