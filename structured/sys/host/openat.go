package host

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/dsp-go/dsp/structured"
)

// ReaderAtCloser reads any range of a file.
type ReaderAtCloser interface {
	io.ReaderAt
	io.Closer
}

// IsFile reports whether a path is that of a file, whose ranges OpenAt can read: no pipe, standard input or folder.
func IsFile(path string) (bool, error) {
	if path == "-" {
		return false, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, structured.BadInput("%w", err)
	}
	return info.Mode().IsRegular(), nil
}

// OpenAt opens a data file for reading ranges of what Open would read. A compressed file is decompressed up to the
// range, and from its beginning again for a range that is before the last one: nothing of it is held.
func OpenAt(path string) (ReaderAtCloser, error) {
	start, err := beginningOf(path)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(start, magicXZ) || bytes.HasPrefix(start, magicGzip) {
		return &unpackedAt{path: path}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, structured.BadInput("%w", err)
	}
	if bytes.HasPrefix(start, []byte(ByteOrderMark)) {
		return afterMark{f}, nil
	}
	return f, nil
}

// beginningOf returns the first bytes of a file, which tell whether it is compressed.
func beginningOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, structured.BadInput("%w", err)
	}
	defer f.Close()
	start := make([]byte, len(magicXZ))
	n, _ := io.ReadFull(f, start)
	return start[:n], nil
}

// afterMark reads ranges of a file that begins with a mark of byte order, which does not count.
type afterMark struct{ *os.File }

func (f afterMark) ReadAt(p []byte, from int64) (int, error) {
	return f.File.ReadAt(p, from+int64(len(ByteOrderMark)))
}

// unpackedAt reads ranges of a compressed file.
type unpackedAt struct {
	path   string
	stream io.ReadCloser // nil: not open
	at     int64         // bytes read from it
}

// ReadAt implements io.ReaderAt, for one reader at a time.
func (u *unpackedAt) ReadAt(p []byte, from int64) (int, error) {
	if u.stream == nil || from < u.at {
		if err := u.Close(); err != nil {
			return 0, err
		}
		var err error
		if u.stream, err = Open(u.path); err != nil {
			return 0, err
		}
		u.at = 0
	}
	skipped, err := io.CopyN(io.Discard, u.stream, from-u.at)
	if u.at += skipped; err != nil {
		return 0, err // the end, too
	}
	n, err := io.ReadFull(u.stream, p)
	u.at += int64(n)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

func (u *unpackedAt) Close() error {
	if u.stream == nil {
		return nil
	}
	err := u.stream.Close()
	u.stream = nil
	return err
}
