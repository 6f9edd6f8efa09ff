package packed

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// spill is an array that grows in a temporary file beside the pack that it becomes a part of.
type spill[E elements] struct {
	file *os.File
	w    *bufio.Writer
	n    int // numbers written
}

const spillBuffer = 1 << 18 // bytes

// newSpill begins an array for a pack at path.
func newSpill[E elements](path string) (*spill[E], error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // where the system allows it, nothing is left behind, whatever happens
	return &spill[E]{file: f, w: bufio.NewWriterSize(f, spillBuffer)}, nil
}

// add appends numbers.
func (s *spill[E]) add(x ...E) error {
	s.n += len(x)
	_, err := s.w.Write(safetensors.Bytes(x))
	return err
}

// fill appends n times the same number.
func (s *spill[E]) fill(v E, n int) error {
	for range n {
		if err := s.add(v); err != nil {
			return err
		}
	}
	return nil
}

// reader returns what the array holds, as pieces that each read overwrites. The last one is empty.
func (s *spill[E]) reader() (next func() ([]E, error), err error) {
	if err := s.w.Flush(); err != nil {
		return nil, err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	b := aligned(spillBuffer)
	return func() ([]E, error) {
		n, err := io.ReadFull(s.file, b)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		if err != nil {
			return nil, err
		}
		return view[E](b[:n])
	}, nil
}

// copyTo writes the array, each number changed by change unless that is nil; negative numbers are left out then.
func (s *spill[E]) copyTo(w io.Writer, change func(E) E) error {
	next, err := s.reader()
	if err != nil {
		return err
	}
	for {
		x, err := next()
		if err != nil || len(x) == 0 {
			return err
		}
		if change != nil {
			kept := x[:0]
			for _, v := range x {
				if v = change(v); v >= 0 {
					kept = append(kept, v)
				}
			}
			x = kept
		}
		if _, err := w.Write(safetensors.Bytes(x)); err != nil {
			return err
		}
	}
}

// close removes the array.
func (s *spill[E]) close() {
	if s != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}
