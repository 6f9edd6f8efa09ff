package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A source file that a comment or a page names by its path from the root is there.
func TestFilesThatCommentsName(t *testing.T) {
	rooms := []string{"cuda", "nets", "oracles", "train", "models", "structured", "cmd"}
	sources := []string{".go", ".cu", ".cuh"}
	outside := func(r rune) bool { // of a path
		return !(r == '/' || r == '.' || r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
	}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !slices.Contains(append(sources, ".md"), filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		for _, named := range strings.FieldsFunc(string(text), outside) {
			named = strings.TrimRight(named, ".") // of a sentence
			room, rest, _ := strings.Cut(named, "/")
			if rest == "" || !slices.Contains(rooms, room) || !slices.Contains(sources, filepath.Ext(rest)) ||
				strings.HasSuffix(named, "/NAME.go") {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", named)); err != nil {
				t.Errorf("%s names %s, which is not there", path, named)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
