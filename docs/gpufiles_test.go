package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table of kernels names sources of cuda/devicecode that are there, and leaves no kernel out.
func TestKernelsOfThePageAreThere(t *testing.T) {
	bytes, err := os.ReadFile("design/gpu.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(bytes)
	sources := map[string]bool{}
	err = filepath.WalkDir("../cuda/devicecode", func(path string, e fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".cu" {
			sources[filepath.Base(path)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("`([a-z/]+\\w*\\.cu)`").FindAllStringSubmatch(page, -1) {
		if !sources[m[1]] {
			t.Errorf("docs/design/gpu.md names %s, which is not in cuda/devicecode", m[1])
		}
	}
	for source := range sources {
		if !strings.Contains(page, "`"+source+"`") {
			t.Errorf("docs/design/gpu.md does not name %s", source)
		}
	}
}
