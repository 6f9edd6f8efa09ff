package text

import (
	"errors"
	"io"
	"os"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Beginning returns the first sequences of a text file, at most limit bytes, and the ratio of the file's length to
// theirs. For standard input, pipes and devices, whose length is unknown, it reads nothing and returns 0, as it does
// where the first sequence is longer: a part of it may be no sequence, or end inside of a line.
func Beginning(path string, limit int) (text []byte, times float64, err error) {
	info, err := os.Stat(path)
	if path == "-" || err == nil && !info.Mode().IsRegular() {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, structured.BadInput("%w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, structured.BadInput("%w", err)
	}
	packed := &countingReader{r: f}
	in, err := host.Unpack(packed, path)
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	text = make([]byte, limit)
	n, err := io.ReadFull(in, text)
	text = text[:n]
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return text, 1, nil
	case err != nil:
		return nil, 0, structured.BadInput("%s: %w", path, err)
	}
	text = text[:afterBlank(text, 0)]
	if len(text) == 0 {
		return nil, 0, nil
	}
	return text, max(1, float64(info.Size())/float64(packed.n)*float64(n)/float64(len(text))), nil
}

// countingReader counts the bytes read.
type countingReader struct {
	r io.ReadCloser
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *countingReader) Close() error { return c.r.Close() }
