package host

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"
)

// A start with too little memory or address space is refused, with the limit to raise.
func TestCheckStart(t *testing.T) {
	for _, x := range []struct {
		memory, address float64
		want            string
	}{
		{1 << 30, math.Inf(1), ""},
		{1 << 30, 1 << 30, ""},
		{60 << 20, math.Inf(1), "60 MiB of memory"},
		{1 << 30, 100 << 20, "ulimit -v"},
	} {
		err := checkStart(x.memory, x.address)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, %v: %v, want %q", x.memory, x.address, err, x.want)
		}
	}
}

// The runtime keeps within what control groups and the address space leave. Memory that other processes hold at the
// moment limits nothing.
func TestRuntimeLimit(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	free := fstest.MapFS{"proc/meminfo": file("MemAvailable: 10 kB\n")}
	group := fstest.MapFS{
		"proc/meminfo": file("MemAvailable: 10 kB\n"), "proc/self/cgroup": file("0::/a\n"),
		"sys/fs/cgroup/a/memory.max": file("50000\n"), "sys/fs/cgroup/a/memory.current": file("20000\n"),
	}
	for _, x := range []struct {
		root    fstest.MapFS
		address float64
		limit   int64
		limited bool
	}{
		{free, math.Inf(1), 0, false}, {free, 1000, 800, true}, {group, math.Inf(1), 24000, true}, {group, 1000, 800, true},
	} {
		if limit, limited := runtimeLimit(x.root, x.address); limited != x.limited || limited && limit != x.limit {
			t.Errorf("address space %v: %d, %v, want %d, %v", x.address, limit, limited, x.limit, x.limited)
		}
	}
}
