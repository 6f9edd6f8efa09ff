package text

import (
	"bytes"
	"cmp"
	"errors"
	"io"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// ChunkSize is how many bytes a chunk has, unless Chunks.Size says otherwise.
const ChunkSize = 1 << 16

// A Chunk is a chunk of a text file that ends with a blank line, or any line, or with the file: no sequence crosses its
// ends.
type Chunk struct {
	Text []byte
	Line int // the number of its first line, from 1
}

// Chunks cuts a text file into chunks as it arrives. It does not wait for more than one sequence, so that sequences
// piped in one by one can be answered one by one.
type Chunks struct {
	r    io.Reader
	name string
	line int    // the number of the line that rest starts with
	rest []byte // read, but not in a chunk yet
	end  bool

	// Size is how many bytes a chunk has, unless a sequence is longer or less has arrived; 0: ChunkSize.
	Size int

	// Most is how many lines a sequence has at most; 0: any number. It keeps a stream without blank lines from taking
	// all memory.
	Most  int
	lines int // of rest behind empty

	last  int // where in rest its last line begins
	empty int // up to where rest has no tokens, at the end of a line

	byLine   bool   // every line is a sequence
	comments string // what lines start with that are no tokens, or may be none; empty: no line does
}

// NewChunks cuts r, whose name is for messages. comments are those of Conll.Comments: a chunk has more than comments,
// unless it is the last one.
func NewChunks(r io.Reader, name, comments string) *Chunks {
	p := &Chunks{r: r, name: name, line: 1, comments: cmp.Or(comments, hash)}
	if comments == NoComments {
		p.comments = ""
	}
	return p
}

// NewLines cuts r, whose name is for messages, after any line.
func NewLines(r io.Reader, name string) *Chunks {
	return &Chunks{r: r, name: name, line: 1, byLine: true}
}

// Next returns the next chunk, also the first one of an empty file. It is false at the end of the file.
func (p *Chunks) Next() (Chunk, bool, error) {
	if p.end {
		return Chunk{}, false, nil
	}
	chunk, size := Chunk{Line: p.line}, cmp.Or(p.Size, ChunkSize)
	for cut := 0; cut == 0; {
		seen, old := p.last, len(p.rest) // no blank line ends before the last line; every byte is looked at once
		if free := cap(p.rest) - len(p.rest); free < size/2 {
			p.rest = append(make([]byte, 0, 2*cap(p.rest)+size), p.rest...)
		}
		n, err := p.r.Read(p.rest[len(p.rest):cap(p.rest)])
		p.rest = p.rest[:len(p.rest)+n]
		p.lines += bytes.Count(p.rest[old:], []byte{'\n'})
		if end := bytes.LastIndexByte(p.rest[old:], '\n') + 1; end > 0 {
			p.last = old + end
		}
		switch {
		case errors.Is(err, io.EOF):
			p.end = true
			chunk.Text = p.rest
			return chunk, true, nil
		case err != nil:
			return chunk, false, structured.BadInput("%s: after line %d: %w", p.name, p.line-1+bytes.Count(p.rest, []byte{'\n'}),
				err)
		}
		if len(p.rest)-p.last > host.MostLine {
			line := p.line + bytes.Count(p.rest[:p.last], []byte{'\n'})
			return chunk, false, structured.BadInput("%s:%d: a line of more than %d MiB, expected shorter ones",
				p.name, line, host.MostLine>>20)
		}
		if p.byLine {
			cut = p.last
		} else if cut = afterBlankLine(p.rest[:p.last], seen); cut > 0 && !p.hasTokens(p.rest[p.empty:cut]) {
			p.empty, p.lines, cut = cut, bytes.Count(p.rest[cut:], []byte{'\n'}), 0 // what precedes a token belongs to its chunk
		}
		if cut == 0 && p.Most > 0 && !p.byLine && p.lines > p.Most {
			return chunk, false, structured.BadInput("%s:%d: more than %d lines without a blank one, expected shorter "+
				"sequences; --max-words N takes longer ones",
				p.name, p.line+bytes.Count(p.rest[:p.empty], []byte{'\n'}), p.Most)
		}
		chunk.Text = p.rest[:cut:cut]
	}
	p.line += bytes.Count(chunk.Text, []byte{'\n'})
	p.rest = append(make([]byte, 0, size), p.rest[len(chunk.Text):]...)
	p.last, p.empty, p.lines = p.last-len(chunk.Text), 0, bytes.Count(p.rest, []byte{'\n'})
	return chunk, true, nil
}

// afterBlankLine returns where the last blank line ends that starts at or after from, the start of a line; 0 if there
// is none.
func afterBlankLine(text []byte, from int) int {
	for end := bytes.LastIndexByte(text, '\n') + 1; end > from; {
		start := bytes.LastIndexByte(text[:end-1], '\n') + 1
		if IsBlank(text[start : end-1]) {
			return end
		}
		end = start
	}
	return 0
}

// Halves parts a chunk between two sequences, about in the middle; false if it has only one. With lines, every line is
// a sequence.
func (p Chunk) Halves(lines bool) (first, second Chunk, several bool) {
	best, number := 0, 0 // where the second half begins, and its line
	for at, line := 0, p.Line; at < len(p.Text); {
		end := bytes.IndexByte(p.Text[at:], '\n') + 1
		if end == 0 {
			break
		}
		blank := IsBlank(p.Text[at : at+end-1])
		at += end
		line++
		after := p.Text[at:]
		if next, _, _ := bytes.Cut(after, []byte{'\n'}); !lines && (!blank || IsBlank(next)) || len(after) == 0 ||
			!lines && len(bytes.Trim(p.Text[:at], blanks+"\n")) == 0 {
			continue
		}
		if far := func(at int) int { return max(2*at-len(p.Text), len(p.Text)-2*at) }; best == 0 || far(at) < far(best) {
			best, number = at, line
		}
	}
	return Chunk{p.Text[:best:best], p.Line}, Chunk{p.Text[best:], number}, best > 0
}

// hasTokens reports whether a text in columns has more than blank lines, document separators and what may be comments.
func (p *Chunks) hasTokens(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if !IsBlank(line) && !docStart(string(line)) && (p.comments == "" || !bytes.HasPrefix(line, []byte(p.comments))) {
			return true
		}
	}
	return false
}
