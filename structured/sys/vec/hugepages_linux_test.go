package vec

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// What is asked for stands in the flags of the mapping (proc_pid_smaps(5), "hg"); the numbers stay, and small slices
// are left alone.
func TestHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this system has no huge pages")
	}
	HugePages[float32](nil)
	HugePages(make([]float32, 7))
	x := make([]float32, 4<<20)
	x[0], x[len(x)-1] = 1, 2
	HugePages(x)
	if x[0] != 1 || x[len(x)-1] != 2 {
		t.Errorf("ends are %v and %v, expected 1 and 2", x[0], x[len(x)-1])
	}
	if flags := flagsOf(t, uintptr(unsafe.Pointer(&x[len(x)/2]))); !strings.Contains(flags, " hg") {
		t.Errorf("the mapping's flags are %q, without hg", flags)
	}
}

// flagsOf returns the flags of the mapping that has this address.
func flagsOf(t *testing.T, address uintptr) string {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var lo, hi uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &lo, &hi); n == 2 {
			inside = lo <= address && address < hi
		} else if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && inside {
			return flags
		}
	}
	t.Fatal("no mapping has the address")
	return ""
}
