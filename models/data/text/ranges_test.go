package text

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A range begins after the first blank line that begins at or after a place, or where the file begins or ends.
func TestAfterBlank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := strings.Repeat("x", 1<<16)
		content := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a O\n", "\n", " \r\n", "b O\r\n", long + "\n", strings.Repeat(" ", 1<<16) + "\n"})).Draw(t, "lines"), "")
		content += rapid.SampledFrom([]string{"", "c O", " "}).Draw(t, "end")
		at := rapid.IntRange(0, len(content)).Draw(t, "at")
		want, begin := int64(len(content)), 0
		if at == 0 {
			want = 0
		}
		for line := range strings.Lines(content) {
			if at > 0 && begin >= at && strings.HasSuffix(line, "\n") && strings.TrimSpace(line) == "" {
				want = int64(begin + len(line))
				break
			}
			begin += len(line)
		}
		if got, err := AfterBlank(strings.NewReader(content), int64(len(content)), int64(at)); err != nil || got != want {
			t.Errorf("at %d: %d and %v, expected %d", at, got, err, want)
		}
	})
}

// The first lines of a text have as many bytes as they have, and lines without an end do not count.
func TestBytesOfLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"\n", "a\n", strings.Repeat("b", 1<<15) + "\n"})).Draw(t, "lines")
		content := strings.Join(lines, "") + rapid.SampledFrom([]string{"", "c"}).Draw(t, "end")
		read := func() *bufio.Reader {
			return bufio.NewReaderSize(bytes.NewReader([]byte(content)), rapid.IntRange(16, 1<<17).Draw(t, "pieces"))
		}
		if n, err := CountLines(read()); err != nil || n != len(lines) {
			t.Errorf("%d lines and %v, expected %d", n, err, len(lines))
		}
		first := rapid.IntRange(0, len(lines)+1).Draw(t, "first")
		want := len(content)
		if first <= len(lines) {
			want = len(strings.Join(lines[:first], ""))
		}
		if n, err := BytesOf(read(), first); err != nil || n != int64(want) {
			t.Errorf("%d bytes in %d lines and %v, expected %d", n, first, err, want)
		}
	})
}
