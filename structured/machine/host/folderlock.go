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

// errLocked says that another process has the lock of a file.
var errLocked = errors.New("locked")

// LockFolder makes this process the only one that writes the folder dir, which exists, until release is called or the process dies: the
// system ends its locks, so that none outlives its owner. A folder that another process has locked is bad input, which names that process.
// On file systems without locks, any process gets one.
func LockFolder(dir string) (release func() error, err error) {
	path := filepath.Join(dir, LockFile)
	for {
		f, err := lockFile(path)
		if errors.Is(err, errLocked) {
			return nil, structured.BadInput("%s: %s writes there; wait until it has ended, or name another folder", dir, ownerOf(path))
		}
		if err != nil {
			return nil, structured.BadInput("%s: cannot write there: %w", dir, err)
		}
		locked, err1 := f.Stat()
		there, err2 := os.Stat(path)
		if err1 != nil || err2 != nil || !os.SameFile(locked, there) { // its last owner removed it in the meantime
			_ = f.Close()
			continue
		}
		if err = f.Truncate(0); err == nil {
			_, err = fmt.Fprintln(f, os.Getpid())
		}
		if err != nil {
			return nil, errors.Join(err, removeLocked(path, f))
		}
		return func() error { return removeLocked(path, f) }, nil
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
