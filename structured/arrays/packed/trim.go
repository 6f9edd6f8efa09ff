package packed

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// residentBytes is how much of a pack may stay in the process before its pages are given back to the system's cache, from which they
// come again for about a microsecond per 64 KiB.
const residentBytes = 32 << 20

// trimEvery is how often the size is looked at.
const trimEvery = 20 * time.Millisecond

// trim keeps the pages of b in the process few from now on. It does nothing for small mappings, and where the system does not tell how
// many there are.
func trim(b []byte) {
	before, ok := residentFilePages()
	if !ok || len(b) <= residentBytes {
		return
	}
	most := before + residentBytes/os.Getpagesize()
	go func() {
		for range time.Tick(trimEvery) {
			if n, _ := residentFilePages(); n > most {
				forget(b)
			}
		}
	}()
}

// residentFilePages returns how many pages of files the process holds, the program's own among them. It is false where that is unknown.
func residentFilePages() (int, bool) {
	if runtime.GOOS != "linux" {
		return 0, false
	}
	text, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 {
		return 0, false
	}
	n, err := strconv.Atoi(fields[2])
	return n, err == nil
}
