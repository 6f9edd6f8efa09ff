//go:build !linux && !darwin

package host

import (
	"errors"
	"io/fs"
	"os"
)

// lockFile makes and opens a file, or returns ErrLocked. Nobody can remove a file that a process has open: what can be
// removed is what a process left that has died.
func lockFile(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, ErrLocked
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, ErrLocked
	}
	return f, err
}

// removeLocked removes a file that lockFile opened.
func removeLocked(path string, f *os.File) error {
	return errors.Join(f.Close(), os.Remove(path))
}
