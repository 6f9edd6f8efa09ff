package structured_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Messages about files name the file and the reason, not the system call, and the error is still known as what it is.
func TestBadInputOfFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, stat := os.Stat(filepath.Join(dir, "none"))
	_, open := os.Open(filepath.Join(dir, "none"))
	_, read := os.ReadFile(dir)
	_, list := os.ReadDir(file)
	for _, c := range []struct {
		err  error
		want string
	}{
		{stat, filepath.Join(dir, "none") + ": no such file or folder; expected text"},
		{open, filepath.Join(dir, "none") + ": no such file or folder; expected text"},
		{read, dir + ": is a directory; expected text"},
		{list, file + ": not a directory; expected text"},
	} {
		bad := structured.BadInput("%w; expected text", c.err)
		if bad.Error() != c.want {
			t.Errorf("%v became %q, expected %q", c.err, bad, c.want)
		}
		if path := (*fs.PathError)(nil); !structured.IsBadInput(bad) || !errors.As(bad, &path) ||
			errors.Is(bad, fs.ErrNotExist) != errors.Is(c.err, fs.ErrNotExist) {
			t.Errorf("%v is no longer known as what it is", bad)
		}
	}
}
