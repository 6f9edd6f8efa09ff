package host

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// A control group that leaves few threads is an error that says so; one that leaves enough, or sets no limit, is none.
func TestCheckThreads(t *testing.T) {
	for limit, bad := range map[string]bool{"20": true, "100": false, "max": false} {
		root := fstest.MapFS{
			"proc/self/cgroup":               {Data: []byte("0::/job\n")},
			"sys/fs/cgroup/job/pids.max":     {Data: []byte(limit + "\n")},
			"sys/fs/cgroup/job/pids.current": {Data: []byte("10\n")},
		}
		if err := checkThreads(root); (err != nil) != bad || bad && !strings.Contains(err.Error(), "10 more threads are allowed, expected at least 16") {
			t.Errorf("limit %s: %v", limit, err)
		}
	}
	root := fstest.MapFS{}
	for pid, uid := range []int{7, 7, 8} {
		root[fmt.Sprintf("proc/%d/status", pid+1)] = &fstest.MapFile{Data: fmt.Appendf(nil, "Name:\tx\nUid:\t%d\t7\t7\t7\nThreads:\t5\n", uid)}
	}
	if n := threadsOf(root, 7); n != 10 {
		t.Errorf("%v threads of the user, expected 10", n)
	}
}
