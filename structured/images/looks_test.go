package images

import (
	"math"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func TestLook(t *testing.T) {
	m := &Image{Width: 2, Height: 1, Pixels: []uint8{255, 0, 51, 0, 0, 51}}
	l := m.Look(7)
	if l.Size != 7 || l.Colour != [3]float32{0.5, 0, 0.2} || math.Abs(float64(l.Contrast)-0.299/2) > 1e-6 {
		t.Errorf("%+v", l)
	}
	if got := (&Image{Width: 9, Height: 4}).Scale(); got != 6 {
		t.Errorf("scale %g", got)
	}
}

func TestSummariseLooks(t *testing.T) {
	a := structured.ImageLook{Colour: [3]float32{0.25, 0.5, 1}, Contrast: 0.09, Size: 10}
	b := structured.ImageLook{Colour: [3]float32{0.75, 0.5, 0}, Contrast: 0.39, Size: 40}
	l := SummariseLooks([]structured.ImageLook{a, {}, b})
	if l.Images != 2 || l.Colour() != [3]float64{0.5, 0.5, 0.5} || math.Abs(l.Size()-20) > 1e-4 ||
		math.Abs(l.Contrast()-0.19) > 1e-6 {
		t.Errorf("%+v: colour %v, contrast %v, size %v", l, l.Colour(), l.Contrast(), l.Size())
	}
	if want := math.Sqrt(0.125); math.Abs(l.Spread[0]-want) > 1e-9 || l.Spread[1] != 0 {
		t.Errorf("spread %v, expected %v and 0 first", l.Spread, want)
	}
	third := structured.ImageLook{Colour: [3]float32{0.5, 0.5, 0.5}, Contrast: 0.19, Size: 20} // between the others
	if l := SummariseLooks([]structured.ImageLook{a, third, b}); math.Abs(l.Spread[0]-0.25) > 1e-9 ||
		math.Abs(l.Spread[4]-math.Ln2) > 1e-6 {
		t.Errorf("spread %v of numbers at equal distances, expected the distance: 0.25 first, and log 2 last", l.Spread)
	}
	if SummariseLooks([]structured.ImageLook{{}}) != nil {
		t.Error("a summary of images at which nobody looked")
	}
	if bad := (&Looks{Images: 1, Spread: [looked]float64{-1}}); !l.Valid() || bad.Valid() || (&Looks{}).Valid() ||
		(&Looks{Images: 1, Mean: [looked]float64{math.NaN()}}).Valid() {
		t.Error("valid")
	}
}

// A set is of another kind where its mean is; a single image only where it is far from all, and from few training
// images more is allowed.
func TestUnlike(t *testing.T) {
	training := &Looks{Images: 1000, Mean: [looked]float64{.5, .5, .5, math.Log(.2), math.Log(32)},
		Spread: [looked]float64{.05, .05, .05, .1, .1}}
	for _, test := range []struct {
		name     string
		training *Looks
		n        int
		by       [looked]float64
		want     []Difference
	}{
		{"the same", training, 1, [looked]float64{}, nil},
		{"a set, brighter", training, 100, [looked]float64{.12, .12, .12}, []Difference{OtherColours}},
		{"an image as bright", training, 1, [looked]float64{.12, .12, .12}, nil},
		{"an inverted image", training, 1, [looked]float64{-.4, .4, .4}, []Difference{OtherColours}},
		{"one colour", training, 50, [looked]float64{2: .2}, []Difference{OtherColours}},
		{"faint", training, 10, [looked]float64{3: math.Log(.3)}, []Difference{OtherContrast}},
		{"twice as high", training, 50, [looked]float64{4: math.Log(2)}, []Difference{OtherSize}},
		{"half as high", training, 50, [looked]float64{4: -math.Log(2)}, []Difference{OtherSize}},
		{"all", training, 100, [looked]float64{.4, .4, .4, 2, 2}, []Difference{OtherColours, OtherContrast, OtherSize}},
		{"few training images", &Looks{Images: 2, Mean: training.Mean, Spread: training.Spread}, 100,
			[looked]float64{.12, .12, .12}, nil},
		{"unknown training images", nil, 100, [looked]float64{.4, .4, .4, 2, 2}, nil},
	} {
		other := &Looks{Images: test.n, Mean: training.Mean}
		for k, by := range test.by {
			other.Mean[k] += by
		}
		if got := test.training.Unlike(other); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, expected %v", test.name, got, test.want)
		}
	}
	if training.Unlike(nil) != nil {
		t.Error("nothing is unlike")
	}
}
