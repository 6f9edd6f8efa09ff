package packed

import (
	"errors"
	"fmt"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// Part returns the entries of x whose column is in the part, in a mapped temporary file beside path. The file is gone
// when the process ends.
func Part(path string, x *structured.Sparse, in func(column int32) bool) (*structured.Sparse, error) {
	var r *rows
	part := &structured.Sparse{}
	for t := range len(x.Offsets) - 1 {
		index, value := x.Row(t)
		part.Index, part.Value = part.Index[:0], part.Value[:0]
		for k, column := range index {
			if !in(column) {
				continue
			}
			part.Index = append(part.Index, column)
			if value != nil {
				part.Value = append(part.Value, value[k])
			}
		}
		if value == nil {
			part.Value = nil
		}
		part.Offsets = append(part.Offsets[:0], 0, len(part.Index))
		var err error
		if r, err = r.add(path, part); err != nil {
			r.close()
			return nil, fmt.Errorf("a part of the attributes, beside %s: %w", path, err)
		}
	}
	if r == nil {
		return &structured.Sparse{Offsets: []int{0}}, nil
	}
	defer r.close()
	to := &structured.Sparse{}
	var err error
	if to.Offsets, err = mapSpill(r.offsets); err == nil {
		to.Index, err = mapSpill(r.index)
	}
	if err == nil && r.values != nil {
		to.Value, err = mapSpill(r.values)
	}
	return to, err
}

// mapSpill maps an array, which nobody changes any more, for the rest of the process.
func mapSpill[E elements](s *spill[E]) ([]E, error) {
	if err := s.w.Flush(); err != nil {
		return nil, err
	}
	if s.n == 0 {
		return []E{}, nil
	}
	if _, err := s.file.Seek(0, 0); err != nil {
		return nil, err
	}
	b, err := mapped(s.file, s.n*len(safetensors.Bytes(make([]E, 1))))
	if err != nil {
		return nil, err
	}
	x, err := view[E](b)
	if err != nil {
		return nil, errors.Join(err, unmap(b))
	}
	trim(b)
	return x, nil
}
