package docs

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/dsp-go/dsp/"

// layers reads the layers that architecture.md lists, the lowest first: layer by folder.
func layers(t *testing.T) map[string]int {
	text, err := os.ReadFile("design/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "```layers\n")
	block, _, closed := strings.Cut(after, "```")
	if !found || !closed {
		t.Fatal("architecture.md lists no layers")
	}
	of := map[string]int{}
	for k, line := range strings.Split(strings.TrimSpace(block), "\n") {
		for _, folder := range strings.Fields(line) {
			of[folder] = k
			if _, err := os.Stat(filepath.Join("..", folder)); err != nil {
				t.Errorf("architecture.md lists %s: %v", folder, err)
			}
		}
	}
	return of
}

// layerOf returns the layer of the longest listed folder that holds a folder.
func layerOf(folder string, of map[string]int) (layer int, ok bool) {
	for ; folder != "."; folder = path.Dir(folder) {
		if layer, ok = of[folder]; ok {
			return layer, true
		}
	}
	return 0, false
}

// Packages import those of their own layer and of lower ones.
func TestNothingImportsUpward(t *testing.T) {
	of := layers(t)
	if low, ok := layerOf("models/data/text", of); !ok || low >= of["models"] || of["models/training"] <= of["models"] {
		t.Fatalf("the layers are %v", of)
	}
	imports := 0
	err := filepath.WalkDir("..", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if name == "testdata" || name == "build" || strings.HasPrefix(name, ".") && name != ".." {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		folder, err := filepath.Rel("..", filepath.Dir(file))
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		own, listed := layerOf(folder, of)
		if !listed {
			return nil // programs of docs and bench
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			below, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			imports++
			if other, ok := layerOf(below, of); !ok || other > own {
				t.Errorf("%s imports %s, which is in a higher layer or in none", path.Join(folder, name), below)
			}
		}
		return nil
	})
	if err != nil || imports == 0 {
		t.Fatal(imports, err)
	}
}
