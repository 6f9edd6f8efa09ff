package boxes

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// objectsOf draws n objects whose scales and aspects are between bounds, anywhere in images of several sizes.
func objectsOf(n int, scale, aspect [2]float64, rng *rand.Rand) (all []Placed) {
	between := func(b [2]float64) float64 {
		return math.Exp(math.Log(b[0]) + rng.Float64()*(math.Log(b[1])-math.Log(b[0])))
	}
	for range n {
		size := [][2]int{{160, 120}, {120, 160}, {320, 240}}[rng.IntN(3)]
		width, height := float64(size[0]), float64(size[1])
		side, a := between(scale)*math.Sqrt(width*height), between(aspect)
		b := Box{Width: min(width, side*math.Sqrt(a)), Height: min(height, side/math.Sqrt(a))}
		b.X, b.Y = rng.Float64()*(width-b.Width), rng.Float64()*(height-b.Height)
		all = append(all, Placed{b, size[0], size[1]})
	}
	return all
}

// bestIoU returns the mean IoU of objects with their best windows, and the mean number of windows.
func bestIoU(w Windows, objects []Placed) (iou, windows float64) {
	for _, o := range objects {
		all := w.Boxes(o.Width, o.Height)
		_, best := Best(all, o.Box)
		iou, windows = iou+best/float64(len(objects)), windows+float64(len(all))/float64(len(objects))
	}
	return iou, windows
}

// Shapes around objects have the scale and the aspect of each, to half a step of the grid, within the bounds of
// windows; every shape is there with every stride.
func TestShapesAround(t *testing.T) {
	const half = 0.065 + 1e-9
	side := func(scale, aspect float64) Placed {
		of := scale * 1000
		return Placed{Box{Width: of * math.Sqrt(aspect), Height: of / math.Sqrt(aspect)}, 1000, 1000}
	}
	for _, x := range [][4]float64{ // the object, and the shape that should be near
		{0.01, 1, 0.01, 1}, {0.012, 1, 0.012, 1}, {0.001, 1, 0.01, 1}, {0.5, 3, 0.5, 3}, {1, 0.2, 1, 0.2},
		{0.3, math.Exp(5), 0.3, math.Exp(4)}, {0.3, math.Exp(-5), 0.3, math.Exp(-4)},
	} {
		all := shapesAround([]Placed{side(x[0], x[1])})
		if len(all) != len(strides) {
			t.Fatalf("%d shapes, want one with %d strides", len(all), len(strides))
		}
		for k, s := range all {
			if math.Abs(math.Log(s.Scale/x[2])) > half || math.Abs(math.Log(s.Aspect/x[3])) > half ||
				s.Scale > 1 || s.Stride != strides[k] {
				t.Errorf("scale %g, aspect %g: %+v", x[0], x[1], s)
			}
		}
	}
	if all := shapesAround([]Placed{side(0.3, 1), side(0.301, 1), side(0.8, 1)}); len(all) != 2*len(strides) {
		t.Errorf("%d shapes of two kinds of objects", len(all))
	}
}

// Windows that are learned from objects suit others of their kind better than windows for all kinds, with as many per
// image.
func TestFitWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name          string
		scale, aspect [2]float64
		n, most       int
		gain          float64
	}{
		{"insects", [2]float64{0.15, 0.45}, [2]float64{0.6, 1.7}, 200, 400, 0.01},
		{"small", [2]float64{0.08, 0.12}, [2]float64{0.8, 1.2}, 200, 1000, 0.2},
		{"flat", [2]float64{0.2, 0.4}, [2]float64{5, 9}, 200, 400, 0.2},
		{"tall", [2]float64{0.2, 0.4}, [2]float64{0.1, 0.2}, 200, 400, 0.2},
		{"whole images", [2]float64{0.9, 1}, [2]float64{0.7, 1.4}, 200, 100, 0.05},
		{"all kinds", [2]float64{0.1, 1}, [2]float64{0.3, 3}, 500, 1000, 0.03},
		{"three objects", [2]float64{0.15, 0.45}, [2]float64{0.6, 1.7}, 3, 400, -0.03},
		{"one object", [2]float64{0.2, 0.3}, [2]float64{0.8, 1.2}, 1, 400, 0},
	} {
		seen, others := objectsOf(c.n, c.scale, c.aspect, rng), objectsOf(100, c.scale, c.aspect, rng)
		usual := DefaultWindows()
		usual.Most = c.most
		w := FitWindows(seen, c.most)
		if err := w.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		before, _ := bestIoU(usual, others)
		after, count := bestIoU(w, others)
		t.Logf("%s: %.3f, then %.3f, with %.0f windows of %d shapes", c.name, before, after, count, len(w.Shapes))
		if after < before+c.gain {
			t.Errorf("%s: mean IoU %.3f of the best windows, and %.3f of those that are for all kinds", c.name, after, before)
		}
		if again := FitWindows(seen, c.most); !reflect.DeepEqual(again, w) {
			t.Errorf("%s: other windows for the same objects", c.name)
		}
	}
}

// Windows can be learned from any objects, and there are no more of them than asked for.
func TestFitAnyWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var objects []Placed
		for range rapid.IntRange(0, 5).Draw(t, "objects") {
			o := Placed{Width: rapid.IntRange(1, 300).Draw(t, "width"), Height: rapid.IntRange(1, 300).Draw(t, "height")}
			o.Box.Width = float64(o.Width) * rapid.Float64Range(1e-3, 1).Draw(t, "wide")
			o.Box.Height = float64(o.Height) * rapid.Float64Range(1e-3, 1).Draw(t, "high")
			objects = append(objects, o)
		}
		most := rapid.IntRange(1, 300).Draw(t, "most")
		w := FitWindows(objects, most)
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
		width, height := rapid.IntRange(1, 300).Draw(t, "image width"), rapid.IntRange(1, 300).Draw(t, "image height")
		all, seen := w.Boxes(width, height), map[Box]bool{}
		if len(all) == 0 || len(all) > most {
			t.Fatalf("%d windows, expected at most %d", len(all), most)
		}
		for _, b := range all {
			if got, err := b.Inside(width, height, ""); err != nil || got != b || seen[b] {
				t.Fatalf("window %v in %d × %d: %v, twice: %v", b, width, height, err, seen[b])
			}
			seen[b] = true
		}
	})
}
