package models

import (
	"bytes"
	"errors"
	"io"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/text"
)

// textBlockSize is how many bytes of text are labelled at a time, unless a sequence is longer or less has arrived.
const textBlockSize = 1 << 16

// A textBlock is a piece of a text file that ends with a blank line, or with the file: no sequence crosses its ends.
type textBlock struct {
	text []byte
	line int // the number of its first line, from 1
}

// textBlocks cuts a text file into blocks. It does not wait for more than one sequence, so that sequences piped in
// one by one are answered one by one.
type textBlocks struct {
	r    io.Reader
	name string
	line int    // the number of the line that rest starts with
	rest []byte // read, but not in a block yet
	end  bool
}

func newTextBlocks(r io.Reader, name string) *textBlocks {
	return &textBlocks{r: r, name: name, line: 1}
}

// next returns the next block, also the first one of an empty file. It is false at the end of the file.
func (b *textBlocks) next() (textBlock, bool, error) {
	if b.end {
		return textBlock{}, false, nil
	}
	block := textBlock{line: b.line}
	for cut := 0; cut == 0; {
		seen := bytes.LastIndexByte(b.rest, '\n') + 1 // no blank line ends before
		if free := cap(b.rest) - len(b.rest); free < textBlockSize/2 {
			b.rest = append(make([]byte, 0, 2*cap(b.rest)+textBlockSize), b.rest...)
		}
		n, err := b.r.Read(b.rest[len(b.rest):cap(b.rest)])
		b.rest = b.rest[:len(b.rest)+n]
		switch {
		case errors.Is(err, io.EOF):
			b.end = true
			block.text = b.rest
			return block, true, nil
		case err != nil:
			return block, false, structured.BadInput("%s: after line %d: %w", b.name, b.line-1+bytes.Count(b.rest, []byte{'\n'}), err)
		}
		if cut = afterBlankLine(b.rest, seen); !text.HasConllTokens(b.rest[:cut]) {
			cut = 0 // what precedes a token belongs to its block
		}
		block.text = b.rest[:cut:cut]
	}
	b.line += bytes.Count(block.text, []byte{'\n'})
	b.rest = append(make([]byte, 0, textBlockSize), b.rest[len(block.text):]...)
	return block, true, nil
}

// afterBlankLine returns where the last blank line ends that starts at or after from, the start of a line; 0 if there is
// none.
func afterBlankLine(text []byte, from int) int {
	for end := bytes.LastIndexByte(text, '\n') + 1; end > from; {
		start := bytes.LastIndexByte(text[:end-1], '\n') + 1
		if len(bytes.TrimSpace(text[start:end])) == 0 {
			return end
		}
		end = start
	}
	return 0
}
