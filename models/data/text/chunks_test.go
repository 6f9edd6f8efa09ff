package text

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// Chunks concatenate to the file, are cut only after blank lines, and have the right line numbers, however the file is
// read.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(
			rapid.SampledFrom([]string{"a O", "", " ", "b B-X", "\r", strings.Repeat("x", 700) + " O"})).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		var r io.Reader = strings.NewReader(strings.Repeat(text, rapid.SampledFrom([]int{1, 300}).Draw(t, "times")))
		whole, _ := io.ReadAll(r)
		switch rapid.IntRange(0, 2).Draw(t, "reader") {
		case 0:
			r = bytes.NewReader(whole)
		case 1:
			r = iotest.HalfReader(bytes.NewReader(whole))
		case 2:
			r = iotest.DataErrReader(bytes.NewReader(whole))
		}
		in, line := NewChunks(r, "x", ""), 1
		var got []byte
		for {
			b, ok, err := in.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			if b.Line != line {
				t.Fatalf("line %d, want %d", b.Line, line)
			}
			got = append(got, b.Text...)
			if n := len(got); n < len(whole) {
				last := bytes.LastIndexByte(got[:n-1], '\n') + 1
				if got[n-1] != '\n' || len(bytes.TrimSpace(got[last:])) > 0 {
					t.Fatalf("cut after %q", got[last:])
				}
			}
			line += bytes.Count(b.Text, []byte("\n"))
		}
		if !bytes.Equal(got, whole) {
			t.Fatalf("%d bytes in pieces, of %d", len(got), len(whole))
		}
	})
}

// An ideographic space or one that does not break is a token, and no blank line: a sequence is not cut behind it.
func TestSpacesAreTokens(t *testing.T) {
	for _, space := range []string{"\u3000", "\u00a0", "\u2028", "\u0085"} {
		sentence := "a\n" + space + "\nb\n"
		in := NewChunks(strings.NewReader(sentence), "x", "")
		if c, _, err := in.Next(); err != nil || string(c.Text) != sentence {
			t.Errorf("%q: the first chunk is %q, %v", space, c.Text, err)
		}
		if _, _, several := (Chunk{Text: []byte(sentence)}).Halves(false); several {
			t.Errorf("%q: a sentence has halves", space)
		}
		first, second, several := Chunk{Text: []byte(sentence + "\n" + sentence)}.Halves(false)
		if !several || string(first.Text) != sentence+"\n" || string(second.Text) != sentence {
			t.Errorf("%q: halves are %q and %q", space, first.Text, second.Text)
		}
		known := func(label string) bool { return label == "det" || label == "num" }
		columns, _ := ParseColumns(DefaultColumns)
		if line, _, found := Prose([]byte("le det\n10"+space+"000 num\n"), columns, 2, "", known); found {
			t.Errorf("%q: %q is raw text", space, line)
		}
		d, err := Conll{}.Read(strings.NewReader("le det\n10"+space+"000 num\n"+space+" num\n"), "x")
		if err != nil || d.Len() != 1 || strings.Join(d.Columns[0], "|") != "le|10"+space+"000|"+space {
			t.Errorf("%q: %v, %v", space, d, err)
		}
	}
}
