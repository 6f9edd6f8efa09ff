package host

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// WriteFile atomically replaces the content of path with what write produces. It writes to a temporary file in the same
// folder, syncs it to disk and renames it. After an error, including one from write, path is unchanged and the
// temporary file is gone. WriteFile writes directly to a path that is not a regular file (a pipe, a terminal), and
// follows symbolic links.
func WriteFile(path string, write func(io.Writer) error) error {
	path, err := target(path)
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeThrough(path, write)
	}
	return replace(path, func(f *os.File) error { return writeBuffered(f, write) })
}

// target returns the file that a path stands for, at the end of symbolic links; it need not be there.
func target(path string) (string, error) {
	const most = 40 // links, as Linux has it
	for range most {
		there, err := filepath.EvalSymlinks(path)
		switch {
		case err == nil:
			return there, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil // it is no link: a new file
		}
		if !filepath.IsAbs(to) { // in the folder that the link is in, which may be reached by links, too
			folder, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			to = filepath.Join(folder, to)
		}
		path = to
	}
	return "", &fs.PathError{Op: "create", Path: path, Err: errors.New("too many links")}
}

// WriteFileAt is WriteFile for a regular file of a known size that is not written in order. Goroutines may share the
// writer.
func WriteFileAt(path string, size int64, write func(io.WriterAt) error) error {
	return replace(path, func(f *os.File) error {
		err := f.Truncate(size)
		if err == nil {
			err = write(f)
		}
		if err == nil {
			err = f.Sync()
		}
		return errors.Join(err, f.Close())
	})
}

// replace replaces the file at path with what write writes to a file beside it, and closes.
func replace(path string, write func(f *os.File) error) error {
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := Rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Rename renames a file, or replaces the one at path by it.
func Rename(from, path string) error {
	if err := os.Rename(from, path); err != nil {
		return err
	}
	// The rename is durable only once the folder is synced. Some systems cannot sync a folder, so this error is
	// ignored.
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
	return nil
}

// createBeside creates a hidden file in the folder of path, with the default permissions of a new file. Errors name
// path.
func createBeside(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	for {
		name := fmt.Sprintf("%s.%s.%08x.tmp", dir, base, rand.Uint32())
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if failed := (*fs.PathError)(nil); errors.As(err, &failed) && !errors.Is(err, fs.ErrExist) {
			failed.Op, failed.Path = "create", path // the user knows nothing of the hidden file
		}
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// unfinished is the name of a file that createBeside creates.
var unfinished = regexp.MustCompile(`^\.(.+)\.[0-9a-f]{8}\.tmp$`)

// RemoveUnfinished removes from a folder the temporary files that WriteFile has left there when the program was killed:
// those for files of these names, or for all if there are none. No other process may be writing these files.
func RemoveUnfinished(dir string, names ...string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if m := unfinished.FindStringSubmatch(e.Name()); m != nil && e.Type().IsRegular() &&
			(len(names) == 0 || slices.Contains(names, m[1])) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// writeBuffered calls write with a buffered f, then syncs and closes f.
func writeBuffered(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 1<<16)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	return errors.Join(err, f.Close())
}
