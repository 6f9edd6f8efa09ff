package localisation

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// A folder of images without annotations is data to predict for, and none to train on.
func TestFolderOfImages(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "a.png"))
	if err != nil {
		t.Fatal(err)
	}
	m := scenes(t, Options{Crop: 8, Candidates: 60})
	pixels, err := Of(m).Images[0].Load()
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, pixels); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	o := Options{Crop: 8, Candidates: 60, Unlabeled: true, Class: "x"}
	if d, err := o.Folder(dir); err != nil || d.Len() != 1 || d.Length(0) < 1 {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := o.Folder(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there is read")
	}
	o.Unlabeled = false
	if _, err := o.Folder(dir); !structured.IsBadInput(err) ||
		!strings.HasPrefix(err.Error(), dir+": images without boxes") {
		t.Error(err)
	}
}
