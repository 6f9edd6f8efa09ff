package images

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// drawnCrops are crops at random places of random images, with these images and centres.
func drawnCrops(rng *rand.Rand, side, width int) (c *Crops, of []*Image, centres [][2]float64) {
	c = &Crops{Side: side, Width: width}
	for range 3 {
		m := patterned(1+rng.IntN(12), 1+rng.IntN(12))
		var here [][2]float64
		var beside []float32
		for range rng.IntN(5) {
			here = append(here, [2]float64{float64(rng.IntN(2*m.Width)) / 2, float64(rng.IntN(2*m.Height)) / 2})
			of = append(of, m)
		}
		for range len(here) * width {
			beside = append(beside, rng.Float32())
		}
		c.Add(m, here, beside)
		centres = append(centres, here...)
	}
	return c, of, centres
}

// A crop has the pixels around its centre, and beyond the image those at its rim.
func TestCrops(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		side, width := 1+rng.IntN(9), rng.IntN(3)
		c, of, centres := drawnCrops(rng, side, width)
		n, dim := len(centres), c.Dim()
		all := make([]float32, n*dim)
		if err := c.Read(all, 0, n); err != nil || dim != side*side*3+width {
			t.Fatal(err, dim)
		}
		for p, m := range of {
			row := all[p*dim:][:dim]
			for k, v := range row[:dim-width] {
				// The middle of the pixel, relative to that of the square, is as far from the centre, up to half a
				// pixel.
				x, y := float64(k/3%side)-float64(side-1)/2+centres[p][0], float64(k/3/side)-float64(side-1)/2+centres[p][1]
				near := func(x, y int) float32 {
					return float32(m.Pixels[3*(min(max(y, 0), m.Height-1)*m.Width+min(max(x, 0), m.Width-1))+k%3])/64 - 2
				}
				if want := near(up(x), up(y)); v != want {
					t.Fatalf("side %d, centre %v: number %d is %v, expected %v", side, centres[p], k, v, want)
				}
			}
			if !slices.Equal(row[dim-width:], c.Beside[p*width:(p+1)*width]) {
				t.Fatal("other numbers beside the pixels")
			}
		}
		some := rng.Perm(n)[:n/2]
		s, some0 := c.Select(some), make([]float32, len(some)*dim)
		if err := s.Read(some0, 0, len(some)); err != nil {
			t.Fatal(err)
		}
		for k, p := range some {
			if !slices.Equal(some0[k*dim:(k+1)*dim], all[p*dim:(p+1)*dim]) {
				t.Fatal("selected positions have other inputs")
			}
		}
	}
}

// up rounds to the nearest whole number, halves up.
func up(x float64) int {
	n := int(x + 100.5)
	return n - 100
}

// The fingerprint tells pixels, places and other numbers apart.
func TestCropsFingerprint(t *testing.T) {
	draw := func() *Crops { c, _, _ := drawnCrops(rand.New(rand.NewPCG(4, 4)), 4, 1); return c }
	seen := map[string]bool{}
	for _, change := range []func(c *Crops){func(*Crops) {}, func(c *Crops) { c.Pixels[7]++ },
		func(c *Crops) { c.At[1]++ }, func(c *Crops) { c.Beside[0]++ }, func(c *Crops) { c.Side++ }} {
		c := draw()
		change(c)
		key, err := c.Fingerprint()
		if again, _ := c.Fingerprint(); err != nil || again != key || seen[key] {
			t.Errorf("fingerprint %s", key)
		}
		seen[key] = true
	}
}

// An image of one colour keeps it when it is resized, and one that keeps its size keeps its pixels.
func TestResized(t *testing.T) {
	m := &Image{Width: 5, Height: 3, Pixels: slices.Repeat([]uint8{9, 200, 31}, 15)}
	if r := m.Resized(12, 2); r.Width != 12 || r.Height != 2 ||
		!slices.Equal(r.Pixels, slices.Repeat([]uint8{9, 200, 31}, 24)) {
		t.Errorf("got %+v", r)
	}
	if p := patterned(4, 6); p.Resized(4, 6) != p {
		t.Error("a copy")
	}
}

func BenchmarkCrops(b *testing.B) {
	m, c := patterned(160, 120), &Crops{Side: 16}
	var centres [][2]float64
	for k := range 300 {
		centres = append(centres, [2]float64{float64(k%20*8) + 3.5, float64(k/20*8) + 3.5})
	}
	c.Add(m, centres, nil)
	dst := make([]float32, 300*c.Dim())
	for b.Loop() {
		_ = c.Read(dst, 0, 300) // it returns no error
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*300), "µs/crop")
}
