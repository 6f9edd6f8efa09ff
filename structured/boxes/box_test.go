package boxes

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

// pixelBox draws a box on whole pixels of a small image.
func pixelBox(t *rapid.T, label string) Box {
	at := func(name string, from, to int) float64 { return float64(rapid.IntRange(from, to).Draw(t, label+name)) }
	return Box{at(" x", 0, 7), at(" y", 0, 7), at(" width", 1, 6), at(" height", 1, 6)}
}

func (b Box) has(x, y int) bool {
	px, py := float64(x)+0.5, float64(y)+0.5
	return b.X <= px && px < b.X+b.Width && b.Y <= py && py < b.Y+b.Height
}

// Of boxes that lie anywhere, IoU is from 0 to 1, and 1 up to rounding for a box with itself.
func TestIoUOfAnyBoxes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at, size := rapid.Float64Range(-1e3, 1e3), rapid.Float64Range(0.1, 100)
		b := Box{at.Draw(t, "x"), at.Draw(t, "y"), size.Draw(t, "width"), size.Draw(t, "height")}
		if iou := b.IoU(b); iou > 1 || iou < 1-1e-9 {
			t.Fatalf("%v with itself: %v", b, iou)
		}
	})
	b := Box{26.3, 9.7, 20, 20}
	if iou := b.IoU(b); iou > 1 {
		t.Errorf("%v with itself: 1 and %v more", b, iou-1)
	}
}

func TestIoUCountsPixels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, c := pixelBox(t, "b"), pixelBox(t, "c")
		both, either := 0, 0
		for y := range 16 {
			for x := range 16 {
				if b.has(x, y) && c.has(x, y) {
					both++
				}
				if b.has(x, y) || c.has(x, y) {
					either++
				}
			}
		}
		if b.intersection(c) != float64(both) || b.IoU(c) != float64(both)/float64(either) || b.IoU(c) != c.IoU(b) {
			t.Fatalf("%v and %v share %v, IoU %v; pixels %d of %d", b, c, b.intersection(c), b.IoU(c), both, either)
		}
	})
}

func TestVOC(t *testing.T) {
	b := FromVOC(1, 1, 1, 1)
	if b != (Box{0, 0, 1, 1}) {
		t.Errorf("the first pixel is %v", b)
	}
	b = FromVOC(48, 240, 195, 371)
	if b != (Box{47, 239, 148, 132}) {
		t.Errorf("got %v", b)
	}
	if x, y, r, d := b.VOC(); x != 48 || y != 240 || r != 195 || d != 371 {
		t.Errorf("back: %v %v %v %v", x, y, r, d)
	}
}

func TestInside(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		box, want Box
		err       string
	}{
		{box: Box{0, 0, 20, 10}, want: Box{0, 0, 20, 10}},
		{box: Box{0.1, 0.2, 5, 5}, want: Box{0.1, 0.2, 5, 5}},
		{box: Box{-0.5, 3, 20.5, 8}, want: Box{0, 3, 20, 7}},
		{box: Box{3, 3, 0.5, 5}, want: Box{3, 3, 0.5, 5}}, // narrower than a pixel
		{box: Box{3, 3, 5, 0.25}, want: Box{3, 3, 5, 0.25}},
		{box: Box{1, 9.5, 2, 1}, want: Box{1, 9.5, 2, 0.5}},
		{box: Box{5, 5, 3, -0.5}, err: "inverted"},
		{box: Box{5, 5, 3, 0}, err: "empty"},
		{box: Box{0, 0, 0, 5}, err: "empty"},
		{box: Box{5, 5, -3, 5}, err: "inverted"},
		{box: Box{-1.1, 0, 5, 5}, err: "outside the image, expected it within 20 × 10"},
		{box: Box{0, 6, 5, 5.1}, err: "outside"},
		{box: Box{20, 0, 1, 5}, err: "outside"},
		{box: Box{nan, 0, 1, 5}, err: "finite"},
		{box: Box{0, 0, math.Inf(1), 5}, err: "finite"},
	} {
		got, err := c.box.Inside(20, 10, "a.json: annotations[3]")
		switch {
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%v: got %v, %v, expected %v", c.box, got, err, c.want)
		case c.err != "" && (!structured.IsBadInput(err) || !strings.Contains(err.Error(), c.err) ||
			!strings.HasPrefix(err.Error(), "a.json: annotations[3]: ")):
			t.Errorf("%v: error %v, expected one about %q", c.box, err, c.err)
		}
	}
}

func TestBest(t *testing.T) {
	gold := Box{10, 10, 10, 10}
	k, iou := Best([]Box{{0, 0, 5, 5}, {10, 10, 10, 5}, {10, 15, 10, 5}}, gold)
	if k != 1 || iou != 0.5 {
		t.Errorf("got %d with IoU %v", k, iou)
	}
	if k, iou = Best(nil, gold); k != -1 || iou != 0 {
		t.Errorf("without candidates: %d, %v", k, iou)
	}
	if k, _ = Best([]Box{{0, 0, 5, 5}}, gold); k != 0 {
		t.Errorf("a candidate that does not overlap: %d", k)
	}
}

func TestWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := DefaultWindows()
		w.Most = rapid.IntRange(0, 1000).Draw(t, "most")
		width, height := rapid.IntRange(1, 300).Draw(t, "width"), rapid.IntRange(1, 300).Draw(t, "height")
		all, seen := w.Boxes(width, height), map[Box]bool{}
		if len(all) == 0 || w.Most > 0 && len(all) > w.Most {
			t.Fatalf("%d windows, at most %d expected", len(all), w.Most)
		}
		for _, b := range all {
			if got, err := b.Inside(width, height, ""); err != nil || got != b || seen[b] {
				t.Fatalf("window %v in %d × %d: %v, twice: %v", b, width, height, err, seen[b])
			}
			seen[b] = true
		}
	})
}

func TestWindowsCover(t *testing.T) {
	windows := DefaultWindows().Boxes(320, 240)
	if len(windows) < 600 || len(windows) > 1000 {
		t.Errorf("%d windows", len(windows))
	}
	rng, found := rand.New(rand.NewPCG(1, 2)), 0
	const n = 1000
	for range n {
		side, aspect := (0.15+0.65*rng.Float64())*math.Sqrt(320*240), math.Exp((2*rng.Float64()-1)*math.Ln2)
		wide, high := min(320, side*math.Sqrt(aspect)), min(240, side/math.Sqrt(aspect))
		b := Box{rng.Float64() * (320 - wide), rng.Float64() * (240 - high), wide, high}
		if _, iou := Best(windows, b); iou > 0.6 {
			found++
		}
	}
	t.Logf("%d windows, %d of %d boxes found", len(windows), found, n)
	if found < n*95/100 {
		t.Errorf("%d of %d boxes have a window with an IoU above 0.6", found, n)
	}
}

func TestWindowsSettings(t *testing.T) {
	if err := DefaultWindows().Validate(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(w *Windows){
		func(w *Windows) { w.Shapes = nil }, func(w *Windows) { w.Shapes[1].Scale = 1.5 },
		func(w *Windows) { w.Shapes[2].Aspect = 0 }, func(w *Windows) { w.Shapes[0].Stride = 0 },
		func(w *Windows) { w.Shapes[3].Stride = math.NaN() }, func(w *Windows) { w.Most = -1 },
		func(w *Windows) { w.Shapes = make([]Shape, mostShapes+1) },
	} {
		w := DefaultWindows()
		change(&w)
		if err := w.Validate(); !structured.IsBadInput(err) {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

// Models that were trained with these windows keep them: numbers of candidates in their weights' data mean the same
// boxes for ever.
func TestDefaultWindowsStay(t *testing.T) {
	for _, c := range []struct {
		width, height, most, count int
		sum                        uint32
	}{
		{160, 120, 400, 400, 0xa584d764}, {77, 300, 60, 60, 0xfbd002a6}, {500, 375, 1000, 1000, 0x525f7fd2},
		{12, 9, 0, 662, 0xbd23a77},
		{400, 20, 0, 418, 0x4904842f},
	} {
		w := DefaultWindows()
		w.Most = c.most
		all := w.Boxes(c.width, c.height)
		if sum := crc32.ChecksumIEEE([]byte(fmt.Sprint(all))); len(all) != c.count || sum != c.sum {
			t.Errorf("%d × %d: %d windows with the checksum %#x, expected %d with %#x", c.width, c.height,
				len(all), sum, c.count, c.sum)
		}
	}
}

// A model file may ask for windows without number: only those that are kept are made.
func TestCrowdedWindows(t *testing.T) {
	w := Windows{Most: 50, Cut: true}
	for k := range mostShapes {
		w.Shapes = append(w.Shapes, Shape{0.001 * float64(k+1), 1, 0.01})
	}
	if all := w.Boxes(5000, 5000); len(all) != 50 {
		t.Errorf("%d windows", len(all))
	}
}
