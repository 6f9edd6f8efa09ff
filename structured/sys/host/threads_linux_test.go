package host

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
)

// A control group that leaves few threads is an error that says so; one that leaves enough, or sets no limit, is none.
// The runtime uses as many processors as it has threads for.
func TestCheckThreads(t *testing.T) {
	const before = 40
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(before))
	for limit, used := range map[string]int{"20": before, "26": 2, "50": 14, "102": before, "max": before} {
		runtime.GOMAXPROCS(before)
		bad := limit == "20"
		root := fstest.MapFS{
			"proc/self/cgroup":               {Data: []byte("0::/job\n")},
			"sys/fs/cgroup/job/pids.max":     {Data: []byte(limit + "\n")},
			"sys/fs/cgroup/job/pids.current": {Data: []byte("10\n")},
		}
		if err := checkThreads(root); (err != nil) != bad || bad &&
			!strings.Contains(err.Error(), "10 more threads are allowed, expected at least 16") {
			t.Errorf("limit %s: %v", limit, err)
		}
		if n := runtime.GOMAXPROCS(0); n != used {
			t.Errorf("limit %s: %d processors, expected %d", limit, n, used)
		}
	}
	root := fstest.MapFS{}
	for pid, uid := range []int{7, 7, 8} {
		root[fmt.Sprintf("proc/%d/status", pid+1)] = &fstest.MapFile{
			Data: fmt.Appendf(nil, "Name:\tx\nUid:\t%d\t7\t7\t7\nThreads:\t5\n", uid)}
	}
	if n := threadsOf(root, 7); n != 10 {
		t.Errorf("%v threads of the user, expected 10", n)
	}
}
