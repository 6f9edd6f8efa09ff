package host

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	write := func(text string, fail error) error {
		return WriteFile(path, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, fail)
		})
	}
	check := func(want string) {
		t.Helper()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Fatalf("read %q, %v; want %q", got, err, want)
		}
		if names, _ := os.ReadDir(filepath.Dir(path)); len(names) != 1 {
			t.Fatalf("left behind: %v", names)
		}
	}
	if err := write("first", nil); err != nil {
		t.Fatal(err)
	}
	check("first")
	boom := errors.New("boom")
	if err := write("half", boom); !errors.Is(err, boom) {
		t.Fatalf("got %v, want %v", err, boom)
	}
	check("first")
	if err := write("second", nil); err != nil {
		t.Fatal(err)
	}
	check("second")
}

func TestWriteFileFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := WriteFile(link, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "x" {
		t.Fatalf("target holds %q", got)
	}
}

func TestWriteFileNeedsFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "a")
	err := WriteFile(path, func(io.Writer) error { return nil })
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path+": ") || strings.Contains(err.Error(), ".tmp") {
		t.Fatalf("got %v, want the missing folder of %s", err, path)
	}
}
