//go:build unix

package host

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What is written to a pipe goes through it, and leaves it where it is.
func TestWriteFileToAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // so that neither end waits for the other
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if err := WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe became %v, %v", info, err)
	}
	text := make([]byte, 4)
	if _, err := io.ReadFull(pipe, text); err != nil || string(text) != "text" {
		t.Errorf("%q arrived, %v", text, err)
	}
}

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
