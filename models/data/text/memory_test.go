package text

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

func TestAvailableMemory(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	meminfo := file("MemTotal: 9000 kB\nMemAvailable:    1000 kB\n")
	for name, test := range map[string]struct {
		root  fstest.MapFS
		want  float64
		known bool
	}{
		"elsewhere": {fstest.MapFS{}, math.Inf(1), false},
		"no groups": {fstest.MapFS{"proc/meminfo": meminfo}, 1024000, true},
		"version 2": {fstest.MapFS{
			"proc/meminfo": meminfo, "proc/self/cgroup": file("0::/a/b\n"),
			"sys/fs/cgroup/a/b/memory.max": file("max\n"), "sys/fs/cgroup/a/memory.max": file("5000\n"),
			"sys/fs/cgroup/a/memory.current": file("3000\n"), "sys/fs/cgroup/a/memory.stat": file("anon 1\ninactive_file 500\n"),
		}, 2500, true},
		"version 1, in a container": {fstest.MapFS{
			"proc/meminfo": meminfo, "proc/self/cgroup": file("9:cpu:/x\n4:memory:/outside/me\n0::/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("4000\n"),
			"sys/fs/cgroup/memory/memory.usage_in_bytes": file("5000\n"),
		}, 0, true}, // above its limit
		"no limit": {fstest.MapFS{
			"proc/meminfo": meminfo, "proc/self/cgroup": file("4:memory:/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
		}, 1024000, true},
	} {
		got, ok := host.MeasuredMemory(test.root)
		if ok != test.known || got != test.want {
			t.Errorf("%s: %v, %v, want %v, %v", name, got, ok, test.want, test.known)
		}
	}
	if err := host.CheckMemory("training on x", math.Inf(1)); err != nil &&
		(structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), "training on x would take about +Inf GiB of memory, ")) {
		t.Error(err)
	}
	if err := host.CheckMemory("training on x", 1); err != nil {
		t.Error(err)
	}
}

// Extent of a file's beginning predicts that of the whole file.
func TestExtentPredictsTheWhole(t *testing.T) {
	text := attributeFile(8_000)
	whole, err := CRFsuite{}.Read(bytes.NewReader(text), "x")
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(text)
	z.Close()
	for name, content := range map[string][]byte{"plain": text, "packed.gz": packed.Bytes()} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		start, times, err := Beginning(path, len(text)/2)
		if err != nil || len(start) > len(text)/2 || !bytes.HasSuffix(start, []byte("\n\n")) {
			t.Fatalf("%v, %d bytes", err, len(start))
		}
		d, err := CRFsuite{}.Read(bytes.NewReader(start), name)
		if err != nil {
			t.Fatal(err)
		}
		got, want := d.Extent().Times(times), whole.Extent()
		for what, pair := range map[string][2]float64{
			"positions": {got.Positions, want.Positions}, "entries": {got.Entries, want.Entries},
			"sequences": {got.Sequences, want.Sequences}, "names": {got.Names, want.Names},
			"weights": {got.Weights(), want.Weights()}, "bytes": {got.Bytes(), want.Bytes()},
		} {
			if pair[0] < 0.7*pair[1] || pair[0] > 1.4*pair[1] {
				t.Errorf("%s: %s %.0f, want about %.0f", name, what, pair[0], pair[1])
			}
		}
		if start, times, err := Beginning(path, 2*len(text)); err != nil || times != 1 || !bytes.Equal(start, text) {
			t.Errorf("%s: a whole file: %v, %v", name, times, err)
		}
	}
	if start, times, err := Beginning("-", 10); start != nil || times != 0 || err != nil {
		t.Error("standard input was read")
	}
	long := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(long, []byte("a\tO\nb\tO\n\nc\tO\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]string{5: "", 8: "", 9: "a\tO\nb\tO\n\n"} {
		if start, times, err := Beginning(long, limit); string(start) != want || (times > 0) != (want != "") || err != nil {
			t.Errorf("%d bytes of a longer sequence: %q, %v, %v", limit, start, times, err)
		}
	}
	if _, _, err := Beginning(filepath.Join(t.TempDir(), "none"), 10); !structured.IsBadInput(err) {
		t.Errorf("a missing file: %v", err)
	}
}
