package linepicture

import (
	"bytes"
	"image"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// A picture has the strings, and the gold ones where these differ.
func TestWrite(t *testing.T) {
	path, gold, other := filepath.Join(t.TempDir(), "t.svg"), "right", "gold string"
	page := image.NewGray(image.Rect(0, 0, 90, 16))
	s := Sheet{Title: "A & B", Lines: []Line{
		{Image: page, Predicted: gold, Note: "97 %", Gold: &gold}, {Image: page, Predicted: "other", Gold: &other},
		{Image: page, Predicted: "blind"},
	}}
	if err := s.Write(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for word, times := range map[string]int{">right<": 1, ">97 %<": 1, ">other<": 1, ">gold string<": 1, ">blind<": 1,
		"<image": 3, "A &amp; B": 1} {
		if got := bytes.Count(text, []byte(word)); got != times {
			t.Errorf("%s is there %d times, want %d", word, got, times)
		}
	}
	for _, bad := range []struct {
		sheet Sheet
		path  string
	}{{Sheet{}, path}, {s, filepath.Join(t.TempDir(), "t.gif")}} {
		if err := bad.sheet.Write(bad.path); !structured.IsBadInput(err) {
			t.Errorf("got %v", err)
		}
	}
}
