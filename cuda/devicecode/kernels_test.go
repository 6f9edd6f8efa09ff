package devicecode

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/driver"
)

// inFolder returns the kernels of the folder ptx, which any build can test, and the PTX of each module.
func inFolder(t *testing.T) (set *Set, modules map[string][]byte) {
	t.Helper()
	set, err := Read(os.DirFS("ptx"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("ptx/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	modules = map[string][]byte{}
	for _, file := range files {
		module := strings.TrimSuffix(filepath.Base(file), ".ptx")
		text, err := set.PTX(module)
		if err != nil {
			t.Fatal(err)
		}
		modules[module] = []byte(text)
	}
	return set, modules
}

func TestOnlyGPUBuildsEmbedPTX(t *testing.T) {
	set, modules := inFolder(t)
	compiled, err := Compiled()
	if err != nil {
		t.Fatal(err)
	}
	if !driver.Built {
		if names := compiled.Names(); len(names) > 0 {
			t.Errorf("a build without the tag gpu embeds %d kernels", len(names))
		}
		return
	}
	if !slices.Equal(compiled.Names(), set.Names()) {
		t.Errorf("the program embeds %d kernels, the folder has %d, or their names differ",
			len(compiled.Names()), len(set.Names()))
	}
	for module, want := range modules {
		if text, err := compiled.PTX(module); err != nil || text != string(want) {
			t.Errorf("%s differs from the file in the folder: %v", module, err)
		}
	}
}

func TestPTXBelongsToItsSource(t *testing.T) {
	sources, err := Sources(".")
	if err != nil || len(sources) == 0 {
		t.Fatalf("sources: %v, %v", sources, err)
	}
	_, modules := inFolder(t)
	if len(modules) != len(sources) {
		t.Errorf("%d sources, %d modules: run make kernels", len(sources), len(modules))
	}
	for _, source := range sources {
		stamp, err := Stamp(source)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(modules[ModuleOf(source)], []byte(stamp+"\n")) {
			t.Errorf("%s has changed since its PTX was made: run make kernels", source)
		}
	}
}

// Launches check their arguments against the parameters that Lookup returns, so it must know every kernel.
func TestEveryParameterIsKnown(t *testing.T) {
	set, modules := inFolder(t)
	for module, text := range modules {
		if e, v := bytes.Count(text, []byte(".entry ")), bytes.Count(text, []byte("\n.visible .entry ")); e != v {
			t.Errorf("%s: %d kernels, %d of them visible", module, e, v)
		}
	}
	total := 0
	for _, name := range set.Names() {
		k, _ := set.Lookup(name)
		total += len(k.Parameters)
		for i, p := range k.Parameters {
			if !slices.Contains([]string{"u64", "u32", "f32", "f64"}, p) {
				t.Errorf("%s: parameter %d is of type %s; kernels take 4- and 8-byte scalars and pointers", name, i, p)
			}
		}
	}
	count := 0 // of kernels: the names of functions that they call begin with _
	for _, text := range modules {
		count += len(regexp.MustCompile(`(?m)^\t\.param \.\w+ [a-z]\w*_param_\d`).FindAll(text, -1))
	}
	if total != count {
		t.Errorf("%d parameters, the PTX has %d", total, count)
	}
	k, ok := set.Lookup("fill")
	if want := (Kernel{Module: "fill", Parameters: []string{"u64", "f32", "u64"}}); !ok || !reflect.DeepEqual(k, want) {
		t.Errorf("fill: %v, expected %v", k, want)
	}
	if k, ok := set.Lookup("nothing"); ok {
		t.Errorf("nothing: %v, expected none", k)
	}
	if _, err := set.PTX("nothing"); err == nil {
		t.Error("the PTX of a missing module: no error")
	}
}

func TestStampReadsHeaders(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"own", "include"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("own/a.cu", "#include \"b.cuh\"\n")
	write("own/b.cuh", "#include \"c.cuh\"\n")
	write("include/c.cuh", "one")
	before, err := Stamp(filepath.Join(dir, "own", "a.cu"))
	if err != nil {
		t.Fatal(err)
	}
	write("include/c.cuh", "two")
	if after, _ := Stamp(filepath.Join(dir, "own", "a.cu")); after == before {
		t.Error("an indirectly included header has changed, but not the stamp")
	}
}
