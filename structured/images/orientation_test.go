package images_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/images/exiftest"
)

// letters has another colour at each of 3 × 2 places, each a square of that many pixels.
func letters(side int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, 3*side, 2*side))
	for y := range 2 * side {
		for x := range 3 * side {
			m.Set(x, y, color.RGBA{uint8(40 * (x/side + 3*(y/side))), 100, 90, 255})
		}
	}
	return m
}

// What files of all orientations store of "abc/def", written out.
func TestStored(t *testing.T) {
	for k, want := range strings.Fields("abc/def cba/fed fed/cba def/abc ad/be/cf cf/be/ad fc/eb/da da/eb/fc") {
		m := exiftest.Stored(letters(1), k+1)
		var rows []string
		for y := range m.Bounds().Dy() {
			row := ""
			for x := range m.Bounds().Dx() {
				r, _, _, _ := m.At(x, y).RGBA()
				row += string(rune('a' + (r>>8)/40))
			}
			rows = append(rows, row)
		}
		if got := strings.Join(rows, "/"); got != want {
			t.Errorf("orientation %d stores %s, expected %s", k+1, got, want)
		}
	}
}

// Files of all orientations, byte orders and kinds show the same image, in their sizes too.
func TestOrientations(t *testing.T) {
	want := images.Of(letters(8)).Pixels
	for o := 1; o <= exiftest.Orientations; o++ {
		for _, order := range exiftest.Orders {
			for kind, file := range map[string][]byte{
				"PNG": exiftest.PNG(letters(8), o, order, false), "PNG, behind": exiftest.PNG(letters(8), o, order, true),
				"JPEG": exiftest.JPEG(letters(8), o, order),
			} {
				m, err := images.Decode(bytes.NewReader(file), "a")
				if err != nil || m.Width != 24 || m.Height != 16 || int(max(m.Stored, 1)) != o {
					t.Fatalf("%s, orientation %d: %v, %d × %d", kind, o, err, m.Width, m.Height)
				}
				if h, err := images.HeaderOf(bytes.NewReader(file), "a"); err != nil || h != m.Header() {
					t.Errorf("%s, orientation %d: %v, %+v", kind, o, err, h)
				}
				near := func(k int) bool { d := int(m.Pixels[k]) - int(want[k]); return d*d <= 36 }
				for k := range want {
					if m.Pixels[k] != want[k] && (kind != "JPEG" || !near(k)) {
						t.Fatalf("%s, orientation %d: pixel %d, %d has %d, expected %d", kind, o, k/3%24, k/3/24, m.Pixels[k], want[k])
					}
				}
			}
		}
	}
}

// A box of one stored pixel becomes the box of the pixel that is seen, and back.
func TestTurnBox(t *testing.T) {
	for o := images.Orientation(1); o <= exiftest.Orientations; o++ {
		width, height := o.Size(3, 2)
		for at := range 6 {
			pixels := make([]uint8, 6)
			pixels[at] = 1
			seen := slices.Index(o.Turn(pixels, width, height, 1), 1)
			stored, want := boxes.Box{X: float64(at % width), Y: float64(at / width), Width: 1, Height: 1},
				boxes.Box{X: float64(seen % 3), Y: float64(seen / 3), Width: 1, Height: 1}
			if got := o.TurnBox(stored, width, height); got != want {
				t.Errorf("orientation %d: %v becomes %v, expected %v", o, stored, got, want)
			}
			if back := o.Inverse().TurnBox(want, 3, 2); back != stored {
				t.Errorf("orientation %d: %v goes back to %v, expected %v", o, want, back, stored)
			}
		}
		wide := boxes.Box{X: 0.5, Y: 0.25, Width: 1.5, Height: 1}
		if back := o.Inverse().TurnBox(o.TurnBox(wide, width, height), 3, 2); back != wide {
			t.Errorf("orientation %d: %v becomes %v on the way there and back", o, wide, back)
		}
	}
}

// EXIF that is broken, or says nothing of the orientation, fails no image.
func TestBrokenEXIF(t *testing.T) {
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, letters(8), nil); err != nil {
		t.Fatal(err)
	}
	whole := exiftest.EXIF(6, binary.BigEndian)
	changed := func(at int, to ...byte) []byte {
		exif := slices.Clone(whole)
		copy(exif[at:], to)
		return exif
	}
	cases := map[string][]byte{
		"no start": changed(0, 'X'), "far directory": changed(4, 0xff, 0xff, 0xff, 0xff),
		"directory at the end": changed(7, byte(len(whole)-1)), "more entries": changed(8, 0xff, 0xff)[:22],
		"value 0": changed(30, 0, 0), "value 9": changed(30, 0, 9), "another type": changed(24, 0, 2),
		"two values": changed(29, 2),
	}
	for n := range len(whole) - 6 { // the orientation itself is whole in longer ones
		cases["cut at "+string(rune('A'+n))] = whole[:n]
	}
	for name, exif := range cases {
		m, err := images.Decode(bytes.NewReader(exiftest.WithEXIF(plain.Bytes(), exif)), "a")
		if err != nil || m.Width != 24 || m.Stored.Turns() {
			t.Errorf("%s: %v, %+v", name, err, m.Header())
		}
	}
	for name, exif := range map[string][]byte{"a long": append(changed(24, 0, 4)[:30:30], 0, 0, 0, 6),
		"a byte": changed(24, 0, 1, 0, 0, 0, 1, 6)} {
		if m, err := images.Decode(bytes.NewReader(exiftest.WithEXIF(plain.Bytes(), exif)), "a"); err != nil ||
			m.Stored != 6 {
			t.Errorf("%s: %v, orientation %d", name, err, m.Stored)
		}
	}
}

func FuzzOrientation(f *testing.F) {
	for o := 1; o <= 3; o++ {
		f.Add(exiftest.JPEG(letters(1), o, binary.LittleEndian))
		f.Add(exiftest.PNG(letters(1), o, binary.BigEndian, o == 2))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if o := images.OrientationOf(bytes.NewReader(file)); o == 1 || o > 8 {
			t.Errorf("orientation %d", o)
		}
	})
}
