package packed

import (
	"bufio"
	"io"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// rows is a sparse matrix that grows in temporary files.
type rows struct {
	offsets *spill[int]
	index   *spill[int32]
	values  *spill[float32] // nil as long as all are 1
}

// add appends rows, and returns the matrix, which is nil before the first of them. Either all data sets have such rows
// or none.
func (r *rows) add(path string, s *structured.Sparse) (*rows, error) {
	if s == nil {
		return r, nil
	}
	if r == nil {
		r = &rows{}
		var err error
		if r.offsets, err = newSpill[int](path); err == nil {
			r.index, err = newSpill[int32](path)
		}
		if err == nil {
			err = r.offsets.add(0)
		}
		if err != nil {
			r.close()
			return nil, err
		}
	}
	before := r.index.n
	for _, end := range s.Offsets[1:] {
		if err := r.offsets.add(before + end); err != nil {
			return r, err
		}
	}
	if err := r.index.add(s.Index...); err != nil {
		return r, err
	}
	if s.Value == nil && r.values == nil {
		return r, nil
	}
	if r.values == nil {
		var err error
		if r.values, err = newSpill[float32](path); err == nil {
			err = r.values.fill(1, before)
		}
		if err != nil {
			return r, err
		}
	}
	if s.Value == nil {
		return r, r.values.fill(1, len(s.Index))
	}
	return r, r.values.add(s.Value...)
}

// finish puts the matrix into f, with the final numbers of its columns.
func (r *rows) finish(f *safetensors.File, name string, numbers []int32) error {
	if r == nil {
		return nil
	}
	if numbers == nil {
		addLazy(f, offsetsOf(name), r.offsets, nil)
		addLazy(f, name, r.index, nil)
		if r.values != nil {
			addLazy(f, valuesOf(name), r.values, nil)
		}
		return nil
	}
	kept := 0
	err := r.each(numbers, func() error { return nil }, func(int32, float32) error { kept++; return nil })
	if err != nil {
		return err
	}
	addLazyOf(f, offsetsOf(name), "I64", r.offsets.n, func(w io.Writer) error {
		out, end := bufio.NewWriterSize(w, spillBuffer), 0
		err := r.each(numbers, func() error {
			_, err := out.Write(safetensors.Bytes([]int{end}))
			return err
		}, func(int32, float32) error { end++; return nil })
		if err != nil {
			return err
		}
		return out.Flush()
	})
	addLazyOf(f, name, "I32", kept, func(w io.Writer) error { return r.index.copyTo(w, numbering(numbers)) })
	if r.values != nil {
		addLazyOf(f, valuesOf(name), "F32", kept, func(w io.Writer) error {
			out := bufio.NewWriterSize(w, spillBuffer)
			err := r.each(numbers, func() error { return nil }, func(_ int32, v float32) error {
				_, err := out.Write(safetensors.Bytes([]float32{v}))
				return err
			})
			if err != nil {
				return err
			}
			return out.Flush()
		})
	}
	return nil
}

// each calls row at the beginning of the matrix and after each row, and entry for every entry that has a number.
func (r *rows) each(numbers []int32, row func() error, entry func(number int32, value float32) error) error {
	ends, err := stepper(r.offsets)
	if err != nil {
		return err
	}
	index, err := stepper(r.index)
	if err != nil {
		return err
	}
	value := func() (float32, error) { return 1, nil }
	if r.values != nil {
		if value, err = stepper(r.values); err != nil {
			return err
		}
	}
	at := 0
	for range r.offsets.n {
		end, err := ends()
		if err != nil {
			return err
		}
		for ; at < end; at++ {
			k, err := index()
			if err != nil {
				return err
			}
			v, err := value()
			if err != nil {
				return err
			}
			if numbers[k] >= 0 {
				if err := entry(numbers[k], v); err != nil {
					return err
				}
			}
		}
		if err := row(); err != nil {
			return err
		}
	}
	return nil
}

// stepper returns the numbers of an array one by one.
func stepper[E elements](s *spill[E]) (func() (E, error), error) {
	next, err := s.reader()
	var piece []E
	return func() (v E, err error) {
		if len(piece) == 0 {
			if piece, err = next(); err != nil || len(piece) == 0 {
				if err == nil {
					err = io.ErrUnexpectedEOF
				}
				return v, err
			}
		}
		v, piece = piece[0], piece[1:]
		return v, nil
	}, err
}

func (r *rows) close() {
	if r != nil {
		r.offsets.close()
		r.index.close()
		r.values.close()
	}
}
