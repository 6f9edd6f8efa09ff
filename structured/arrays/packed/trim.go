package packed

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// residentBytes is how much of all mapped files may stay in the process before their pages are given back to the system's cache, from
// which they come again for about a microsecond per 64 KiB.
const residentBytes = 32 << 20

// trimEvery is how often the size is looked at.
const trimEvery = 20 * time.Millisecond

// trimmed are the mappings whose pages in the process are kept few.
var trimmed struct {
	sync.Mutex
	all [][]byte
}

// trim keeps the pages of b in the process few from now on. It does nothing where the system does not tell how many there are.
func trim(b []byte) {
	before, ok := residentFilePages()
	if !ok || len(b) == 0 {
		return
	}
	trimmed.Lock()
	defer trimmed.Unlock()
	trimmed.all = append(trimmed.all, b)
	if len(trimmed.all) == 1 {
		go keepTrim(before + residentBytes/os.Getpagesize())
	}
}

// keepTrim gives pages back whenever the process holds more than so many pages of files.
func keepTrim(most int) {
	for range time.Tick(trimEvery) {
		if n, _ := residentFilePages(); n <= most {
			continue
		}
		trimmed.Lock()
		for _, b := range trimmed.all {
			forget(b)
		}
		trimmed.Unlock()
	}
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
