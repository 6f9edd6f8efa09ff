package images

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func encoded(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	m := patterned(13, 7)
	path := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(path, encoded(t, m), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSized(path, 13, 7)
	if err != nil || !slices.Equal(got.Pixels, m.Pixels) {
		t.Fatalf("%v: read another image than was written", err)
	}
	if h, err := ReadHeader(path); h != (Header{13, 7, Upright}) || err != nil {
		t.Errorf("%+v, %v", h, err)
	}
	if _, err := ReadSized(path, 7, 13); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "13 × 7 pixels, expected 7 × 13") {
		t.Errorf("another size: %v", err)
	}
	if _, err := Read(path + "x"); !structured.IsBadInput(err) {
		t.Errorf("no file: %v", err)
	}
}

func TestKindsOfImages(t *testing.T) {
	transparent := image.NewNRGBA(image.Rect(5, 5, 7, 6)) // bounds that do not begin at 0
	transparent.Set(5, 5, color.NRGBA{0, 0, 0, 0})
	transparent.Set(6, 5, color.NRGBA{200, 0, 0, 255})
	if m := Of(transparent); !slices.Equal(m.Pixels, []uint8{255, 255, 255, 200, 0, 0}) {
		t.Errorf("transparent image: %v", m.Pixels)
	}
	grey := image.NewGray(image.Rect(0, 0, 16, 16))
	for i := range grey.Pix {
		grey.Pix[i] = 90
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, grey, nil); err != nil {
		t.Fatal(err)
	}
	m, err := Decode(bytes.NewReader(b.Bytes()), "grey.jpg")
	if err != nil || m.Width != 16 || m.Pixels[100] < 88 || m.Pixels[100] > 92 {
		t.Errorf("grey JPEG: %v, %+v", err, m)
	}
}

// Of values of 16 bits the upper 8 are kept.
func TestSixteenBits(t *testing.T) {
	grey := image.NewGray16(image.Rect(0, 0, 2, 1))
	grey.SetGray16(1, 0, color.Gray16{Y: 0x80ff})
	coloured := image.NewNRGBA64(image.Rect(0, 0, 2, 1))
	coloured.SetNRGBA64(0, 0, color.NRGBA64{R: 0xffff, A: 0xffff})
	coloured.SetNRGBA64(1, 0, color.NRGBA64{R: 0x1234, G: 0x5678, B: 0x9abc, A: 0xffff})
	for _, c := range []struct {
		from image.Image
		want []uint8
	}{{grey, []uint8{0, 0, 0, 0x80, 0x80, 0x80}}, {coloured, []uint8{255, 0, 0, 0x12, 0x56, 0x9a}}} {
		m, err := Decode(bytes.NewReader(encoded(t, c.from)), "a.png")
		if err != nil || !slices.Equal(m.Pixels, c.want) {
			t.Errorf("%v, %v; expected %v", m, err, c.want)
		}
	}
}

func TestBadImages(t *testing.T) {
	good := encoded(t, patterned(40, 30))
	huge := slices.Clone(good) // a file that claims to have 60,000 × 60,000 pixels
	binary.BigEndian.PutUint32(huge[16:], 60000)
	binary.BigEndian.PutUint32(huge[20:], 60000)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"empty": {nil, "expected a PNG or JPEG image"}, "text": {[]byte("a photo"), "expected a PNG or JPEG image"},
		"cut": {good[:len(good)/2], "broken or cut off"}, "huge": {huge, "60000 × 60000 pixels, expected at most"},
	} {
		_, err := Decode(bytes.NewReader(test.content), "a.png")
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), "a.png: ") ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, expected an error about %q", name, err, test.want)
		}
	}
}
