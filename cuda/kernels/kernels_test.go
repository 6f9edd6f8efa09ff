package kernels

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPTXBelongsToItsSource(t *testing.T) {
	sources, err := filepath.Glob("*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatalf("sources: %v, %v", sources, err)
	}
	modules := Modules()
	if len(modules) != len(sources) {
		t.Errorf("%d sources, %d modules: make kernels", len(sources), len(modules))
	}
	for _, source := range sources {
		stamp, err := Stamp(source)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(modules[strings.TrimSuffix(source, ".cu")], []byte(stamp+"\n")) {
			t.Errorf("%s has changed since its PTX was made: make kernels", source)
		}
	}
}

func TestModuleOfKernel(t *testing.T) {
	if name, ok := Module("fill"); name != "fill" || !ok {
		t.Errorf("fill is in %q, %v", name, ok)
	}
	if name, ok := Module("nothing"); ok {
		t.Errorf("nothing is in %q", name)
	}
}

func TestStampReadsHeaders(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.cu", "#include \"b.cuh\"\n")
	write("b.cuh", "#include \"c.cuh\"\n")
	write("c.cuh", "one")
	before, err := Stamp(filepath.Join(dir, "a.cu"))
	if err != nil {
		t.Fatal(err)
	}
	write("c.cuh", "two")
	if after, _ := Stamp(filepath.Join(dir, "a.cu")); after == before {
		t.Error("a header of a header has changed, the stamp has not")
	}
}
