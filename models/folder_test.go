package models

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/formats"
	"github.com/dsp-go/dsp/structured"
)

// A format may be one of folders: it is recognised, and read by its path, without anything being opened.
func TestFormatOfFolders(t *testing.T) {
	all := formats.All
	defer func() { formats.All = all }()
	formats.All = append(all[:len(all):len(all)], formats.Format{
		Name:     "folder",
		IsFolder: func(path string) bool { _, err := os.Stat(filepath.Join(path, "labels")); return err == nil },
		ReadFolder: func(path string, o formats.Options) (*structured.Dataset, error) {
			content, err := os.ReadFile(filepath.Join(path, "labels"))
			d := &structured.Dataset{Name: path, Offsets: []int{0, len(content)}, Dim: 1, Alphabet: structured.NewAlphabet("a", "b")}
			for _, b := range content {
				d.Labels, d.Features = append(d.Labels, int32(b-'a')), append(d.Features, float32(b))
			}
			return d, err
		},
	})
	path := filepath.Dir(file(t, "labels", "abba"))
	if format, err := formats.Detect(path); format != "folder" || err != nil {
		t.Fatalf("%q, %v", format, err)
	}
	if format, err := formats.Detect(t.TempDir()); format != "" || !structured.IsBadInput(err) {
		t.Fatalf("an empty folder: %q, %v", format, err)
	}
	c := config.Default()
	c.Task, c.Train, c.Format = "tag", path, "folder"
	d, err := ReadFiles(&c)
	if err != nil || d.Train.Positions() != 4 || d.Train.Labels[1] != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
}
