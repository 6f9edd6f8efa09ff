package annotations

import (
	"bytes"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

func TestFolder(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 7, 5))); err != nil {
		t.Fatal(err)
	}
	dir := write(t, map[string]string{"10.png": b.String(), "9.PNG": b.String(), "notes.txt": "", "more/1.png": ""})
	s, err := ReadFolder(dir, nil)
	if err != nil || len(s.Images) != 2 || s.Images[0].ID != 9 || s.Images[1].Path != filepath.Join(dir, "10.png") ||
		s.Images[1].Width != 7 || s.Images[1].Height != 5 {
		t.Errorf("%v: %+v", err, s)
	}
	for want, dir := range map[string]string{
		"no images": t.TempDir(), "no such file": filepath.Join(dir, "none"),
		"1.png: ": write(t, map[string]string{"1.png": "text"}),
	} {
		if _, err := ReadFolder(dir, nil); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %s", err, want)
		}
	}
	if s, err := ReadFolder(filepath.Join(dir, "10.png"), nil); err != nil || len(s.Images) != 1 ||
		s.Images[0].Path != filepath.Join(dir, "10.png") {
		t.Errorf("one image: %+v, %v", s, err)
	}
	say := remarks.New(true)
	broken := write(t, map[string]string{"1.png": "text", "2.png": b.String()})
	if s, err := ReadFolder(broken, say); err != nil || len(s.Images) != 1 ||
		s.Images[0].ID != 2 || len(say.Reasons()) != 1 {
		t.Errorf("a broken image: %+v, %v, %q left out", s, err, say.Reasons())
	}
}
