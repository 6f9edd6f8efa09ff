package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// A folder has one owner at a time, whom others are told of, and what a dead process left hinders nobody.
func TestLockFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, LockFile)
	if err := os.WriteFile(path, []byte("1\n"), 0o666); err != nil { // of a process that exists, but holds no lock
		t.Fatal(err)
	}
	release, err := LockFolder(dir)
	if err != nil {
		t.Fatalf("a stale lock: %v", err)
	}
	_, err = LockFolder(dir)
	if me := fmt.Sprintf("process %d ", os.Getpid()); !structured.IsBadInput(err) || !strings.Contains(err.Error(), me) {
		t.Errorf("a locked folder: %v, expected the name of %s", err, me)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a released lock: %v, expected no file", err)
	}
	if release, err = LockFolder(dir); err != nil {
		t.Fatalf("a released folder: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if _, err := LockFolder(filepath.Join(dir, "missing")); !structured.IsBadInput(err) {
		t.Errorf("a missing folder: %v", err)
	}
}

// Of many that take and release a lock at once, no two have it.
func TestLockFolderOften(t *testing.T) {
	dir := t.TempDir()
	var owners, taken atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				release, err := LockFolder(dir)
				if err != nil {
					continue
				}
				if owners.Add(1) != 1 {
					t.Error("two owners")
				}
				taken.Add(1)
				owners.Add(-1)
				if err := release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if taken.Load() == 0 {
		t.Error("nobody had the lock")
	}
}
