package kernels

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
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

// Launches check their arguments against what Lookup tells, so it must tell of every kernel.
func TestEveryParameterIsKnown(t *testing.T) {
	for module, text := range Modules() {
		if e, v := bytes.Count(text, []byte(".entry ")), bytes.Count(text, []byte("\n.visible .entry ")); e != v {
			t.Errorf("%s: %d kernels, %d of them visible", module, e, v)
		}
	}
	total := 0
	for _, name := range Names() {
		k, _ := Lookup(name)
		total += len(k.Parameters)
		for i, p := range k.Parameters {
			if !slices.Contains([]string{"u64", "u32", "f32", "f64"}, p) {
				t.Errorf("%s: parameter %d is of type %s; kernels take 4- and 8-byte scalars and pointers", name, i, p)
			}
		}
	}
	count := 0
	for _, text := range Modules() {
		count += len(regexp.MustCompile(`(?m)^\t\.param `).FindAll(text, -1))
	}
	if total != count {
		t.Errorf("%d parameters, the PTX has %d", total, count)
	}
	k, _ := Lookup("fill")
	if want := (Kernel{Module: "fill", Parameters: []string{"u64", "f32", "u64"}}); !reflect.DeepEqual(k, want) {
		t.Errorf("fill: %v, expected %v", k, want)
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
