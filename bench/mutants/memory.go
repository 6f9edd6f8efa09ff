package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// process is what /proc says about a process.
type process struct {
	id, parent int
	resident   int64 // bytes
}

// family returns a process and those that it has started, and what they hold in memory together. Where there is no
// /proc, it knows of none.
func family(root int) (ids []int, resident int64) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	children := map[int][]process{}
	for _, name := range stats {
		if p, ok := readProcess(name); ok {
			children[p.parent] = append(children[p.parent], p)
			if p.id == root {
				ids, resident = []int{root}, p.resident
			}
		}
	}
	for k := 0; k < len(ids); k++ {
		for _, child := range children[ids[k]] {
			ids, resident = append(ids, child.id), resident+child.resident
		}
	}
	return ids, resident
}

// readProcess reads a file /proc/N/stat: the name may hold blanks and brackets, so that fields are counted after it.
func readProcess(name string) (p process, ok bool) {
	text, err := os.ReadFile(name)
	end := strings.LastIndexByte(string(text), ')')
	if err != nil || end < 0 {
		return p, false // it has ended
	}
	const parent, resident = 1, 21 // of the fields after the name
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) <= resident {
		return p, false
	}
	var errs [3]error
	var pages int64
	p.id, errs[0] = strconv.Atoi(filepath.Base(filepath.Dir(name)))
	p.parent, errs[1] = strconv.Atoi(fields[parent])
	pages, errs[2] = strconv.ParseInt(fields[resident], 10, 64)
	p.resident = pages * int64(os.Getpagesize())
	return p, errs == [3]error{}
}

// confine ends a process and those that it has started as soon as they hold more than limit bytes together, and
// reports whether it had to, once ctx is done.
func confine(ctx context.Context, root int, limit int64) (ended bool) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ended
		case <-tick.C:
		}
		ids, resident := family(root)
		if resident <= limit {
			continue
		}
		ended = true
		for _, id := range ids {
			if p, err := os.FindProcess(id); err == nil {
				_ = p.Kill()
			}
		}
	}
}
