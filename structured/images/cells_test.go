package images

import (
	"math"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// striped is an image whose brightness depends on a·x + b·y alone.
func striped(a, b float64) *Image {
	m := &Image{Width: 48, Height: 48}
	for y := range m.Height {
		for x := range m.Width {
			v := uint8(127 + 100*math.Sin(a*float64(x)+b*float64(y)))
			m.Pixels = append(m.Pixels, v, v, v)
		}
	}
	return m
}

func TestOrientations(t *testing.T) {
	for _, c := range []struct {
		a, b float64
		bins map[int]bool // those that hold the gradient
	}{
		{0.4, 0, map[int]bool{0: true}}, {-0.4, 0, map[int]bool{0: true}}, // one direction and its opposite are alike
		{0, 0.4, map[int]bool{4: true, 5: true}},
		{0.4 * math.Cos(math.Pi/3), 0.4 * math.Sin(math.Pi/3), map[int]bool{3: true}},
		{0.4 * math.Cos(math.Pi/3), -0.4 * math.Sin(math.Pi/3), map[int]bool{6: true}},
	} {
		f := make([]float32, 9*CellFeatures)
		if err := striped(c.a, c.b).Cells(f, 3, 3); err != nil {
			t.Fatal(err)
		}
		middle := f[4*CellFeatures:][:CellFeatures]
		sum := float32(0)
		for k, v := range middle[gradientAt:StrengthAt] {
			sum += v
			if c.bins[k] != (v > 0.3) {
				t.Errorf("stripes (%.2f, %.2f): bin %d is %v", c.a, c.b, k, v)
			}
		}
		if sum < 0.8 || sum > 1 {
			t.Errorf("stripes (%.2f, %.2f): the bins sum to %v", c.a, c.b, sum)
		}
	}
}

func TestCellsColourAndPosition(t *testing.T) {
	m := patterned(25, 19)
	const rows, columns = 4, 6 // which do not divide the image
	f := make([]float32, rows*columns*CellFeatures)
	if err := m.Cells(f, rows, columns); err != nil {
		t.Fatal(err)
	}
	for cell := range rows * columns {
		got := f[cell*CellFeatures:][:CellFeatures]
		for c := range 3 {
			sum, squares, n := 0.0, 0.0, 0.0
			for y := range m.Height {
				for x := range m.Width {
					if y*rows/m.Height == cell/columns && x*columns/m.Width == cell%columns {
						v := float64(m.Pixels[3*(y*m.Width+x)+c]) / 255
						sum, squares, n = sum+v, squares+v*v, n+1
					}
				}
			}
			mean := sum / n
			if spread := math.Sqrt(squares/n - mean*mean); math.Abs(float64(got[c])-mean) > 1e-5 ||
				math.Abs(float64(got[3+c])-spread) > 1e-4 {
				t.Errorf("cell %d, colour %d: %v ± %v, expected %v ± %v", cell, c, got[c], got[3+c], mean, spread)
			}
		}
	}
	last := f[len(f)-2:]
	if math.Abs(float64(last[0])-5./6) > 1e-6 || math.Abs(float64(last[1])-3./4) > 1e-6 || f[positionAt] > -0.8 {
		t.Errorf("the last cell is at %v, the first at %v", last, f[positionAt:positionAt+2])
	}
}

func TestCellsGrid(t *testing.T) {
	m := patterned(5, 4)
	for _, g := range [][2]int{{5, 5}, {4, 6}, {0, 2}} {
		if err := m.Cells(make([]float32, 30*CellFeatures), g[0], g[1]); !structured.IsBadInput(err) {
			t.Errorf("grid %v: %v", g, err)
		}
	}
	if err := m.Cells(make([]float32, 20*CellFeatures), 4, 5); err != nil {
		t.Error(err)
	}
}

// The description of the whole image, at its own size, is that of its cells. Another place gives another description.
func TestDescriber(t *testing.T) {
	m := patterned(30, 30)
	d := &Describer{Side: 30, Grid: 3}
	want, got := make([]float32, d.Width()), make([]float32, d.Width())
	if err := m.Cells(want, 3, 3); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time with used memory
		if err := d.Describe(got, m, boxes.Box{Width: 30, Height: 30}); err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if math.Abs(float64(got[i]-want[i])) > 1e-4 {
				t.Fatalf("number %d is %v, expected %v", i, got[i], want[i])
			}
		}
	}
	if err := d.Describe(got, m, boxes.Box{X: 20, Y: 20, Width: 10, Height: 10}); err != nil ||
		math.Abs(float64(got[0]-want[0])) < 1e-4 {
		t.Errorf("another box has the colour %v, %v", got[0], err)
	}
	d.Grid = 31
	if err := d.Describe(make([]float32, d.Width()), m, boxes.Box{Width: 30, Height: 30}); !structured.IsBadInput(err) {
		t.Error(err)
	}
}

func BenchmarkDescribe(b *testing.B) {
	m, box := patterned(500, 375), boxes.Box{X: 100, Y: 80, Width: 150, Height: 140}
	d := &Describer{Side: 32, Grid: 4}
	dst := make([]float32, d.Width())
	for b.Loop() {
		if err := d.Describe(dst, m, box); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCells(b *testing.B) {
	m := patterned(500, 375)
	f := make([]float32, 32*32*CellFeatures)
	for b.Loop() {
		if err := m.Cells(f, 32, 32); err != nil {
			b.Fatal(err)
		}
	}
}
