package device

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/devicecode"
)

// A device loads what was assembled for it, and PTX where there is nothing, or where its driver refuses it.
func TestCubins(t *testing.T) {
	set := inFolder(t)
	ptx, err := set.PTX("fill")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(architecture, text, cubin string) {
		file := filepath.Join(folder, devicecode.CubinFile(architecture, "fill", text))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(cubin), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("sm_90", ptx, "\x7fELF for 9.0\x00\x01")
	write("sm_80", ptx, "\x7fELF for 8.0\x00\x01")
	write("sm_89", ptx+" ", "\x7fELF of other PTX")
	for _, c := range []struct {
		name, capability, folder, refused string
		want                              []string
	}{
		{"fake", "9.0", folder, "", []string{"\x7fELF for 9.0\x00\x01"}},
		{"fake", "8.0", folder, "", []string{"\x7fELF for 8.0\x00\x01"}},
		{"fake", "8.9", folder, "", []string{ptx}},
		{"fake", "12.0", folder, "", []string{ptx}},
		{"fake", "9.0", "", "", []string{ptx}},
		{"fake", "9.0", folder, "\x7fELF for 9.0\x00\x01", []string{"\x7fELF for 9.0\x00\x01", ptx}},
		{"dsp emulated device", "9.0", folder, "", []string{ptx}},
	} {
		t.Setenv("DSP_CUDA_CUBINS", c.folder)
		lib := newFake(1 << 28)
		lib.refused = c.refused
		d, err := open(lib, Info{Name: c.name, Capability: c.capability}, set)
		if err != nil {
			t.Fatal(err)
		}
		x := New[float32](d, 4, "x")
		d.Launch("fill", Dim{X: 1}, Dim{X: 1}, 0, x, float32(3), int64(4))
		if err := d.Sync(); err != nil || !slices.Equal(lib.loaded, c.want) {
			t.Errorf("%+v: %v, loaded %d modules, the first of %d bytes", c, err, len(lib.loaded), len(lib.loaded[0]))
		}
		_ = d.Close()
	}
	t.Setenv("DSP_CUDA_CUBINS", filepath.Join(folder, "nothing"))
	d, err := open(newFake(1<<28), Info{Name: "fake", Capability: "9.0"}, set)
	if err != nil {
		t.Fatal(err)
	}
	x := New[float32](d, 4, "x")
	d.Launch("fill", Dim{X: 1}, Dim{X: 1}, 0, x, float32(3), int64(4))
	if d.Err() == nil || !strings.Contains(d.Err().Error(), "DSP_CUDA_CUBINS") {
		t.Errorf("a folder that does not exist: %v", d.Err())
	}
}
