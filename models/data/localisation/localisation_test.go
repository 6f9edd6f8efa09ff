package localisation

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/models/drawn/objects"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/choices"
)

// scenes draws a few scenes as data.
func scenes(t *testing.T, o Options) *structured.Dataset {
	t.Helper()
	drawn := objects.DefaultOptions()
	drawn.Train = 4
	d, err := o.Scenes(drawn.Parts()[0])
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The training output is the candidate that overlaps most with the object, and costs are 1 − IoU.
func TestOutputs(t *testing.T) {
	d := scenes(t, Options{Crop: 8, Candidates: 60})
	s := Of(d)
	for i := range d.Len() {
		gold, costs, y := s.Images[i].Gold.Box, d.GoldOf(i).Costs, d.Gold(i)
		if len(y) != 1 || len(costs) != d.Length(i) || len(costs) != len(s.Candidates(i)) {
			t.Fatalf("image %d: output %v, %d costs of %d candidates", i, y, len(costs), d.Length(i))
		}
		for k, b := range s.Candidates(i) {
			if math.Abs(float64(costs[k])-(1-b.IoU(gold))) > 1e-6 || costs[k] < costs[y[0]] {
				t.Errorf("image %d: candidate %d costs %g, %d is gold and costs %g", i, k, costs[k], y[0], costs[y[0]])
			}
			if loss := (choices.Cost{}).Loss([]int32{int32(k)}, d.GoldOf(i)); math.Abs(loss-
				float64(costs[k]-costs[y[0]])) > 1e-6 {
				t.Errorf("image %d: candidate %d loses %g", i, k, loss)
			}
		}
		if s.Box(i, y) != s.Candidates(i)[y[0]] {
			t.Errorf("image %d: box %v", i, s.Box(i, y))
		}
	}
	if err := (choices.Choice{}).CheckData(d); err != nil {
		t.Error(err)
	}
}

// Training data from several places get the same candidates, which are learned from the objects of all.
func TestComplete(t *testing.T) {
	o := Options{Crop: 8, Candidates: 60, Learn: true}
	a, b := scenes(t, o), scenes(t, o)
	if a.Labels != nil || Of(a).Boxes != nil {
		t.Fatal("candidates before they are learned")
	}
	for i := range Of(b).Images { // others
		Of(b).Images[i].Gold.Box = boxes.Box{X: 1, Y: 1, Width: 150, Height: 20}
	}
	if err := o.Complete(a, b); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*structured.Dataset{a, b} {
		if Of(d).Sliding != Of(a).Sliding || !slices.Equal(Of(d).Candidates(0), Of(a).Candidates(1)) {
			t.Error("other windows for other files")
		}
		if iou, _ := Of(d).Allowed(); iou < 0.55 || d.Features == nil {
			t.Errorf("best candidates have an IoU of %.2f", iou)
		}
	}
	o.Learn, o.Sliding = false, Of(a).Sliding
	if other := scenes(t, o); !slices.Equal(Of(other).Candidates(0), Of(a).Candidates(0)) {
		t.Error("other data have other candidates")
	}
}

// A gold box becomes the window that overlaps most with it, which trying all windows confirms.
func TestSnap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	s := &Set{Grid: 6, Images: []Image{{Width: 50, Height: 37}}}
	for range 200 {
		w, h := 1+r.Float64()*40, 1+r.Float64()*30
		b := boxes.Box{X: r.Float64() * (50 - w), Y: r.Float64() * (37 - h), Width: w, Height: h}
		got, iou := s.snap(0, b)
		best := 0.0
		for top := int32(0); top < 6; top++ {
			for left := int32(0); left < 6; left++ {
				for bottom := top; bottom < 6; bottom++ {
					for right := left; right < 6; right++ {
						best = max(best, s.window(0, []int32{top, left, bottom, right}).IoU(b))
					}
				}
			}
		}
		if math.Abs(best-iou) > 1e-12 || s.window(0, got).IoU(b) != iou {
			t.Fatalf("%v: window %v with IoU %g, the best has %g", b, got, iou, best)
		}
	}
}

// Inputs that are computed when they are needed equal those in memory, also of a subset, and networks score them alike.
func TestSourcesEqualMemory(t *testing.T) {
	for name, o := range map[string]Options{
		"descriptor": {Crop: 16, Candidates: 40}, "pixels": {Crop: 12, Candidates: 40, Pixels: true},
		"windows": {Windows: true, Grid: 5}, "npz": {}, "maps": {Shape: []int{3, 2, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(stream bool) *structured.Dataset {
				o := o
				o.Stream = stream
				if name == "npz" || name == "maps" {
					path := archive(t, name == "maps")
					d, err := o.Arrays(path)
					if err != nil {
						t.Fatal(err)
					}
					return d
				}
				return scenes(t, o)
			}
			in := read(false)
			out := read(true)
			if in.Features == nil || in.Source != nil || out.Features != nil || out.Source == nil {
				t.Fatal("the data are not where they should be")
			}
			examples := []int{2, 0, 1, 1}
			for _, pair := range [][2]*structured.Dataset{{in, out}, {in.Subset(examples), out.Subset(examples)}} {
				a, b := pair[0], pair[1]
				got := make([]float32, a.Positions()*a.Dim)
				if err := b.Source.Read(got, 0, b.Positions()); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, a.Features) {
					t.Error("the inputs differ")
				}
				for i := range a.Len() {
					if !slices.Equal(Of(a).Candidates(i), Of(b).Candidates(i)) {
						t.Errorf("image %d: other candidates", i)
					}
				}
				if x, y := scores(t, a, examples), scores(t, b, examples); !slices.Equal(x, y) {
					t.Error("the scores differ")
				}
			}
			x, err := out.Source.Fingerprint()
			y, wrong := read(true).Source.Fingerprint()
			if err != nil || wrong != nil || x != y {
				t.Errorf("fingerprints %q and %q, %v, %v", x, y, err, wrong)
			}
		})
	}
}

// scores returns the scores of the first part for some examples, by a network with weights from 1.
func scores(t *testing.T, d *structured.Dataset, examples []int) []float32 {
	t.Helper()
	net, err := nets.Make(nets.Config{Net: "linear"}, graph.Input{Dim: d.Dim},
		nets.Output{Labels: 1, Form: choices.Form()})
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float32, net.Dim())
	for k := range w {
		w[k] = float32(k%7) - 3
	}
	var batch structured.Batch
	var θ structured.Potentials
	var all []float32
	for _, some := range [][]int{examples[:1], examples, {0, 1, 2}} {
		batch.Reset(d, some)
		if err := net.NewWorker().Score(w, &batch, &θ); err != nil {
			t.Fatal(err)
		}
		all = append(all, θ.Parts[0].Values...)
	}
	return all
}

// archive writes candidates with random features, or maps of 3×2×4.
func archive(t *testing.T, maps bool) string {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 3))
	c := &arrays.Candidates{Offsets: []int{0}}
	for i := range 4 {
		for range 3 + i {
			c.Boxes = append(c.Boxes,
				boxes.Box{X: float64(r.IntN(20)), Y: float64(r.IntN(10)), Width: 5 + float64(r.IntN(10)), Height: 6})
		}
		c.Offsets = append(c.Offsets, len(c.Boxes))
		c.Sizes, c.Gold = append(c.Sizes, [2]int{40, 30}), append(c.Gold, boxes.Box{X: 3, Y: 4, Width: 10, Height: 6})
	}
	w := arrays.CandidateWriter{Shape: []int{24}, Features: func(_ int, dst []float32) error {
		for k := range dst {
			dst[k] = r.Float32()
		}
		return nil
	}}
	if maps {
		w.Shape = []int{3, 2, 4}
	}
	path := filepath.Join(t.TempDir(), "candidates.npz")
	var b bytes.Buffer
	if err := w.Write(io.Writer(&b), c); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// The channels of maps come first in npz and last for networks.
func TestMapsHaveChannelsLast(t *testing.T) {
	path := archive(t, true)
	c, err := arrays.CandidateReader{}.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	first := make([]float32, 24)
	if err := c.Features.Read(first, 1, 2); err != nil {
		t.Fatal(err)
	}
	d, err := Options{}.Arrays(path)
	if err != nil {
		t.Fatal(err)
	}
	if Of(d).Map != [3]int{2, 4, 3} {
		t.Fatalf("maps of %v", Of(d).Map)
	}
	last := d.Features[24:48]
	for channel := range 3 {
		for cell := range 8 {
			if last[cell*3+channel] != first[channel*8+cell] {
				t.Fatalf("channel %d of cell %d", channel, cell)
			}
		}
	}
}

// An object that annotators found difficult is no example to learn from, unless all images are wanted.
func TestDifficultObjects(t *testing.T) {
	dir := t.TempDir()
	for name, difficult := range map[string]int{"1": 0, "2": 1} {
		text := fmt.Sprintf(`<annotation><filename>%s.png</filename><size><width>40</width><height>30</height></size><object><name>dog</name>
<difficult>%d</difficult><bndbox><xmin>3</xmin><ymin>5</ymin><xmax>20</xmax><ymax>25</ymax></bndbox></object></annotation>`, name, difficult)
		var pixels bytes.Buffer
		if err := png.Encode(&pixels, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
			t.Fatal(err)
		}
		for file, content := range map[string][]byte{name + ".xml": []byte(text), name + ".png": pixels.Bytes()} {
			if err := os.WriteFile(filepath.Join(dir, file), content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for unlabeled, want := range map[bool]int{false: 1, true: 2} {
		d, err := Options{Crop: 8, Candidates: 5, Images: dir, Unlabeled: unlabeled}.VOC(dir)
		if err != nil {
			t.Fatal(err)
		}
		if s := Of(d); len(s.Images) != want || !unlabeled && (s.Counts.Difficult != 1 || s.Images[0].ID != 1) {
			t.Errorf("%d images, expected %d; counted %+v", len(s.Images), want, s.Counts)
		}
	}
}
