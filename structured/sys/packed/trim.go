package packed

import (
	"os"
	"runtime"
	"sync"
	"time"
)

// residentBytes is how much of all mapped files may stay in the process before their pages are given back to the
// system's cache, from which they come again for about a microsecond per 64 KiB.
const residentBytes = 32 << 20

// trimEvery is how often the size is looked at.
const trimEvery = 20 * time.Millisecond

// trimmed are the mappings whose pages in the process are kept few.
var trimmed struct {
	sync.Mutex
	all [][]byte
}

// trim keeps the pages of b in the process few from now on. It does nothing where the system does not tell how many
// there are.
func trim(b []byte) {
	if len(b) == 0 || runtime.GOOS != "linux" {
		return
	}
	trimmed.Lock()
	defer trimmed.Unlock()
	trimmed.all = append(trimmed.all, b)
	if len(trimmed.all) > 1 {
		return
	}
	sizes, err := os.Open("/proc/self/statm")
	if err != nil {
		return
	}
	if before, ok := filePages(sizes, make([]byte, 128)); ok {
		go keepTrim(sizes, before+residentBytes/os.Getpagesize())
	}
}

// keepTrim gives pages back whenever the process holds more than so many pages of files. It allocates nothing as it
// goes.
func keepTrim(sizes *os.File, most int) {
	buffer := make([]byte, 128)
	for range time.Tick(trimEvery) {
		if n, ok := filePages(sizes, buffer); !ok || n <= most {
			continue
		}
		trimmed.Lock()
		for _, b := range trimmed.all {
			forget(b)
		}
		trimmed.Unlock()
	}
}

// filePages returns how many pages of files the process holds, the program's own among them: the third number of
// Linux's statm.
func filePages(sizes *os.File, buffer []byte) (int, bool) {
	n, _ := sizes.ReadAt(buffer, 0)
	pages, field := 0, 0
	for _, c := range buffer[:n] {
		switch {
		case c == ' ':
			field++
		case field == 2 && c >= '0' && c <= '9':
			pages = 10*pages + int(c-'0')
		}
	}
	return pages, field > 2
}
