package host

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ulikunitz/xz" // pure Go, and checks what it reads; the standard library has no xz

	"github.com/dsp-go/dsp/structured"
)

// ErrNoTokens means that a text file has no tokens; the readers' errors wrap it.
var ErrNoTokens = errors.New("no tokens")

// ByteOrderMark is what some programs write before text in UTF-8. No data begin so.
const ByteOrderMark = "\xef\xbb\xbf"

// NameOf returns what messages call a file that Open opens.
func NameOf(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// Open opens a data file for reading; "-" is standard input. It recognises gzip and xz by their first bytes and
// decompresses them, and leaves out a mark of byte order. A file that cannot be opened is bad input.
func Open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return Unpack(io.NopCloser(os.Stdin), NameOf(path))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, structured.BadInput("%w", err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close()
		return nil, structured.BadInput("%s: is a folder, expected a file", path)
	}
	return Unpack(f, path)
}

// The first bytes of compressed files.
var magicXZ, magicGzip = []byte("\xfd7zXZ\x00"), []byte{0x1f, 0x8b}

// Kinds of files by their first bytes: compressed ones that Unpack refuses, and those that Lines and readers of text
// refuse.
var (
	packings = map[string]string{"bzip2": "BZh91AY&SY", "zstd": "\x28\xb5\x2f\xfd"}
	pictures = map[string]string{"a PNG image": "\x89PNG", "a JPEG image": "\xff\xd8\xff", "a GIF image": "GIF8",
		"a PDF document": "%PDF-"}
)

// CheckText refuses a file whose beginning shows that it is an image or a document.
func CheckText[S string | []byte](name string, beginning S) error {
	if kind := kindOf(pictures, beginning); kind != "" {
		return structured.BadInput("%s: %s, expected text", name, kind)
	}
	return nil
}

// kindOf returns the kind of a file with that beginning, or "".
func kindOf[S string | []byte](kinds map[string]string, beginning S) string {
	for kind, magic := range kinds {
		if strings.HasPrefix(string(beginning[:min(len(beginning), len(magic))]), magic) {
			return kind
		}
	}
	return ""
}

// Rereads reports whether a file can be read more than once: standard input, pipes and devices cannot. One that is not
// there can, so that opening it says what is wrong.
func Rereads(path string) bool {
	info, err := os.Stat(path)
	return path != "-" && (err != nil || info.Mode().IsRegular() || info.IsDir())
}

// Unpack decompresses f if it begins as gzip or xz does, and refuses other compressed files.
func Unpack(f io.ReadCloser, name string) (io.ReadCloser, error) {
	packed := &counted{Reader: f}
	buffered := bufio.NewReaderSize(packed, 1<<16)
	magic := beginning(buffered)
	if kind := kindOf(packings, magic); kind != "" {
		return nil, errors.Join(structured.BadInput("%s: compressed with %s, which dsp does not read; expected a plain "+
			"file, or one compressed with gzip or xz", name, kind), f.Close())
	}
	if bytes.HasPrefix(magic, magicXZ) {
		z, err := xz.NewReader(newXZBlocks(buffered))
		if err != nil {
			return nil, errors.Join(structured.BadInput("%s: %w", name, sayCut(err, "xz")), f.Close())
		}
		return stream{unmarked(bufio.NewReaderSize(&unpacker{Reader: z, kind: "xz", packed: packed}, 1<<16)), f.Close}, nil
	}
	if !bytes.HasPrefix(magic, magicGzip) {
		return stream{unmarked(buffered), f.Close}, nil
	}
	z, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, errors.Join(structured.BadInput("%s: %w", name, sayCut(err, "gzip")), f.Close())
	}
	// closing z would say again what reading did
	return stream{unmarked(bufio.NewReaderSize(&unpacker{Reader: z, kind: "gzip", packed: packed}, 1<<16)), f.Close}, nil
}

// beginning returns the first bytes of a file, as many as it takes to see whether it is compressed: one that arrives
// slowly may begin with less than the longest of these marks, and wait for the answer.
func beginning(r *bufio.Reader) []byte {
	marks := append(slices.Collect(maps.Values(packings)), string(magicXZ), string(magicGzip))
	for n := 1; ; n++ {
		start, err := r.Peek(n)
		if err != nil || !slices.ContainsFunc(marks, func(mark string) bool {
			return len(start) < len(mark) && strings.HasPrefix(mark, string(start))
		}) {
			return start
		}
	}
}

// unmarked leaves out a mark of byte order.
func unmarked(r *bufio.Reader) *bufio.Reader {
	if start, _ := r.Peek(len(ByteOrderMark)); string(start) == ByteOrderMark {
		_, _ = r.Discard(len(ByteOrderMark))
	}
	return r
}

// What compressed data may expand to: so many times their size, and some bytes whatever their size. Text expands to
// five times its size, and tables to perhaps thirty times; what expands to a thousand times was made to fill memory.
// Tests change the second.
const mostExpansion = 200

var freelyExpanded int64 = MostLine

// unpacker decompresses. Where the compressed data end too early, its error says so. What expands too much is bad
// input.
type unpacker struct {
	io.Reader
	kind   string
	packed *counted
	bytes  int64 // that were read
}

func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	u.bytes += int64(n)
	if u.bytes > freelyExpanded && u.bytes > mostExpansion*u.packed.bytes {
		return 0, structured.BadInput("%s data that expand to more than %s, and to more than %d times their size, expected "+
			"less; if they are meant to, decompress the file first",
			u.kind, size(freelyExpanded), mostExpansion)
	}
	return n, sayCut(err, u.kind)
}

// counted counts the bytes that are read.
type counted struct {
	io.Reader
	bytes int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += int64(n)
	return n, err
}

// sayCut returns err, or that the file is cut short, where it is an end in the middle of compressed data.
func sayCut(err error, kind string) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file ends in the middle of %s data, expected a whole %[1]s file; it may be cut short", kind)
	}
	return err
}

type stream struct {
	io.Reader
	close func() error
}

func (s stream) Close() error { return s.close() }

// MostLine is the length of the longest line of a text file, in bytes.
const MostLine = 64 << 20

// Lines reads a text file line by line, with lines of up to MostLine bytes, and counts them for messages.
type Lines struct {
	scanner *bufio.Scanner
	name    string
	Number  int   // of the last line read, from 1
	notText error // why the file is refused
}

func NewLines(r io.Reader, name string) *Lines {
	l := &Lines{scanner: bufio.NewScanner(r), name: name}
	l.scanner.Buffer(make([]byte, 1<<16), MostLine)
	return l
}

// Next reads a line without its end ("\n" or "\r\n") and without a byte-order mark. It returns false at the end of the
// file and after an error, which Err returns.
func (l *Lines) Next() ([]byte, bool) {
	if !l.scanner.Scan() {
		return nil, false
	}
	l.Number++
	line := l.scanner.Bytes()
	if l.Number == 1 {
		if l.notText = CheckText(l.name, line); l.notText != nil {
			return nil, false
		}
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line, true
}

// Err returns the error that stopped the reading, or nil at the end of the file.
func (l *Lines) Err() error {
	if l.notText != nil {
		return l.notText
	}
	err := l.scanner.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return structured.BadInput("%s:%d: a line of more than %d MiB, expected shorter ones",
			l.name, l.Number+1, MostLine>>20)
	}
	if err != nil {
		return structured.BadInput("%s: after line %d: %w", l.name, l.Number, err)
	}
	return nil
}

// Bad returns a BadInput error about the current line.
func (l *Lines) Bad(format string, args ...any) error {
	return structured.BadInput("%s:%d: "+format, append([]any{l.name, l.Number}, args...)...)
}
