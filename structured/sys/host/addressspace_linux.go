package host

import (
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// addressSpace returns how many bytes of address space the process may still reserve (ulimit -v), +∞ without a limit.
func addressSpace(root fs.FS) float64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil || limit.Cur == math.MaxUint64 {
		return math.Inf(1)
	}
	text, _ := fs.ReadFile(root, "proc/self/statm") // pages: reserved, …
	pages, _, _ := strings.Cut(string(text), " ")
	reserved, err := strconv.ParseUint(pages, 10, 64)
	if err != nil {
		return math.Inf(1)
	}
	return max(0, float64(limit.Cur)-float64(reserved)*float64(os.Getpagesize()))
}
