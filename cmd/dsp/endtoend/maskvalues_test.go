package endtoend

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/masks"
)

// storedMasks writes the masks of a folder anew, with label 0 in place of void pixels: make makes an image of the
// labels.
func storedMasks(t *testing.T, from string, make func(labels *masks.Mask) image.Image) string {
	t.Helper()
	to := t.TempDir()
	files, err := filepath.Glob(filepath.Join(from, "*.png"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, path := range files {
		m, err := masks.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range m.Labels {
			if l == masks.Void {
				m.Labels[i] = 0
			}
		}
		f, err := os.Create(filepath.Join(to, filepath.Base(path)))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(f, make(m)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// blackAndWhite returns the labels 0 and 1 as black and white in an image like to.
func blackAndWhite(to func(image.Rectangle) image.Image) func(*masks.Mask) image.Image {
	return func(m *masks.Mask) image.Image {
		out := to(image.Rect(0, 0, m.Width, m.Height))
		for i, l := range m.Labels {
			out.(interface{ Set(x, y int, c color.Color) }).Set(i%m.Width, i/m.Width, color.Gray{Y: 255 * l})
		}
		return out
	}
}

// Masks of two values, the larger of which is 255, are those of a background and an object, however their files store
// them: they train the same model as masks with the labels 0 and 1, and predicted masks have the values of the training
// data.
func TestMasksOfAnObject(t *testing.T) {
	t.Parallel()
	data := drawnTextures(t)
	in := func(part, kind string) string { return filepath.Join(data, part, kind) }
	train := func(masks string, more ...string) (string, outcome) {
		dir := filepath.Join(t.TempDir(), "run")
		return dir, dsp(t, with([]string{"train", "--task", "segment", "--train", in("train", "images"), "--masks", masks, "--passes", "3", "--out", dir}, more...)...)
	}
	evaluated := func(dir, masks string, more ...string) outcome {
		return dsp(t, with([]string{"eval", "--model", dir, "--data", in("test", "images"), "--masks", masks, "--json"}, more...)...)
	}
	accuracy := func(o outcome) any {
		var m map[string]any
		o.ok().json(&m)
		return m["pixel_accuracy"]
	}
	labels := func(part string) string { return storedMasks(t, in(part, "masks"), (*masks.Mask).Image) }
	trained, tested := labels("train"), labels("test")
	plain, _ := train(trained)
	want := accuracy(evaluated(plain, tested))
	grey := blackAndWhite(func(r image.Rectangle) image.Image { return image.NewGray(r) })
	greyTest := storedMasks(t, in("test", "masks"), grey)
	names := write(t, "names.txt", "background\nobject\n")
	for name, make := range map[string]func(*masks.Mask) image.Image{
		"8 bits":     grey,
		"16 bits":    blackAndWhite(func(r image.Rectangle) image.Image { return image.NewGray16(r) }),
		"colours":    blackAndWhite(func(r image.Rectangle) image.Image { return image.NewRGBA(r) }),
		"palette":    blackAndWhite(func(r image.Rectangle) image.Image { return image.NewPaletted(r, greys()) }),
		"not black":  func(m *masks.Mask) image.Image { return two(m, 7) },
		"of a white": func(m *masks.Mask) image.Image { return two(m, 254) },
	} {
		stored := storedMasks(t, in("train", "masks"), make)
		dir, o := train(stored, "--label-names", names)
		if o.ok(); !strings.Contains(o.stderr, "255 is the object, not void; --void 255 makes it void") {
			t.Errorf("%s: training does not say what 255 is:\n%s", name, o.stderr)
		}
		test := storedMasks(t, in("test", "masks"), make)
		if got := accuracy(evaluated(dir, test)); got != want {
			t.Errorf("%s: pixel accuracy %v, expected %v as with labels", name, got, want)
		}
		to := filepath.Join(t.TempDir(), "masks")
		dsp(t, "predict", "--model", dir, "--input", in("test", "images"), "--to", to).ok()
		if got := accuracy(evaluated(dir, to)); got != 1.0 {
			t.Errorf("%s: the masks that predict wrote have pixel accuracy %v", name, got)
		}
	}
	dir, _ := train(storedMasks(t, in("train", "masks"), grey))
	if o := dsp(t, "info", dir, "--json").ok(); !strings.Contains(o.stdout, `"mask_values":"0,255"`) && !strings.Contains(o.stdout, `"mask_values": "0,255"`) {
		t.Errorf("the model does not keep the values: %s", o.stdout)
	}
	if got := accuracy(evaluated(dir, greyTest)); got != want {
		t.Errorf("without names: pixel accuracy %v, expected %v", got, want)
	}
	evaluated(dir, tested).refused(exitBadInput, "has the value 1, expected 0, 255 (--mask-values)")
	if got := accuracy(evaluated(dir, tested, "--mask-values", "0,1")); got != want {
		t.Errorf("masks of other values than in training: pixel accuracy %v, expected %v", got, want)
	}
	if o := evaluated(plain, greyTest); accuracy(o) != want || !strings.Contains(o.stderr, "255 is the object, not void") {
		t.Errorf("a model of the labels 0 and 1 and masks of 0 and 255: %s%s", o.stdout, o.stderr)
	}
}

// A server reads masks of an object as predict does, however their files store them, and labels as those of the
// training data.
func TestServedMasksOfAnObject(t *testing.T) {
	t.Parallel()
	data := drawnTextures(t)
	in := func(part, kind string) string { return filepath.Join(data, part, kind) }
	grey := blackAndWhite(func(r image.Rectangle) image.Image { return image.NewGray(r) })
	dir := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--task", "segment", "--train", in("train", "images"), "--masks", storedMasks(t, in("train", "masks"), grey), "--passes", "2", "--quiet", "--out", dir).ok()
	picture, err := os.ReadFile(filepath.Join(in("test", "images"), "00001.png"))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--model", dir)
	asked := func(mask func(*masks.Mask) image.Image) (code int, answer string) {
		file, err := os.ReadFile(filepath.Join(storedMasks(t, in("test", "masks"), mask), "00001.png"))
		if err != nil {
			t.Fatal(err)
		}
		return s.post("predict?force&truncate", asJSON(t, map[string]any{"id": "00001", "image": picture, "mask": file}))
	}
	want := dsp(t, "predict", "--model", dir, "--input", in("test", "images"), "--masks", storedMasks(t, in("test", "masks"), grey), "--force", "--truncate", "--json").ok().stdout
	want, _, _ = strings.Cut(want, "\n")
	for name, mask := range map[string]func(*masks.Mask) image.Image{
		"8 bits":     grey,
		"16 bits":    blackAndWhite(func(r image.Rectangle) image.Image { return image.NewGray16(r) }),
		"colours":    blackAndWhite(func(r image.Rectangle) image.Image { return image.NewRGBA(r) }),
		"with alpha": blackAndWhite(func(r image.Rectangle) image.Image { return image.NewNRGBA64(r) }),
		"palette":    blackAndWhite(func(r image.Rectangle) image.Image { return image.NewPaletted(r, greys()) }),
		"transparent": func(m *masks.Mask) image.Image { // an index is a label whatever its colour
			out := blackAndWhite(func(r image.Rectangle) image.Image { return image.NewPaletted(r, greys()) })(m).(*image.Paletted)
			out.Palette[0] = color.NRGBA{A: 128}
			return out
		},
	} {
		if code, got := asked(mask); code != 200 || strings.TrimSpace(got) != want {
			t.Errorf("%s: %d %.300s, expected %.300s", name, code, got, want)
		}
	}
	if code, got := asked((*masks.Mask).Image); code != 400 || !strings.Contains(got, "has the value 1, expected 0, 255 (--mask-values)") {
		t.Errorf("labels in place of values: %d %.300s", code, got)
	}
}

// What the user says of void and values holds, and masks of one label say what they have.
func TestVoidOfMasks(t *testing.T) {
	t.Parallel()
	data := drawnTextures(t)
	in := func(part, kind string) string { return filepath.Join(data, part, kind) }
	train := func(masks string, more ...string) outcome {
		dir := filepath.Join(t.TempDir(), "run")
		return dsp(t, with([]string{"train", "--task", "segment", "--train", in("train", "images"), "--masks", masks, "--passes", "2", "--quiet", "--out", dir, "--json"}, more...)...)
	}
	object := storedMasks(t, in("train", "masks"), func(m *masks.Mask) image.Image { return two(m, 0) })
	train(object, "--void", "255").refused(exitBadInput, object, "all pixels have the label 0 or are void (--void 255)", "--mask-values")
	train(object, "--void", "0").refused(exitBadInput, object, "all pixels have the label 255 or are void (--void 0)")
	three := storedMasks(t, in("train", "masks"), func(m *masks.Mask) image.Image {
		out := two(m, 0)
		for i := range out.Pix { // 0 and 255, and a stripe of 128
			if i%out.Stride < 9 {
				out.Pix[i] = 128
			}
		}
		return out
	})
	train(three, "--void", "128").ok()
	train(three, "--mask-values", "0,255").refused(exitBadInput, "has the value 128, expected 0, 255 (--mask-values), none of them void (--void)")
	train(three, "--mask-values", "0,255", "--void", "128").ok()
	train(three, "--mask-values", "128,0,255").ok()
	train(three, "--void", "none").ok()
	train(object, "--void", "x").refused(exitBadInput, "--void x: expected auto, none or a value from 0 to 255")
	train(object, "--mask-values", "0,0").refused(exitBadInput, "--mask-values 0,0: 0 is there twice")
	train(object, "--mask-values", "0,255", "--void", "255").refused(exitBadInput, "--mask-values 0,255 has 255, which --void says is void")
	train(three, "--void", "none", "--label-names", write(t, "two.txt", "a\nb\n")).refused(exitBadInput, "masks have 3 values beside void (--void none): 0, 128, 255; expected 2")
}

// two returns the labels 0 and 1 as a grey value and 255.
func two(m *masks.Mask, background uint8) *image.Gray {
	out := image.NewGray(image.Rect(0, 0, m.Width, m.Height))
	for i, l := range m.Labels {
		if out.Pix[i] = background; l == 1 {
			out.Pix[i] = 255
		}
	}
	return out
}

// greys is a palette whose colours are the values of the indices.
func greys() color.Palette {
	p := make(color.Palette, 256)
	for l := range p {
		p[l] = color.Gray{Y: uint8(l)}
	}
	return p
}
