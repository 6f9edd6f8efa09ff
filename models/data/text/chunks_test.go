package text

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// Chunks concatenate to the file, are cut only after blank lines, and have the right line numbers, however the file is read.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"a O", "", " ", "b B-X", "\r", strings.Repeat("x", 700) + " O"})).Draw(t, "lines")
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
