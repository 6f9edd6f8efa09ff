package images

import (
	"math"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured/boxes"
)

// patterned is an image whose pixels a formula gives.
func patterned(width, height int) *Image {
	m := &Image{Width: width, Height: height}
	for y := range height {
		for x := range width {
			m.Pixels = append(m.Pixels, uint8(x*37+y*11), uint8(x*x*5+y*53), uint8(x*y*7+3*x))
		}
	}
	return m
}

// Pillow 13 computed the expected pixels: image.crop(box).resize(size, BILINEAR).
func TestCropEqualsPillow(t *testing.T) {
	m := patterned(23, 17)
	var c Cropper
	for _, test := range []struct {
		box           boxes.Box
		height, width int
		want          []uint8
	}{
		{
			boxes.Box{X: 0, Y: 0, Width: 23, Height: 17}, 5, 7,
			[]uint8{71, 95, 20, 161, 135, 61, 94, 139, 101, 154, 134, 110, 96, 110, 127, 150, 116, 113, 110,
				114, 137, 104, 113, 51, 160, 126, 130, 100, 138, 130, 162, 137, 127, 94, 120, 131, 157, 122, 130,
				87, 123, 135, 140, 136, 82, 129, 137, 126, 118, 126, 121, 145, 116, 126, 110, 125, 135, 152, 134,
				133, 91, 121, 129, 167, 123, 92, 102, 134, 124, 148, 127, 129, 105, 122, 114, 140, 129, 121, 122,
				125, 126, 119, 129, 138, 172, 122, 103, 98, 116, 132, 165, 122, 131, 94, 125, 125, 156, 136, 133, 94,
				129, 116, 151, 143, 139}},
		{
			boxes.Box{X: 3, Y: 2, Width: 11, Height: 13}, 4, 4,
			[]uint8{181, 126, 112, 111, 131, 148, 128, 147, 141, 165, 143, 124, 172, 139, 146, 85, 140, 110,
				158, 126, 120, 135, 122, 134, 121, 126, 120, 98, 128, 135, 171, 114, 119, 84, 125, 120, 91, 118,
				115, 128, 137, 131, 145, 124, 125, 75, 131, 111}},
		{
			boxes.Box{X: 5, Y: 5, Width: 4, Height: 3}, 6, 5,
			[]uint8{240, 134, 190, 87, 173, 217, 40, 222, 119, 69, 200, 21, 95, 73, 48, 243, 147, 199, 90, 186,
				182, 43, 203, 99, 72, 168, 34, 98, 86, 62, 248, 174, 216, 95, 213, 112, 48, 166, 58, 77, 105, 59,
				103, 113, 90, 190, 200, 170, 82, 194, 68, 54, 128, 48, 83, 86, 85, 109, 139, 118, 67, 227, 59, 49,
				131, 49, 59, 91, 71, 88, 113, 111, 114, 166, 146, 6, 240, 4, 32, 99, 40, 62, 72, 82, 91, 126, 124, 117, 179, 160}},
		{
			boxes.Box{X: 10, Y: 0, Width: 2, Height: 17}, 3, 4,
			[]uint8{145, 142, 129, 154, 145, 124, 173, 150, 113, 182, 153, 107, 197, 127, 112, 190, 123, 117,
				177, 115, 127, 170, 111, 132, 94, 112, 139, 83, 112, 135, 60, 113, 126, 49, 113, 122}},
	} {
		got := make([]float32, 3*test.height*test.width)
		c.Crop(got, m, test.box, test.height, test.width)
		for i, v := range got {
			if math.Abs(255*float64(v)-float64(test.want[i])) > 1.01 { // Pillow rounds to whole numbers twice
				t.Errorf("%v: value %d is %v, expected %d", test.box, i, 255*v, test.want[i])
			}
		}
	}
}

// A crop of a linear ramp is the ramp itself, away from the crop's rim.
func TestCropOfRamp(t *testing.T) {
	m := &Image{Width: 60, Height: 50}
	for y := range m.Height {
		for x := range m.Width {
			m.Pixels = append(m.Pixels, uint8(4*x), uint8(5*y), 77)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		between := func(name string, from, to float64) float64 { return rapid.Float64Range(from, to).Draw(t, name) }
		b := boxes.Box{X: between("x", 0, 39), Y: between("y", 0, 39), Width: between("width", 0.2, 20),
			Height: between("height", 0.2, 10)}
		height, width := rapid.IntRange(1, 12).Draw(t, "rows"), rapid.IntRange(1, 12).Draw(t, "columns")
		got := make([]float32, 3*height*width)
		new(Cropper).Crop(got, m, b, height, width)
		for y := range height {
			for x := range width {
				p := got[3*(y*width+x):]
				if math.Abs(float64(p[2])-77./255) > 1e-5 {
					t.Fatalf("a constant became %v", p[2])
				}
				stepX, stepY := b.Width/float64(width), b.Height/float64(height)
				px, py := b.X+(float64(x)+0.5)*stepX, b.Y+(float64(y)+0.5)*stepY
				check := func(name string, got float32, at, step, start, size, slope float64) {
					slack := 1e-3
					if reach := max(1, step); at-reach < math.Floor(start) || at+reach > math.Ceil(start+size) {
						slack = slope * reach // pixels outside do not count
					} else if step > 1 {
						slack = slope / 2 // the filter's samples are not symmetric about every centre
					}
					if math.Abs(255*float64(got)-slope*(at-0.5)) > slack {
						t.Fatalf("%s is %v at %v, expected %v up to %v", name, 255*got, at, slope*(at-0.5), slack)
					}
				}
				check("red", p[0], px, stepX, b.X, b.Width, 4)
				check("green", p[1], py, stepY, b.Y, b.Height, 5)
			}
		}
	})
}

func BenchmarkCrop(b *testing.B) {
	m, windows := patterned(500, 375), boxes.DefaultWindows().Boxes(500, 375)
	var c Cropper
	dst := make([]float32, 3*32*32)
	for b.Loop() {
		for _, box := range windows {
			c.Crop(dst, m, box, 32, 32)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(windows)), "µs/crop")
}

// Scratch memory grows with the sides of an image, and not with the product of one of them and the width of the crop: a
// thin image of a few kilobytes would fill the memory.
func TestCropsOfThinImages(t *testing.T) {
	for _, m := range []*Image{{Width: 1, Height: 1 << 16}, {Width: 1 << 16, Height: 1}} {
		m.Pixels = make([]uint8, 3*m.Width*m.Height)
		m.Pixels[len(m.Pixels)-1] = 255
		dst := make([]float32, 3*200*200)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var c Cropper
		c.Crop(dst, m, boxes.Box{Width: float64(m.Width), Height: float64(m.Height)}, 200, 200)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 8<<20 {
			t.Errorf("%d × %d pixels: %d bytes", m.Width, m.Height, taken)
		}
		if blue := dst[len(dst)-1]; blue <= 0 || blue > 1 {
			t.Errorf("%d × %d pixels: the last pixel is %v", m.Width, m.Height, blue)
		}
	}
}
