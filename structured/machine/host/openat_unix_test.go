//go:build unix

package host

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe has no ranges, and is not opened to tell.
func TestPipeIsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{path, "/dev/null"} {
		if is, err := IsFile(path); is || err != nil {
			t.Errorf("%s: %v, %v", path, is, err)
		}
	}
}
