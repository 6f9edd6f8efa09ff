package text

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"unsafe"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// blockSize is the number of bytes that are parsed at a time; a longer sequence makes its block longer. Tests change
// it.
var blockSize = 1 << 20

// A block is a piece of a text file that ends with a blank line or with the file, so that it holds whole sequences.
type block struct {
	text string
	line int // number of its first line, from 1

	leftOut map[int]bool // numbers of lines of sequences that are left out
}

// lines yields every line with its number and without its end ("\n" or "\r\n").
func (b block) lines() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		number := b.line
		for text := b.text; text != ""; number++ {
			line := text
			if end := strings.IndexByte(text, '\n'); end >= 0 {
				line, text = text[:end], text[end+1:]
			} else {
				text = ""
			}
			if n := len(line); n > 0 && line[n-1] == '\r' {
				line = line[:n-1]
			}
			if !yield(number, line) {
				return
			}
		}
	}
}

// A place is a line of a file, for messages.
type place struct {
	file string
	line int // from 1
}

// bad returns a BadInput error about the line.
func (p *place) bad(format string, args ...any) error {
	return &lineError{structured.BadInput("%s:%d: "+format, append([]any{p.file, p.line}, args...)...), p.line}
}

// lineError is an error about a line.
type lineError struct {
	error
	line int
}

func (e *lineError) Unwrap() error { return e.error }

// checkLabel checks that a label is in the alphabet. A nil alphabet accepts every label.
func (p *place) checkLabel(label string, labels *structured.Alphabet) error {
	if labels == nil || labels.Index(label) >= 0 {
		return nil
	}
	return p.bad("label %q is not one of the known ones: %s", label, structured.SomeOf(labels.Names()))
}

const blanks = " \t\r\v\f"

// IsBlank reports whether a line is white space, of ASCII: an ideographic space or one that does not break may be a
// token.
func IsBlank[S string | []byte](line S) bool {
	for i := range len(line) {
		if strings.IndexByte(blanks, line[i]) < 0 {
			return false
		}
	}
	return true
}

// blocks splits a text file into blocks.
type blocks struct {
	r          io.Reader
	name       string
	line       int    // number of the first line in rest
	held       string // the whole file, if it is short and in memory: the first block
	rest       []byte // read, but not yet in a block
	end        bool   // the file has been read to its end
	size       int    // minimum bytes per block
	pushedBack []block
}

func newBlocks(r io.Reader, name string) *blocks {
	c := &blocks{r: r, name: name, line: 1, size: blockSize}
	if text, ok := r.(interface{ Len() int }); ok { // in memory
		c.size = min(c.size, text.Len()+1)
	}
	if text, ok := r.(*inMemory); ok && len(text.all) < blockSize {
		c.held = text.all
	}
	return c
}

// inMemory reads a text that is in memory, which blocks can have without a copy.
type inMemory struct {
	*strings.Reader
	all string
}

// InMemory returns a reader of a text that nobody changes any more: what is read from it keeps parts of it.
func InMemory(text []byte) io.Reader {
	all := unsafe.String(unsafe.SliceData(text), len(text))
	return &inMemory{strings.NewReader(all), all}
}

// from sets the number of the first line that is read; 0 means 1.
func (c *blocks) from(line int) *blocks {
	c.line = max(1, line)
	return c
}

// unread pushes b back, so that next returns it again.
func (c *blocks) unread(b block) { c.pushedBack = append(c.pushedBack, b) }

// next returns the next block, without a byte-order mark. It returns false at the end of the file.
func (c *blocks) next() (block, bool, error) {
	if n := len(c.pushedBack); n > 0 {
		b := c.pushedBack[n-1]
		c.pushedBack = c.pushedBack[:n-1]
		return b, true, nil
	}
	text, err := c.take()
	if text == "" || err != nil {
		return block{}, false, err
	}
	b := block{text: text, line: c.line}
	c.line += strings.Count(text, "\n")
	if b.line == 1 {
		if err := CheckText(c.name, b.text); err != nil {
			return block{}, false, err
		}
		b.text = strings.TrimPrefix(b.text, "\xef\xbb\xbf")
	}
	return b, true, nil
}

// take returns the next whole sequences of the file, nothing at its end.
func (c *blocks) take() (string, error) {
	if text := c.held; text != "" {
		c.held, c.end = "", true
		return text, nil
	}
	cut, checked := 0, 0 // the lines of rest[:checked] are not blank
	for want := c.size; !c.end && cut == 0; want *= 2 {
		if err := c.fill(want); err != nil {
			return "", err
		}
		cut = afterBlank(c.rest, checked)
		checked = bytes.LastIndexByte(c.rest, '\n') + 1
	}
	if c.end {
		cut = len(c.rest)
	}
	text := string(c.rest[:cut])
	c.rest = c.rest[:copy(c.rest, c.rest[cut:])]
	return text, nil
}

// fill reads until rest has want bytes or the file ends.
func (c *blocks) fill(want int) error {
	if cap(c.rest) < want {
		c.rest = append(make([]byte, 0, want), c.rest...)
	}
	for len(c.rest) < want {
		n, err := c.r.Read(c.rest[len(c.rest):want])
		c.rest = c.rest[:len(c.rest)+n]
		switch {
		case errors.Is(err, io.EOF):
			c.end = true
			return nil
		case err != nil:
			return structured.BadInput("%s: after line %d: %w", c.name, c.line-1+bytes.Count(c.rest, []byte{'\n'}), err)
		}
	}
	return nil
}

// afterBlank returns the end of the last blank line that starts at or after from, itself the start of a line; 0 if
// there is none.
func afterBlank(text []byte, from int) int {
	for end := bytes.LastIndexByte(text, '\n') + 1; end > from; {
		start := bytes.LastIndexByte(text[:end-1], '\n') + 1
		if IsBlank(text[start : end-1]) {
			return end
		}
		end = start
	}
	return 0
}

// without leaves the sequence out that has a line, or ends at it: the lines around it up to those that are blank.
func (b *block) without(line int) {
	sequence := []int{}
	for number, text := range b.lines() {
		if !IsBlank(text) {
			sequence = append(sequence, number)
		} else if number >= line {
			break
		} else {
			sequence = sequence[:0]
		}
	}
	if b.leftOut == nil {
		b.leftOut = map[int]bool{line: true}
	}
	for _, number := range sequence {
		b.leftOut[number] = true
	}
}

// parsed is what a block holds, and why sequences of it are left out.
type parsed[T any] struct {
	part T
	bad  []error
}

// parseBlocks parses blocks on several threads (0: all cores) with one parser per thread, and passes the results to
// merge in file order, on the calling goroutine. It stops at the first error in file order, unless say leaves bad
// sequences out.
func parseBlocks[T any](c *blocks, threads int, say *remarks.Remarks, newParser func() func(block) (T, error),
	merge func(T) error) error {
	parse := func(parse func(block) (T, error), b block) (p parsed[T], err error) {
		for {
			p.part, err = parse(b)
			var at *lineError
			if !say.Skips() || !errors.As(err, &at) || b.leftOut[at.line] {
				return p, err
			}
			p.bad = append(p.bad, err)
			b.without(at.line)
		}
	}
	return host.InOrder(context.Background(), threads, c.next, newParser, parse, func(p parsed[T]) error {
		for _, err := range p.bad {
			if err := say.Bad(err); err != nil {
				return err
			}
		}
		return merge(p.part)
	})
}

// CheckText refuses a file whose beginning shows that it is no text, or text of two bytes per character.
func CheckText[S string | []byte](name string, beginning S) error {
	line, _, _ := strings.Cut(string(beginning[:min(len(beginning), 1<<12)]), "\n")
	switch {
	case strings.HasPrefix(line, "\xff\xfe") || strings.HasPrefix(line, "\xfe\xff"):
		return structured.BadInput("%s: UTF-16, expected UTF-8; convert it first, for instance with iconv -f utf-16 -t utf-8",
			name)
	case strings.IndexByte(line, 0) >= 0:
		return structured.BadInput("%s: binary data, expected text", name)
	}
	return host.CheckText(name, beginning)
}
