// Package picturetest checks pictures.
package picturetest

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
)

// images are those inside of a picture, whose compression may differ.
var images = regexp.MustCompile(`data:image/png;base64,[^"]*`)

// Kept checks that a picture is the one in testdata, which was looked at: all that it shows has its place. A change of
// the layout that is wanted writes it anew: the test fails and names the new file.
func Kept(t *testing.T, name string, write func(path string) error) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("processors with fused products round otherwise")
	}
	want, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := write(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got = images.ReplaceAll(got, nil); string(got) != string(want) {
		kept := filepath.Join(t.ArtifactDir(), name)
		t.Errorf("testdata/%s is another picture than %s (%v): look at both", name, kept, os.WriteFile(kept, got, 0o666))
	}
}
