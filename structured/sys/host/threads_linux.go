package host

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// leastThreads is how many threads more than it has a command needs: the runtime ends in a trace of its own where it
// gets none. Of these spareThreads are the runtime's own; the others run code, and as many again wait for files
// meanwhile.
const leastThreads, spareThreads = 16, 12

// rlimitProcesses is RLIMIT_NPROC, which package syscall does not name.
const rlimitProcesses = 6

// checkThreads returns an error if a limit of processes (ulimit -u) or of a control group leaves too few threads. Where
// there are enough, but not for all processors, the runtime uses fewer of these.
func checkThreads(root fs.FS) error {
	least := math.Inf(1)
	var limit syscall.Rlimit
	// a larger one is not worth counting all threads
	if err := syscall.Getrlimit(rlimitProcesses, &limit); err == nil && limit.Cur < 1<<12 && os.Getuid() != 0 {
		least = float64(limit.Cur) - threadsOf(root, os.Getuid())
	}
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		if fields := strings.SplitN(strings.TrimSpace(line), ":", 3); len(fields) == 3 && fields[1] == "" {
			dir := "sys/fs/cgroup" + strings.TrimSuffix(fields[2], "/")
			if most, ok := number(root, dir+"/pids.max"); ok {
				used, _ := number(root, dir+"/pids.current")
				least = min(least, most-used)
			}
		}
	}
	if least < leastThreads {
		return fmt.Errorf("%.0f more threads are allowed, expected at least %d; raise the limit (ulimit -u, or that of the "+
			"container), or end other processes", max(0, least), leastThreads)
	}
	if processors := (least - spareThreads) / 2; processors < float64(runtime.GOMAXPROCS(0)) {
		runtime.GOMAXPROCS(int(processors))
	}
	return nil
}

// threadsOf returns how many threads a user has.
func threadsOf(root fs.FS, uid int) float64 {
	all := 0.0
	folders, _ := fs.ReadDir(root, "proc")
	for _, f := range folders {
		if _, err := strconv.Atoi(f.Name()); err != nil {
			continue
		}
		status := "proc/" + f.Name() + "/status"
		if owner, ok := keyedNumber(root, status, "Uid:"); ok && int(owner) == uid {
			n, _ := keyedNumber(root, status, "Threads:")
			all += n
		}
	}
	return all
}
