package text

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// repeated reads a text again and again, n bytes of it.
type repeated struct {
	text string
	n    int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.n <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && r.n > 0 {
		k := copy(p[n:], r.text)
		n, r.n = n+k, r.n-k
	}
	return n, nil
}

// all reads all pieces.
func all(p *Chunks) (text []byte, pieces int, err error) {
	for {
		piece, more, err := p.Next()
		if err != nil || !more {
			return text, pieces, err
		}
		text, pieces = append(text, piece.Text...), pieces+1
	}
}

// A long line, many blank lines and a long sequence come whole.
func TestPiecesOfLongText(t *testing.T) {
	for _, text := range []string{"\x00", "\n", "a\n", "# c\n"} {
		const size = 8 << 20
		if got, _, err := all(NewChunks(&repeated{text, size}, "x", "")); err != nil || len(got) < size {
			t.Errorf("%q: %d bytes, %v", text, len(got), err)
		}
	}
}

// A line that is too long, and a stream without blank lines that is, are refused with their line.
func TestPiecesRefuseLongText(t *testing.T) {
	for text, want := range map[string]string{"a": "x:3: a line of more than 64 MiB",
		"a\n": "x:3: more than 1000 lines without a blank one"} {
		p := NewChunks(io.MultiReader(strings.NewReader("a\n\n"), &repeated{text, host.MostLine + 1<<20}), "x", "")
		p.Most = 1000
		if _, _, err := all(p); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	p := NewChunks(strings.NewReader(strings.Repeat(strings.Repeat("a\n", 900)+"\n", 100)+strings.Repeat("\n", 5000)+
		"b\n"), "x", "")
	p.Most = 1000
	if got, _, err := all(p); err != nil || !bytes.HasSuffix(got, []byte("\nb\n")) {
		t.Errorf("short sequences: %v", err)
	}
	lines := host.NewLines(&repeated{"a", host.MostLine + 1<<20}, "x")
	for more := true; more; {
		_, more = lines.Next()
	}
	if err := lines.Err(); !structured.IsBadInput(err) || errors.Is(err, io.EOF) ||
		!strings.HasPrefix(err.Error(), "x:1: a line of more than 64 MiB") {
		t.Errorf("lines: %v", err)
	}
}
