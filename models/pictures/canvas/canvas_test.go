package canvas_test

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/models/pictures/canvas"
	"github.com/dsp-go/dsp/structured"
)

func TestEveryKindIsWritten(t *testing.T) {
	for name, start := range map[string]string{"a.png": "\x89PNG", "a.svg": "<?xml", "a.PDF": "%PDF"} {
		path := filepath.Join(t.TempDir(), name)
		painted := false
		if err := (canvas.Sheet{Width: vg.Inch, Height: vg.Inch / 2, DPI: 192}).File(path,
			func(draw.Canvas) { painted = true }); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(content, []byte(start)) || !painted {
			t.Errorf("%s starts with %.10q, %v", name, content, err)
		}
		if name == "a.png" {
			if c, err := png.DecodeConfig(bytes.NewReader(content)); err != nil || c.Width != 192 || c.Height != 96 {
				t.Errorf("%d×%d pixels, %v", c.Width, c.Height, err)
			}
		}
	}
}

func TestOtherKindsAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.gif")
	if err := (canvas.Sheet{Width: vg.Inch, Height: vg.Inch, DPI: 96}).File(path,
		func(draw.Canvas) {}); !structured.IsBadInput(err) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the file was written")
	}
}
