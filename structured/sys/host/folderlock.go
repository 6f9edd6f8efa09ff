package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// LockFile is the file that shows that a process writes a folder. It holds the number of the process.
const LockFile = ".lock"

// ErrLocked says that another process has the lock of a file.
var ErrLocked = errors.New("locked")

// LockFolder makes this process the only one that writes the folder dir, which exists, until release is called or the
// process dies: the system ends its locks, so that none outlives its owner. A folder that another process has locked is
// bad input, which names that process. On file systems without locks, any process gets one.
func LockFolder(dir string) (release func() error, err error) {
	path := filepath.Join(dir, LockFile)
	f, err := OpenLocked(path)
	if errors.Is(err, ErrLocked) {
		return nil, structured.BadInput("%s: %s writes there; wait until it has ended, or name another folder", dir,
			ownerOf(path))
	}
	if err != nil {
		return nil, structured.BadInput("%s: cannot write there: %w", dir, err)
	}
	if err = f.Truncate(0); err == nil {
		_, err = fmt.Fprintln(f, os.Getpid())
	}
	if err != nil {
		return nil, errors.Join(err, removeLocked(path, f))
	}
	return func() error { return removeLocked(path, f) }, nil
}

// OpenLocked opens the file at path, or makes an empty one, for this process alone, until it closes the file or dies.
// ErrLocked says that another process has it. On file systems without locks, any process gets it. Where files that are
// open cannot be removed (Windows), the file is always a new one.
func OpenLocked(path string) (*os.File, error) {
	for {
		f, err := lockFile(path)
		if err != nil {
			return nil, err
		}
		locked, err1 := f.Stat()
		there, err2 := os.Stat(path)
		if err1 == nil && err2 == nil && os.SameFile(locked, there) {
			return f, nil
		}
		_ = f.Close() // its last owner removed or renamed it in the meantime
	}
}

// ownerOf says which process the lock file names.
func ownerOf(path string) string {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		text, _ := io.ReadAll(io.LimitReader(f, 20))
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return fmt.Sprintf("process %d", pid)
		}
	}
	return "another process" // that has just begun
}
