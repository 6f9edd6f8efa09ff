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
	if err := write(strings.Repeat("half", 1<<18), boom); !errors.Is(err, boom) {
		t.Fatalf("got %v, want %v", err, boom)
	}
	check("first")
	if err := write("second", nil); err != nil {
		t.Fatal(err)
	}
	check("second")
}

// What a killed WriteFile leaves is found by its name. Nothing else is removed.
func TestRemoveUnfinished(t *testing.T) {
	dir := t.TempDir()
	var hidden string
	for _, name := range []string{"a.txt", "b.txt"} {
		f, err := createBeside(filepath.Join(dir, name)) // as WriteFile does, which does not get further
		if err == nil {
			hidden, err = f.Name(), f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.txt", ".a.txt", ".a.txt.tmp", ".a.txt.12345678.tmp.more", "x.a.txt.12345678.tmp",
		".a.txt.1234567.tmp", ".a.txt.1234567g.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".a.txt.12345678.tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	left := func() int {
		all, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	RemoveUnfinished(dir, "a.txt", "c.txt")
	if _, err := os.Stat(hidden); left() != 9 || err != nil {
		t.Errorf("%d files are left, expected 9 with %s: %v", left(), hidden, err)
	}
	RemoveUnfinished(dir)
	if _, err := os.Stat(hidden); left() != 8 || err == nil {
		t.Errorf("%d files are left, expected 8 without %s: %v", left(), hidden, err)
	}
	RemoveUnfinished(filepath.Join(dir, "no such folder"))
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

// A link to a file that is not there yet leads to a new file, and stays.
func TestWriteFileFollowsDanglingLinks(t *testing.T) {
	dir := t.TempDir()
	for link, to := range map[string]string{"relative": "new1", "absolute": filepath.Join(dir, "new2"),
		"twice": "second", "second": "new3"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	for link, to := range map[string]string{"relative": "new1", "absolute": "new2", "twice": "new3"} {
		if err := WriteFile(filepath.Join(dir, link), func(w io.Writer) error {
			_, err := io.WriteString(w, link)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(filepath.Join(dir, to)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: no file %s: %v", link, to, err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, link)); err != nil || string(text) != link {
			t.Errorf("%s: %q, %v", link, text, err)
		}
	}
}

// A link is relative to the folder that it is in, also where a link leads to that folder.
func TestDanglingLinkInALinkedFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "real", "deep"), 0o777); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"to": filepath.Join("real", "deep"),
		filepath.Join("real", "deep", "file"): filepath.Join("..", "new")} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	if err := WriteFile(filepath.Join(dir, "to", "file"),
		func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "real", "new")); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
		t.Error("the file was written beside the link to the folder")
	}
}

func TestWriteFileNeedsFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "a")
	err := WriteFile(path, func(io.Writer) error { return nil })
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), path+": ") ||
		strings.Contains(err.Error(), ".tmp") {
		t.Fatalf("got %v, want the missing folder of %s", err, path)
	}
}
