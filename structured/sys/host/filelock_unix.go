//go:build linux || darwin

package host

import (
	"errors"
	"os"
	"syscall"
)

// lockFile opens a file and locks it, or returns ErrLocked.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(ErrLocked, f.Close())
	}
	return f, nil // with another error, the file system has no locks
}

// removeLocked removes a file that lockFile opened. It goes before its lock does, so that nobody else has locked it.
func removeLocked(path string, f *os.File) error {
	return errors.Join(os.Remove(path), f.Close())
}
