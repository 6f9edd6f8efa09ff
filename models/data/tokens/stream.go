package tokens

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/structured"
)

// Chunk is a chunk of a text that no sentence crosses the ends of.
type Chunk struct {
	Text  string
	Start int // in characters of the whole text
	Line  int // of its beginning, from 1
}

// Chunks cuts a text into chunks as it arrives: behind every empty line that it has read and, where paragraphs are
// long, behind sentences. It does not wait for more than a paragraph, so that paragraphs piped in one by one can be
// answered one by one.
type Chunks struct {
	r     io.Reader
	name  string
	rules Rules
	rest  []byte // read, but not in a chunk yet
	start int
	line  int
	end   bool
}

// NewChunks cuts r, whose name is for messages. The sentences of the chunks are those that the rules find in the whole
// text.
func NewChunks(r io.Reader, name string, rules Rules) *Chunks {
	return &Chunks{r: r, name: name, rules: rules, line: 1}
}

// readSize is how many bytes are read at a time, and longParagraph how many a paragraph has before it is cut between
// sentences. Tests change them.
var readSize, longParagraph = 1 << 16, 1 << 19

// Next returns the next chunk. It is false at the end of the text. Text that is not UTF-8 is bad input.
func (p *Chunks) Next() (Chunk, bool, error) {
	if p.end {
		return Chunk{}, false, nil
	}
	for {
		seen := len(p.rest)
		p.rest = slices.Grow(p.rest, readSize)[:seen+readSize]
		n, err := p.r.Read(p.rest[seen:])
		p.rest = p.rest[:seen+n]
		switch {
		case errors.Is(err, io.EOF):
			p.end = true
			return p.take(len(p.rest))
		case err != nil:
			return Chunk{}, false,
				structured.BadInput("%s: after line %d: %w", p.name, p.line+bytes.Count(p.rest, []byte{'\n'}), err)
		}
		cut := p.lastParagraph(seen)
		if cut == 0 && len(p.rest) >= longParagraph {
			cut = p.lastSentence()
		}
		if cut > 0 {
			return p.take(cut)
		}
	}
}

// lastParagraph returns where the last paragraph ends that is complete, 0 if none is. None ends before the line with
// byte seen.
func (p *Chunks) lastParagraph(seen int) int {
	from := bytes.LastIndexByte(p.rest[:seen], '\n') + 1
	for end := bytes.LastIndexByte(p.rest, '\n') + 1; end > from; {
		start := bytes.LastIndexByte(p.rest[:end-1], '\n') + 1
		if p.rules.Lines || len(bytes.TrimFunc(p.rest[start:end], Invisible)) == 0 {
			return end
		}
		end = start
	}
	return 0
}

// lastSentence returns where a sentence ends that more text does not change: the last but two.
func (p *Chunks) lastSentence() int {
	text := p.rest
	for k := len(text) - 1; k >= max(0, len(text)-utf8.UTFMax); k-- {
		if utf8.RuneStart(text[k]) {
			if !utf8.FullRune(text[k:]) {
				text = text[:k]
			}
			break
		}
	}
	whole := spaces.Replace(string(text))
	var ends [3]int // of the last sentences
	for end := 0; end < len(whole); {
		end += sentenceEnd(whole[end:])
		ends[0], ends[1], ends[2] = ends[1], ends[2], end
	}
	return ends[0]
}

// take returns the first bytes of the rest as a chunk.
func (p *Chunks) take(n int) (Chunk, bool, error) {
	chunk := Chunk{string(p.rest[:n]), p.start, p.line}
	if !utf8.ValidString(chunk.Text) {
		valid := 0
		for r, size := utf8.DecodeRuneInString(chunk.Text); r != utf8.RuneError ||
			size != 1; r, size = utf8.DecodeRuneInString(chunk.Text[valid:]) {
			valid += size
		}
		return Chunk{}, false,
			structured.BadInput("%s:%d: byte %#x is not UTF-8; convert the text first, for instance with "+
				"iconv -f latin1 -t utf-8",
				p.name, p.line+strings.Count(chunk.Text[:valid], "\n"), chunk.Text[valid])
	}
	p.start += utf8.RuneCountInString(chunk.Text)
	p.line += strings.Count(chunk.Text, "\n")
	p.rest = append([]byte(nil), p.rest[n:]...)
	return chunk, true, nil
}
