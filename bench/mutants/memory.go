package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// family returns a process and those that it has started, and what they hold in memory together. It reads nothing of
// other processes. Where /proc does not list children, it knows of none.
func family(root int) (ids []int, resident int64) {
	for waiting := []int{root}; len(waiting) > 0; waiting = waiting[1:] {
		folder := filepath.Join("/proc", strconv.Itoa(waiting[0]))
		pages := numbers(filepath.Join(folder, "statm"))
		if len(pages) < 2 {
			continue // it has ended
		}
		ids, resident = append(ids, waiting[0]), resident+int64(pages[1])*int64(os.Getpagesize())
		threads, _ := filepath.Glob(filepath.Join(folder, "task", "*", "children"))
		for _, name := range threads {
			waiting = append(waiting, numbers(name)...)
		}
	}
	return ids, resident
}

// numbers reads the numbers in a file, of which nothing is left where a process has ended.
func numbers(name string) (all []int) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	for _, field := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(field)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// confine ends a process and those that it has started as soon as they hold more than limit bytes together, and
// reports whether it had to, once ctx is done.
func confine(ctx context.Context, root int, limit int64) (ended bool) {
	tick := time.NewTicker(250 * time.Millisecond)
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
