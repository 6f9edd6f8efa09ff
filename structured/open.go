package structured

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"os"
)

// ErrNoTokens says that a text file has no tokens; the readers' errors wrap it.
var ErrNoTokens = errors.New("no tokens")

// Open opens a data file for reading; "-" is standard input. Gzip is recognised by its first bytes and unpacked. A file
// that cannot be opened is bad input.
func Open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return unpack(io.NopCloser(os.Stdin), "standard input")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, BadInput("%w", err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close()
		return nil, BadInput("%s: is a folder, expected a file", path)
	}
	return unpack(f, path)
}

func unpack(f io.ReadCloser, name string) (io.ReadCloser, error) {
	buffered := bufio.NewReaderSize(f, 1<<16)
	if magic, _ := buffered.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return stream{buffered, f.Close}, nil
	}
	z, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, errors.Join(BadInput("%s: %w", name, err), f.Close())
	}
	return stream{z, func() error { return errors.Join(z.Close(), f.Close()) }}, nil
}

type stream struct {
	io.Reader
	close func() error
}

func (s stream) Close() error { return s.close() }

// lines reads a text file line by line, however long, and knows where it is.
type lines struct {
	scanner *bufio.Scanner
	name    string
	number  int // of the last line read, from 1
}

func newLines(r io.Reader, name string) *lines {
	l := &lines{scanner: bufio.NewScanner(r), name: name}
	l.scanner.Buffer(make([]byte, 1<<16), math.MaxInt)
	return l
}

// next reads a line without its end ("\n" or "\r\n"), and without a byte-order mark. It is false at the end of the file
// and after an error, which err tells.
func (l *lines) next() ([]byte, bool) {
	if !l.scanner.Scan() {
		return nil, false
	}
	l.number++
	line := l.scanner.Bytes()
	if l.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line, true
}

// err returns what stopped the reading, nil at the end of the file.
func (l *lines) err() error {
	if err := l.scanner.Err(); err != nil {
		return BadInput("%s: after line %d: %w", l.name, l.number, err)
	}
	return nil
}

// bad returns a BadInput error about the current line.
func (l *lines) bad(format string, args ...any) error {
	return BadInput("%s:%d: "+format, append([]any{l.name, l.number}, args...)...)
}
