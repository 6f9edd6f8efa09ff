package segmentation

import (
	"github.com/dsp-go/dsp/models/data/masks"
	"github.com/dsp-go/dsp/structured"
)

// Set is what a data set keeps of its images: the TaskData of those that Reader.Read makes with all regions.
type Set struct {
	reader  Reader
	source  Source
	numbers []int // of the examples, in the source
}

// Of returns the set that d belongs to, nil if d lacks some regions of its images.
func Of(d *structured.Dataset) *Set {
	s, _ := d.TaskData.(*Set)
	return s
}

// Load reads the image of example i again, and its mask if there is one.
func (s *Set) Load(i int) (Example, error) { return s.reader.load(s.source, s.numbers[i]) }

// Values are those of the labels in files.
func (s *Set) Values() *masks.Values { return s.reader.Values }

// Paint returns the mask that the labels of the regions of example e make, and for every pixel what values [regions]
// has for its region, if it is not nil.
func (s *Set) Paint(e Example, y []int32, values []float32) (*masks.Mask, []float32) {
	p := s.reader.partition(e.Image)
	if values != nil {
		values = p.Spread(values)
	}
	return p.Paint(y), values
}

func (s *Set) Subset(_ *structured.Dataset, examples []int) structured.TaskData {
	some := &Set{reader: s.reader, source: s.source}
	for _, i := range examples {
		some.numbers = append(some.numbers, s.numbers[i])
	}
	return some
}

// Join implements joiner of the package union.
func (s *Set) Join(others []structured.TaskData) (structured.TaskData, error) {
	all, from := &Set{reader: s.reader}, folders{}
	for _, of := range append([]structured.TaskData{s}, others...) {
		set := of.(*Set)
		for _, i := range set.numbers {
			all.numbers = append(all.numbers, from.Len()+i)
		}
		from = append(from, set.source)
	}
	all.source = from
	return all, nil
}

// folders are several sources, one after the other.
type folders []Source

func (f folders) Name() string { return f[0].Name() }

func (f folders) Len() int {
	n := 0
	for _, s := range f {
		n += s.Len()
	}
	return n
}

func (f folders) Masks() bool { return f[0].Masks() }

func (f folders) Load(i int) (Example, error) {
	for _, s := range f {
		if i < s.Len() {
			return s.Load(i)
		}
		i -= s.Len()
	}
	return Example{}, structured.BadInput("%s: there is no image %d", f.Name(), i)
}
