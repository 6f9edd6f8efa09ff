// Package wordvectors reads vectors of words that were trained elsewhere: GloVe's text, the text and the binary files
// of word2vec, and fastText's .vec.
package wordvectors

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Vectors are the vectors of some words.
type Vectors struct {
	Dim   int
	Words *structured.Alphabet // those that have a vector
	Rows  []float32            // [words×Dim]
	Read  int                  // how many vectors the file has
}

// Of returns the vector of a word, or nil if it has none.
func (v *Vectors) Of(word string) []float32 {
	at := int(v.Words.Index(word))
	if at < 0 {
		return nil
	}
	return v.Rows[at*v.Dim : (at+1)*v.Dim]
}

// Bounds of what a file may have, against files of another kind.
const (
	mostDims    = 1 << 16
	longestWord = 1 << 16 // bytes
)

// Read reads the vectors of the wanted words; of a word that occurs again, the first one counts. It recognises the
// format:
//
//	text      a word and its numbers per line, separated by spaces (GloVe); in front there may be a line with the
//	          number of vectors and their length (word2vec, fastText)
//	binary    that line, then per vector the word, a space, and little-endian float32 numbers (word2vec)
//
// name is the file's name for messages. Errors are bad input. The numbers of words that are not wanted are not read.
func Read(r io.Reader, name string, wanted *structured.Alphabet) (*Vectors, error) {
	in := &reader{r: bufio.NewReaderSize(r, 1<<20), name: name, wanted: wanted,
		v: &Vectors{Words: structured.NewAlphabet()}}
	first, err := in.line()
	if err != nil {
		return nil, err
	}
	if first == nil {
		return nil, structured.BadInput("%s: empty, expected vectors of words", name)
	}
	first = bytes.TrimPrefix(first, []byte("\xef\xbb\xbf"))
	count, dim, header := sizes(first)
	switch {
	case !header:
		in.v.Dim = fields(first) - 1
		if in.v.Dim < 1 || in.v.Dim > mostDims {
			return nil, in.bad("%q, expected a word and its vector, or the number of vectors and their length", clip(first))
		}
		if err := in.textVector(first); err != nil {
			return nil, err
		}
		return in.v, in.text(0)
	case count < 1 || dim < 1 || dim > mostDims:
		return nil, in.bad("%d vectors of length %d, expected at least one, and lengths of 1 to %d", count, dim, mostDims)
	}
	in.v.Dim = dim
	binary, err := in.isBinary()
	if err == nil && binary {
		return in.v, in.binary(count)
	}
	if err == nil {
		err = in.text(count)
	}
	return in.v, err
}

// reader reads one file.
type reader struct {
	r      *bufio.Reader
	name   string
	number int // of the last line
	wanted *structured.Alphabet
	v      *Vectors
	long   []byte // scratch: a line longer than the buffer
}

func (in *reader) bad(format string, args ...any) error {
	return structured.BadInput("%s:%d: "+format, append([]any{in.name, in.number}, args...)...)
}

// line returns the next line without its end, or nil at the end of the file. The next call overwrites it.
func (in *reader) line() ([]byte, error) {
	in.long = in.long[:0]
	for {
		part, err := in.r.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			if in.long = append(in.long, part...); len(in.long) > longestWord+32*mostDims {
				in.number++
				return nil, in.bad("a line of more than %d bytes, expected a word and its vector", longestWord+32*mostDims)
			}
			continue
		case err == io.EOF && len(part)+len(in.long) == 0:
			return nil, nil
		case err != nil && err != io.EOF:
			return nil, structured.BadInput("%s: after line %d: %w", in.name, in.number, err)
		}
		in.number++
		if len(in.long) > 0 {
			in.long = append(in.long, part...)
			part = in.long
		}
		return bytes.TrimRight(part, " \t\r\n"), nil
	}
}

// sizes parses a header: the number of vectors and their length.
func sizes(line []byte) (count, dim int, ok bool) {
	first, second, two := strings.Cut(string(line[:min(len(line), 64)]), " ")
	count, err := strconv.Atoi(first)
	if !two || err != nil {
		return 0, 0, false
	}
	dim, err = strconv.Atoi(strings.TrimSpace(second))
	return count, dim, err == nil
}

// fields returns the number of fields of a line.
func fields(line []byte) int {
	n, inside := 0, false
	for _, b := range line {
		blank := b == ' ' || b == '\t'
		if !blank && !inside {
			n++
		}
		inside = !blank
	}
	return n
}

// isBinary reports whether what follows the first space or tab has bytes that text does not have in numbers.
func (in *reader) isBinary() (bool, error) {
	start, err := in.r.Peek(longestWord + 64)
	if err != nil && err != io.EOF {
		return false, structured.BadInput("%s: after line %d: %w", in.name, in.number, err)
	}
	space := bytes.IndexAny(start, " \t")
	if space < 0 {
		return false, nil
	}
	numbers := start[space:min(len(start), space+1+4*in.v.Dim)]
	return bytes.ContainsFunc(numbers, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r > '~'
	}), nil
}

// text reads the remaining lines; count is how many vectors there must be, or 0.
func (in *reader) text(count int) error {
	for {
		line, err := in.line()
		switch {
		case err != nil:
			return err
		case line == nil && count > 0 && in.v.Read != count:
			return structured.BadInput("%s: ends after %d vectors, expected %d, as line 1 says", in.name, in.v.Read, count)
		case line == nil:
			return nil
		case len(line) == 0:
			continue
		case count > 0 && in.v.Read == count:
			return in.bad("another vector, expected %d, as line 1 says", count)
		}
		if err := in.textVector(line); err != nil {
			return err
		}
	}
}

// textVector parses a line. A word may have spaces in it, as some of GloVe's do.
func (in *reader) textVector(line []byte) error {
	n := in.v.Dim + 1
	if bytes.Count(line, []byte(" ")) != in.v.Dim { // counting the blanks is faster, and enough for nearly all lines
		n = fields(line)
	}
	if n <= in.v.Dim {
		return in.bad("%d numbers after the word, expected %d", n-1, in.v.Dim)
	}
	in.v.Read++
	word, numbers := splitAt(line, n-in.v.Dim)
	if n > in.v.Dim+1 {
		if _, rest := splitAt(line, 1); numeric(rest) {
			return in.bad("%d numbers after the word, expected %d", n-1, in.v.Dim)
		}
	}
	if !in.takes(word) {
		return nil
	}
	for k := range in.v.Dim {
		var number []byte
		number, numbers = splitAt(numbers, 1)
		x, ok := host.Decimal(string(number), 32)
		if !ok {
			return in.bad("number %d of the word %q is %q, expected a finite decimal number", k+1, word, clip(number))
		}
		in.v.Rows = append(in.v.Rows, float32(x))
	}
	in.v.Words.AddBytes(word)
	return nil
}

// takes reports whether the word is wanted and new.
func (in *reader) takes(word []byte) bool {
	return in.wanted.IndexBytes(word) >= 0 && in.v.Words.IndexBytes(word) < 0
}

// splitAt returns the first n fields of a line, with the blanks between them, and the rest.
func splitAt(line []byte, n int) (start, rest []byte) {
	line = bytes.TrimLeft(line, " \t")
	at := 0
	for range n {
		for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
			at++
		}
		for at < len(line) && line[at] != ' ' && line[at] != '\t' {
			at++
		}
	}
	return line[:at], line[at:]
}

// numeric reports whether all fields are numbers.
func numeric(line []byte) bool {
	for len(bytes.TrimLeft(line, " \t")) > 0 {
		var number []byte
		number, line = splitAt(line, 1)
		if _, ok := host.Decimal(string(number), 64); !ok {
			return false
		}
	}
	return true
}

func clip(text []byte) []byte { return text[:min(len(text), 80)] }
