package packs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// A pack with attributes of whole segments says how long these are at most: its rows depend on it. One without says
// nothing of lengths.
func TestPackSaysTheLongestSegment(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := file("x.conll", strings.Repeat("the O\nred B-X\nold I-X\nfox I-X\nruns O\n\n", 5))
	for template, want := range map[string]bool{"U%x[0,0]\nS%x[all,0]\n": true, "U%x[0,0]\n": false} {
		c := config.Default()
		c.Train, c.Structure, c.Template = text, "segments", file("t", template)
		r, err := models.Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		data, err := r.Data()
		if err != nil {
			t.Fatal(err)
		}
		given := r.Config()
		path := filepath.Join(dir, "pack")
		if _, err := data.Pack(path, &given); err != nil {
			t.Fatal(err)
		}
		f, err := safetensors.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if says := strings.Contains(f.Metadata[tasks.PackedConfig], `"max-length":3`); says != want {
			t.Errorf("%q: %s", template, f.Metadata[tasks.PackedConfig])
		}
	}
}
