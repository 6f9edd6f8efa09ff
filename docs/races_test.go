package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// make race runs the tests of every package that starts goroutines, itself or through package host. Those of ./cuda
// need a device, and those of ./bench are programs that measure.
func TestRaceDetectorSeesGoroutines(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var covered []string
	for _, list := range regexp.MustCompile(`(?m)^(?:PARALLEL|RESTS) *=((?:.*\\\n)*.*)$`).FindAllSubmatch(makefile, -1) {
		for _, pattern := range strings.Fields(strings.ReplaceAll(string(list[1]), "\\\n", " ")) {
			covered = append(covered, strings.TrimPrefix(pattern, "./"))
		}
	}
	covers := func(folder string) bool {
		for _, pattern := range covered {
			below, all := strings.CutSuffix(pattern, "/...")
			if folder == pattern || all && (folder == below || strings.HasPrefix(folder, below+"/")) {
				return true
			}
		}
		return false
	}
	helpers := map[string]string{ // of tests, and a package whose tests call them
		"oracles/oracletest": "oracles/monotone", "train/ranks/rankstest": "train/ranks",
	}
	starts := regexp.MustCompile(`(?m)^\s*go (func\b|[\w.]+\()|\.Go\(|\bhost\.(Await|InOrder|Parallel)\(`)
	err = filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		path = filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if err != nil || e.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, "cuda/") || strings.HasPrefix(path, "bench/") {
			return err
		}
		text, err := os.ReadFile(filepath.Join("..", path))
		folder := filepath.ToSlash(filepath.Dir(path))
		if by, ok := helpers[folder]; ok {
			folder = by
		}
		if found := starts.Find(text); found != nil && !covers(folder) {
			t.Errorf("%s has %q: make race runs no test of ./%s; add it to PARALLEL in the Makefile", path,
				strings.TrimSpace(string(found)), folder)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
