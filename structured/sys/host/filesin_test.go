package host

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Files are found in folders whose names would be patterns, in order, without hidden ones and folders.
func TestFilesIn(t *testing.T) {
	for _, name := range []string{"plain", "a[1]", "[b", "c*", "d?"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(filepath.Join(dir, "folder.png"), 0o777); err != nil {
			t.Skip(err) // names that the system does not have
		}
		for _, file := range []string{"z.png", "a.PNG", "b.jpg", ".hidden.png", "[x].png"} {
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{filepath.Join(dir, "[x].png"), filepath.Join(dir, "a.PNG"), filepath.Join(dir, "z.png")}
		if got, err := FilesIn(dir, "*.[pP][nN][gG]"); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := FilesIn(filepath.Join(t.TempDir(), "none"), "*"); err == nil {
		t.Error("a folder that is not there has files")
	}
}
