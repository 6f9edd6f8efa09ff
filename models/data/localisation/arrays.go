package localisation

import (
	"cmp"
	"errors"
	"strconv"
	"sync"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
)

// Arrays reads candidates with features or feature maps from an npz archive (arrays.Candidates). Features that do not
// fit in memory stay in the file.
func (o Options) Arrays(path string) (*structured.Dataset, error) {
	if o.Windows {
		return nil, structured.BadInput("%s: an npz archive has features of candidate boxes; a search "+
			"over windows reads images", path)
	}
	c, err := arrays.CandidateReader{Shape: o.Shape, Unlabeled: o.Unlabeled, Remarks: o.Remarks}.Open(path)
	if err != nil {
		return nil, err
	}
	s := &Set{Class: cmp.Or(o.Class, "object"), ClassID: cmp.Or(o.ClassID, 1), Boxes: c.Boxes, Offsets: c.Offsets}
	if of := c.Features.Shape(); len(of) == 3 {
		s.Map = [3]int{of[1], of[2], of[0]}
	}
	for i, size := range c.Sizes {
		m := Image{ID: int64(i + 1), Width: size[0], Height: size[1]}
		if c.IDs != nil {
			if id, err := strconv.ParseInt(c.IDs[i], 10, 64); err == nil {
				m.ID = id
			}
		}
		if c.Gold != nil {
			m.Gold = &boxes.Truth{Box: c.Gold[i]}
		}
		s.Images = append(s.Images, m)
	}
	d := s.outputs(path)
	if c.IDs != nil {
		d.IDs = c.IDs
	}
	d.Dim, d.Source = c.Features.Width(), &stored{rows: c.Features}
	if c.Faults != nil {
		if d, err = o.Remarks.Keep(d, func(i int) error { return c.Faults[i] }); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	if err := o.load(d); err != nil {
		return nil, err
	}
	if d.Features != nil {
		return d, c.Close()
	}
	return d, nil // the file stays open for the run
}

// stored gives the features in an archive. Maps, whose channels come first there, get them last.
type stored struct {
	rows    *arrays.Rows
	scratch sync.Pool // of *[]float32
}

func (s *stored) Read(dst []float32, from, to int) error {
	shape := s.rows.Shape()
	if err := s.rows.Read(dst, from, to); err != nil || len(shape) != 3 {
		return err
	}
	channels, cells := shape[0], shape[1]*shape[2]
	memory, _ := s.scratch.Get().(*[]float32)
	if memory == nil {
		memory = new([]float32)
		*memory = make([]float32, channels*cells)
	}
	defer s.scratch.Put(memory)
	first := *memory
	for ; from < to; from++ {
		row := dst[:channels*cells]
		copy(first, row)
		for c := range channels {
			for k, x := range first[c*cells : (c+1)*cells] {
				row[k*channels+c] = x
			}
		}
		dst = dst[channels*cells:]
	}
	return nil
}

func (s *stored) Fingerprint() (string, error) { return s.rows.Fingerprint() }
