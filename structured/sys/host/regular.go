package host

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/dsp-go/dsp/structured"
)

// OpenRegular opens a file on disk. Pipes, devices, sockets and folders are bad input: reading them could wait, or go
// on, for ever. Where there is no such file, the error wraps fs.ErrNotExist.
func OpenRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, structured.BadInput("%s: %s, expected a file on disk", path, kindOfFile(info.Mode()))
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, structured.BadInput("%w", err)
	}
	return f, nil
}

// kindOfFile says what a path is that is no file on disk.
func kindOfFile(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}

// ReadRegular reads a file on disk (OpenRegular) of at most that many bytes. A longer one is bad input.
func ReadRegular(path string, most int64) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAtMost(f, path, most)
}

// ReadText reads a text of settings, of at most that many bytes and without a mark of byte order: a file, or what comes
// through a pipe.
func ReadText(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, structured.BadInput("%w", err)
	}
	defer f.Close()
	text, err := readAtMost(f, path, most)
	return bytes.TrimPrefix(text, []byte(ByteOrderMark)), err
}

func readAtMost(r io.Reader, path string, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return nil, structured.BadInput("%w", err)
	case int64(len(text)) > most:
		return nil, structured.BadInput("%s: more than %s, expected a file of at most that size", path, size(most))
	}
	return text, nil
}

// size writes a number of bytes.
func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
