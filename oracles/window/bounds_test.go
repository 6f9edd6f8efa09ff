package window

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/windows"
)

// drawPotentials draws one map of at most 12×12, 3×40 or 40×3 cells: integers with many ties, reals, or large numbers,
// with forbidden entries or without, and a potential of the loss of either sign or −∞.
func drawPotentials(r *rand.Rand) *structured.Potentials {
	w := windows.Window{Height: 1 + r.IntN(12), Width: 1 + r.IntN(12)}
	switch r.IntN(4) {
	case 0:
		w = windows.Window{Height: 1 + r.IntN(3), Width: 17 + r.IntN(24)}
	case 1:
		w = windows.Window{Height: 17 + r.IntN(24), Width: 1 + r.IntN(3)}
	}
	θ := new(structured.Potentials)
	θ.Reshape(w.Form(), []int{0, 4}, func(table string) []int {
		if table == structured.Examples {
			return []int{0, 1}
		}
		return []int{0, w.Height * w.Width}
	})
	numbers, forbidden := r.IntN(4), []float64{0, 0, 0.03, 0.3}[r.IntN(4)]
	for k := range θ.Parts {
		x := θ.Parts[k].Values
		for i := range x {
			switch {
			case r.Float64() < forbidden:
				x[i] = float32(math.Inf(-1))
			case numbers == 0:
				x[i] = float32(r.IntN(5) - 2)
			case numbers == 1:
				x[i] = float32(r.IntN(3)-1) * 1e6
			case numbers == 2:
				x[i] = 0.1 * float32(r.NormFloat64())
			default:
				x[i] = float32(r.NormFloat64())
			}
		}
	}
	if r.IntN(4) > 0 {
		θ.Gold = [][]int32{w.Draw(r)}
	}
	return θ
}

// drawSet draws a set of boxes of a grid.
func drawSet(r *rand.Rand, w windows.Window) boxes {
	among := func(lo, hi int) interval {
		a, b := lo+r.IntN(hi-lo+1), lo+r.IntN(hi-lo+1)
		return interval{int16(min(a, b)), int16(max(a, b))}
	}
	y := w.Draw(r) // which is in the set
	return boxes{
		interval{among(0, int(y[0])).lo, among(int(y[0]), w.Height-1).hi},
		interval{among(0, int(y[1])).lo, among(int(y[1]), w.Width-1).hi},
		interval{among(0, int(y[2])).lo, among(int(y[2]), w.Height-1).hi},
		interval{among(0, int(y[3])).lo, among(int(y[3]), w.Width-1).hi},
	}.clip()
}

func (s boxes) has(y []int32) bool {
	for i, in := range []interval{s.top, s.left, s.bottom, s.right} {
		if y[i] < int32(in.lo) || y[i] > int32(in.hi) {
			return false
		}
	}
	return true
}

// Every bound of a set holds for each of its boxes, and the two halves of a set have its boxes between them.
func TestBoundsHold(t *testing.T) {
	tight := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		θ := drawPotentials(r)
		w := θ.Structure.(windows.Window)
		var s search
		s.share(w, θ.Parts[1].Values)
		s.reset(w, θ, 0, oracles.NoMasks)
		set := drawSet(r, w)
		upper, left, right := s.bound(set)
		a, b := set.split()
		whole := set.rowsKnown() && set.pairs() == 1
		least, most := set.heights()
		narrow, wide := set.widths()
		largest, members := math.Inf(-1), 0
		w.Each(θ, 0, func(y []int32) {
			if !set.has(y) {
				return
			}
			members++
			score := θ.Score(0, y)
			largest = max(largest, score)
			if score > upper+1e-9*(1+s.magnitude) {
				t.Fatalf("seed %d: %v of %v scores %g, the bound is %g", seed, y, set, score, upper)
			}
			if h, v := int(y[2]-y[0])+1, int(y[3]-y[1])+1; h < least || h > most || v < narrow || v > wide {
				t.Fatalf("seed %d: %v of %v has a size beyond %d to %d by %d to %d", seed, y, set, least, most, narrow, wide)
			}
			if !whole && a.has(y) == b.has(y) {
				t.Fatalf("seed %d: %v is in both halves of %v, or in neither: %v and %v", seed, y, set, a, b)
			}
			if s.gold == nil {
				return
			}
			if iou := windows.IoU(y, s.gold); iou < set.leastIoU(s.gold) || iou > set.largestIoU(s.gold) {
				t.Fatalf("seed %d: IoU %g of %v, bounds of %v: %g to %g", seed, iou, y, set,
					set.leastIoU(s.gold), set.largestIoU(s.gold))
			}
			for _, c := range []float64{1, -2} {
				if loss := c * float64(windows.Loss(y, s.gold)); loss > set.lossBound(c, s.gold) {
					t.Fatalf("seed %d: loss %g of %v, bound of %v is %g", seed, loss, y, set, set.lossBound(c, s.gold))
				}
			}
		})
		if members == 0 {
			t.Fatalf("seed %d: %v is empty", seed, set)
		}
		if members == 1 {
			tight++
			if upper != largest && !(math.Abs(upper-largest) <= 1e-9*(1+s.magnitude)+1e-7*math.Abs(s.loss)) {
				t.Fatalf("seed %d: the only box of %v scores %g, the bound is %g", seed, set, largest, upper)
			}
		}
		if !math.IsInf(upper, -1) && (left < set.left.lo || left > set.left.hi || right < set.right.lo ||
			right > set.right.hi || left > right) {
			t.Fatalf("seed %d: columns %d to %d of %v", seed, left, right, set)
		}
	}
	if tight == 0 {
		t.Error("no set had a single box")
	}
}

func TestRangeMax(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := 1; n < 40; n++ {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.IntN(20))
		}
		var m rangeMax
		m.reset(make([]float32, 50))
		m.reset(x)
		for lo := range x {
			largest := math.Inf(-1)
			for hi := lo; hi < n; hi++ {
				largest = max(largest, float64(x[hi]))
				if got := m.of(lo, hi); got != largest {
					t.Fatalf("the largest of %v from %d to %d is %g, want %g", x, lo, hi, got, largest)
				}
			}
		}
	}
}
