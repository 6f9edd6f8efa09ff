package tasks

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/masks"
)

// maskedImages writes a folder of images and one of their masks; mask k has these values and no others.
func maskedImages(t *testing.T, values ...[]uint8) (images, of string) {
	t.Helper()
	images, of = t.TempDir(), t.TempDir()
	for k, some := range values {
		mask := image.NewGray(image.Rect(0, 0, len(some), 1))
		copy(mask.Pix, some)
		for dir, picture := range map[string]image.Image{images: image.NewGray(mask.Rect), of: mask} {
			var file bytes.Buffer
			if err := png.Encode(&file, picture); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, string(rune('a'+k))+".png"), file.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return images, of
}

// What the values in masks mean is said by the settings, or by the values: two are those of a background and an
// object if the larger is 255, which is void beside others; without 255 the settings stay open.
func TestLookAtMasks(t *testing.T) {
	const auto, none = masks.Auto, masks.None
	for _, c := range []struct {
		values                     [][]uint8
		void, labels               string // settings
		decidedVoid, decidedLabels string
	}{
		{[][]uint8{{0, 255}, {255, 0}}, auto, auto, none, "0,255"},
		{[][]uint8{{0, 1}, {1, 255}}, auto, auto, "255", auto},
		{[][]uint8{{0, 1}, {1, 2}}, auto, auto, auto, auto},
		{[][]uint8{{0, 255}, {255, 0}}, "255", auto, "255", auto},
		{[][]uint8{{9, 7}, {7, 3}}, "7", auto, "7", "3,9"},
		{[][]uint8{{9, 7}, {7, 3}}, none, auto, none, "3,7,9"},
		{[][]uint8{{0, 255}, {255, 0}}, auto, "255,0", none, "255,0"},
		{[][]uint8{{0, 1}, {1, 2}}, auto, "2,1,0", "255", "2,1,0"},
		{[][]uint8{{0, 1}, {1, 2}}, "1", "2,0", "1", "2,0"},
	} {
		o := config.Default()
		o.Format, o.Void, o.MaskValues = formats.Images, c.void, c.labels
		o.Train, o.Masks = maskedImages(t, c.values...)
		if err := lookAtMasks(&o); err != nil || o.Void != c.decidedVoid || o.MaskValues != c.decidedLabels {
			t.Errorf("%v, --void %s --mask-values %s: %s and %s, %v; expected %s and %s",
				c.values, c.void, c.labels, o.Void, o.MaskValues, err, c.decidedVoid, c.decidedLabels)
		}
	}
}
