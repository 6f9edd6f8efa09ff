package exchange

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/dsp-go/dsp/models/config"
)

// Attributes are written until the context ends, and no further.
func TestWritingEnds(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	w := until{ctx, io.Discard}
	if n, err := w.Write([]byte("O\ta\n")); n != 4 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	end()
	if _, err := w.Write([]byte("O\ta\n")); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	c := config.Default()
	c.Task, c.Train = "tag", t.TempDir()+"/none.conll"
	if _, err := WriteAttributes(t.Context(), c, t.TempDir()+"/a"); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a missing file: %v", err)
	}
}
