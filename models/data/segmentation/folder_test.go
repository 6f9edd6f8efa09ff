package segmentation

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

// put writes files into a folder and its sub-folders.
func put(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func maskFile(t *testing.T, width, height int, label uint8) []byte {
	t.Helper()
	m := masks.New(width, height)
	for i := range m.Labels {
		m.Labels[i] = label
	}
	var b bytes.Buffer
	if err := m.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// good is a folder of two images with masks, and files that do not count.
func good(t *testing.T) map[string][]byte {
	var photo, drawing bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 20, 10)), nil); err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(&drawing, image.NewRGBA(image.Rect(0, 0, 9, 9))); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"images/b.JPG": photo.Bytes(), "images/a.png": drawing.Bytes(), "images/.hidden.png": nil,
		"images/notes.txt": nil, "images/old/c.png": nil, "masks/b.png": maskFile(t, 20, 10, 0),
		"masks/a.png": maskFile(t, 9, 9, 2), "masks/labels.txt": nil,
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, good(t))
	for _, masksIn := range []string{"", filepath.Join(dir, "masks")} {
		f, err := OpenFolder(filepath.Join(dir, "images"), masksIn, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f.Len() != 2 || f.Masks() != (masksIn != "") {
			t.Fatalf("%d images, masks: %v", f.Len(), f.Masks())
		}
		d, err := Reader{Division: DefaultDivision()}.Read(context.Background(), f)
		if err != nil || !slices.Equal(d.IDs, []string{"a", "b"}) || !slices.Equal(d.Offsets, []int{0, 1, 4}) {
			t.Fatalf("%v: %+v", err, d)
		}
		if f.Masks() && (!slices.Equal(d.Labels, []int32{2, 0, 0, 0}) || d.Alphabet.Len() != 3) {
			t.Errorf("labels %v of %v", d.Labels, d.Alphabet.Names())
		}
	}
}

// One image does without a folder, and images that cannot be read are left out where that is asked for.
func TestSomeImages(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, good(t))
	put(t, dir, map[string][]byte{"images/c.png": []byte("photo")})
	f, err := OpenFolder(filepath.Join(dir, "images", "a.png"), "", nil)
	if err != nil || f.Len() != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	if e, err := f.Load(0); err != nil || e.ID != "a" || e.Image.Width != 9 {
		t.Errorf("%+v, %v", e, err)
	}
	// which has those of other images, too
	f, err = OpenFolder(filepath.Join(dir, "images", "a.png"), filepath.Join(dir, "masks"), nil)
	if err != nil || f.Len() != 1 || !f.Masks() {
		t.Fatalf("%+v, %v", f, err)
	}
	if e, err := f.Load(0); err != nil || e.ID != "a" || e.Mask == nil {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := OpenFolder(filepath.Join(dir, "masks", "a.png"), filepath.Join(dir, "masks"),
		nil); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "both images and masks") {
		t.Error(err)
	}
	put(t, dir, map[string][]byte{"masks/c.png": maskFile(t, 9, 5, 0), "images/d.png": []byte("no mask")})
	say := remarks.New(true)
	f, err = OpenFolder(filepath.Join(dir, "images"), filepath.Join(dir, "masks"), say)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Reader{Division: DefaultDivision(), All: true, Remarks: say}.Read(context.Background(), f)
	if left := say.Reasons(); err != nil || !slices.Equal(d.IDs, []string{"a", "b"}) || len(left) != 2 ||
		!strings.Contains(left[0], filepath.Join("images", "d.png")+": no mask") ||
		!strings.Contains(left[1], filepath.Join("images", "c.png")+": image: unknown format") {
		t.Errorf("%+v, %v, %q", d, err, left)
	}
	if e, err := Of(d).Load(1); err != nil || e.ID != "b" {
		t.Errorf("the second example is %+v, %v", e, err)
	}
	f, err = OpenFolder(filepath.Join(dir, "images", "c.png"), "", say)
	if err == nil {
		_, err = Reader{Division: DefaultDivision(), Remarks: say}.Read(context.Background(), f)
	}
	if !structured.IsBadInput(err) || !strings.Contains(err.Error(), "no image can be read") {
		t.Error(err)
	}
}

func TestBadFolders(t *testing.T) {
	for name, c := range map[string]struct {
		change func(files map[string][]byte)
		want   string
	}{
		"no mask": {func(f map[string][]byte) { delete(f, "masks/b.png") },
			"images/b.JPG: no mask, expected DIR/masks/b.png"},
		"no image": {func(f map[string][]byte) { delete(f, "images/a.png") }, "masks/a.png: no image of that name in " +
			"DIR/images, expected one ending in .png, .jpg, .jpeg"},
		"twice": {func(f map[string][]byte) { f["images/b.png"] = nil }, "images: has both b.JPG and b.png, " +
			"expected one file per name"},
		"size": {func(f map[string][]byte) { f["masks/b.png"] = maskFile(t, 10, 20, 1) },
			"masks/b.png: 10 × 20 pixels, expected 20 × 10 as DIR/images/b.JPG has"},
		"image": {func(f map[string][]byte) { f["images/b.JPG"] = []byte("photo") }, "images/b.JPG: image: unknown format, " +
			"expected a PNG or JPEG image"},
		"mask": {func(f map[string][]byte) { f["masks/a.png"] = []byte("photo") },
			"masks/a.png: unexpected EOF, expected a mask"},
		"empty": {func(f map[string][]byte) { delete(f, "masks/a.png"); delete(f, "masks/b.png") },
			"masks: no masks, expected files ending in .png"},
		"no folder": {func(f map[string][]byte) {
			for name := range f {
				if strings.HasPrefix(name, "images") {
					delete(f, name)
				}
			}
		}, "images: no such file or folder, expected a folder of images"},
	} {
		dir, files := t.TempDir(), good(t)
		c.change(files)
		put(t, dir, files)
		f, err := OpenFolder(filepath.Join(dir, "images"), filepath.Join(dir, "masks"), nil)
		if err == nil {
			_, err = Reader{Division: DefaultDivision()}.Read(context.Background(), f)
		}
		want := strings.ReplaceAll(c.want, "DIR", dir)
		if !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), filepath.Join(dir, strings.SplitN(want, ":", 2)[0])+":"+
				strings.SplitN(want, ":", 2)[1]) {
			t.Errorf("%s: %v, expected %s", name, err, want)
		}
	}
	if _, err := OpenFolder("x", "x/", nil); !structured.IsBadInput(err) {
		t.Error(err)
	}
	dir := t.TempDir()
	put(t, dir, good(t))
	if _, err := OpenFolder(dir+"/images", dir+"/images/", nil); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "both images and masks") {
		t.Error(err)
	}
}
