package formats

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Detect recognises a file's format by its name or, failing that, by its first bytes.
func Detect(path string) (string, error) {
	if path == "-" {
		return "", structured.BadInput("standard input: cannot tell the format; give --format %s",
			strings.Join(Names(), ", "))
	}
	if name := byName(path); name != "" {
		return name, nil
	}
	for _, f := range All() {
		if f.Listing != "" && filepath.Base(path) == f.Listing {
			return "", structured.BadInput("%s: it says what the images beside it read; give the folder %s in its place", path,
				filepath.Dir(path))
		}
	}
	format := ""
	if name := byFolder(path); name != "" {
		return name, nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return "", structured.BadInput("%s: a folder in no known format, expected a file or a folder in the format %s", path,
			folders())
	}
	if !host.Rereads(path) {
		return "", structured.BadInput("%s: a pipe or a device, which is read only once; its format must be known "+
			"before: give --format %s", path, strings.Join(Names(), ", "))
	}
	err := Open(path, func(r io.Reader) error {
		start := make([]byte, 1<<14)
		n, err := io.ReadFull(r, start)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return structured.BadInput("%s: %w", path, err)
		}
		if bytes.HasPrefix(start, []byte("\x93NUMPY")) {
			return structured.BadInput("%s: one array (npy), expected an archive of several, which np.savez writes (npz)", path)
		}
		if format = byContent(start[:n]); format == "" {
			return structured.BadInput("%s: neither text nor npz; give --format if it is a data file after all", path)
		}
		return nil
	})
	return format, err
}

// byFolder recognises the format of a folder by its files, or returns "".
func byFolder(path string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return ""
	}
	for _, f := range All() {
		if f.IsFolder != nil && f.IsFolder(path) {
			return f.Name
		}
	}
	return ""
}

// folders returns the names of the formats that are folders, for messages.
func folders() string {
	var names []string
	for _, f := range All() {
		if f.IsFolder != nil {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, " or ")
}

// byName recognises a format by a file's name, or returns "". Extensions come before prefixes.
func byName(path string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".gz"), ".xz")
	for _, f := range All() {
		if slices.Contains(f.Extensions, filepath.Ext(name)) {
			return f.Name
		}
	}
	for _, f := range All() {
		if f.Prefix != "" && strings.HasPrefix(name, f.Prefix) {
			return f.Name
		}
	}
	return ""
}

// byContent recognises a format by the start of a file, or returns "" for binary data of no known format.
func byContent(start []byte) string {
	line, _, _ := bytes.Cut(start, []byte{'\n'})
	isText, otherwise := bytes.IndexByte(line, 0) < 0, ""
	for _, f := range All() {
		switch {
		case f.Read == nil || (f.Tokens || f.Lines) && !isText:
		case f.Starts == nil:
			otherwise = f.Name
		case f.Starts(start):
			return f.Name
		}
	}
	return otherwise
}

// tokenLines yields the tab-separated fields of the lines of tokens at the start of a text file. It leaves out blank
// lines, comments, and a last line that may be cut short.
func tokenLines(start []byte) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		some := false
		for line := range bytes.Lines(start) {
			if line[len(line)-1] != '\n' && some {
				return
			}
			fields := strings.Split(strings.TrimSpace(string(line)), "\t")
			if len(fields) == 1 && (fields[0] == "" || fields[0][0] == '#') {
				continue
			}
			if some = true; !yield(fields) {
				return
			}
		}
	}
}

// everyLine reports whether a file begins with tokens, all of whose lines are as like says.
func everyLine(start []byte, like func(fields []string) bool) bool {
	some := false
	for fields := range tokenLines(start) {
		if some = true; !like(fields) {
			return false
		}
	}
	return some
}

// Open opens a data file, decompresses it if it begins as gzip or xz does, and closes it after read.
func Open(path string, read func(r io.Reader) error) error {
	return Through(func() (io.ReadCloser, error) { return host.Open(path) }, read)
}

// Through opens a file, and closes it after read.
func Through(open func() (io.ReadCloser, error), read func(r io.Reader) error) error {
	f, err := open()
	if err != nil {
		return err
	}
	err = read(f)
	if closing := f.Close(); err == nil { // closing a gzip file repeats the error of reading it
		err = closing
	}
	return err
}
