package host

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// CheckMemory returns an error if bytes, an estimate, exceeds the available memory. It is not bad input: with more
// memory the same input would do. what names the purpose ("training on big.conll"). It returns nil if the available
// memory is unknown.
func CheckMemory(what string, bytes float64) error {
	available, ok := AvailableMemory()
	if !ok || bytes <= available {
		return nil
	}
	return fmt.Errorf("%s would take about %s of memory, %s are available", what, gib(bytes), gib(available))
}

func gib(bytes float64) string {
	if bytes < 1<<30 {
		return fmt.Sprintf("%.0f MiB", bytes/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", bytes/(1<<30))
}

// AvailableMemory returns how many more bytes the process can allocate: Linux's MemAvailable, or less if a control
// group or a limit of address space (ulimit -v) leaves less. ok is false if that is unknown, as on other systems.
func AvailableMemory() (bytes float64, ok bool) {
	root := os.DirFS("/")
	bytes, _ = MeasuredMemory(root)
	bytes = min(bytes, addressSpace(root))
	return bytes, !math.IsInf(bytes, 1)
}

// What a small command takes. The runtime reserves address space in large pieces, and every thread some for its stack.
const (
	leastMemory  = 80 << 20
	leastAddress = 200 << 20
)

// CheckStart returns an error if limits leave too little memory, or too few threads, for any command, with which the
// process would crash or be killed later; the error is not bad input. Otherwise, where a control group or ulimit sets a
// limit, it has the runtime keep within what is left, if it can, unless GOMEMLIMIT says something else. What other
// processes hold at the moment is no such limit: they may end.
func CheckStart() error {
	root := os.DirFS("/")
	measured, _ := MeasuredMemory(root)
	address := addressSpace(root)
	if err := checkStart(measured, address); err != nil {
		return err
	}
	if err := checkThreads(root); err != nil {
		return err
	}
	if limit, ok := runtimeLimit(root, address); ok && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
	return nil
}

// runtimeLimit returns the bytes that the runtime is to keep within, if control groups, or the address space that is
// left, limit it.
func runtimeLimit(root fs.FS, address float64) (bytes int64, limited bool) {
	left := min(groupsMemory(root), address)
	return int64(collectAt * left), !math.IsInf(left, 1)
}

// collectAt is the share of the memory at the start from which on the runtime collects garbage more often, rather than
// ask for more.
const collectAt = 0.8

// checkStart is CheckStart for what memory and address space are left.
func checkStart(memory, address float64) error {
	if memory < leastMemory {
		return fmt.Errorf("%s of memory are available, expected at least %s; raise the limit of the control group "+
			"(container), or free memory", gib(memory), gib(leastMemory))
	}
	if address < leastAddress {
		return fmt.Errorf("%s of address space are left, expected at least %s; raise the limit (ulimit -v unlimited), and "+
			"limit memory by a control group instead",
			gib(address), gib(leastAddress))
	}
	return nil
}

// MeasuredMemory returns how many more bytes the machine and the control groups of the process allow, as the files
// below root tell, and whether they do.
func MeasuredMemory(root fs.FS) (float64, bool) {
	least := groupsMemory(root)
	if kib, ok := keyedNumber(root, "proc/meminfo", "MemAvailable:"); ok {
		least = min(least, 1024*kib)
	}
	return least, !math.IsInf(least, 1)
}

// groupsMemory returns how many more bytes the control groups of the process allow, +Inf if none sets a limit.
func groupsMemory(root fs.FS) float64 {
	least := math.Inf(1)
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		switch {
		case len(fields) < 3:
		case fields[1] == "":
			least = min(least, groupMemory(root, "sys/fs/cgroup", fields[2], "memory.max", "memory.current", "inactive_file"))
		case fields[1] == "memory":
			least = min(least, groupMemory(root, "sys/fs/cgroup/memory", fields[2],
				"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"))
		}
	}
	return least
}

// groupMemory returns how many bytes the control group at path and its ancestors leave: the least of limit − usage,
// where cached files do not count as used. It is +∞ without limits. Inside a container, the group may be the mounted
// root itself.
func groupMemory(root fs.FS, mount, group, limit, usage, cache string) float64 {
	least := math.Inf(1)
	for ancestor := path.Clean("/" + group); ; ancestor = path.Dir(ancestor) {
		dir := path.Join(mount, ancestor)
		if most, ok := number(root, dir+"/"+limit); ok {
			used, _ := number(root, dir+"/"+usage)
			cached, _ := keyedNumber(root, dir+"/memory.stat", cache)
			least = min(least, max(0, most-max(0, used-cached)))
		}
		if ancestor == "/" {
			return least
		}
	}
}

// number reads a file that contains one number.
func number(root fs.FS, file string) (float64, bool) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64) // "max" means no limit
	return float64(n), err == nil
}

// keyedNumber reads the number that follows key at the start of a line.
func keyedNumber(root fs.FS, file, key string) (float64, bool) {
	text, _ := fs.ReadFile(root, file)
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == key {
			n, err := strconv.ParseUint(fields[1], 10, 64)
			return float64(n), err == nil
		}
	}
	return 0, false
}
