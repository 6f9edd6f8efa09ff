package localisation

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Complete learns sliding windows from the objects of all training data sets, which were read with Learn, and makes
// their candidates and inputs.
func (o Options) Complete(sets ...*structured.Dataset) error {
	var objects []boxes.Placed
	for _, d := range sets {
		for _, m := range Of(d).Images {
			objects = append(objects, boxes.Placed{Box: m.Gold.Box, Width: m.Width, Height: m.Height})
		}
	}
	w := boxes.FitWindows(objects, o.Candidates)
	o.Learn, o.Sliding = false, &w
	for _, d := range sets {
		if d.Offsets != nil { // features of an archive
			continue
		}
		whole, err := o.dataset(d.Name, Of(d))
		if err != nil {
			return err
		}
		*d = *whole
	}
	return nil
}

// dataset makes the data set of images. Images without candidates get sliding windows.
func (o Options) dataset(name string, s *Set) (*structured.Dataset, error) {
	if o.Learn {
		return &structured.Dataset{Name: name, TaskData: s}, nil
	}
	s.Sliding = o.Sliding
	if o.Windows {
		s.Grid = o.Grid
	} else {
		s.Map = o.shape()
	}
	if !o.Windows && s.Boxes == nil {
		if err := o.slide(s); err != nil {
			return nil, err
		}
	}
	d := s.outputs(name)
	p := &pixels{set: s, shape: o.shape(), pixels: o.Pixels, offsets: d.Offsets}
	d.Dim = p.shape[0] * p.shape[1] * p.shape[2]
	d.Source = p
	var err error
	if d.Looks, err = s.look(o.Threads); err != nil {
		return nil, err
	}
	return d, o.load(d)
}

// mostLooked is how many images are looked at: those of large sets are read whenever their inputs are needed.
const mostLooked = 300

// look looks at images, spread evenly over the set.
func (s *Set) look(threads int) ([]structured.ImageLook, error) {
	all := make([]structured.ImageLook, len(s.Images))
	n := min(len(all), mostLooked)
	return all, host.Parallel(threads, n, host.None, func(_ struct{}, k int) error {
		i := k * len(all) / n
		m, err := s.Images[i].Load()
		if err == nil {
			all[i] = m.Look(m.Scale())
		}
		return err
	})
}

// outputs returns a data set without inputs: the positions, the gold outputs if all are known, and what the others
// cost, 1 − IoU with the gold box.
func (s *Set) outputs(name string) *structured.Dataset {
	n := len(s.Images)
	d := &structured.Dataset{
		Name: name, Alphabet: structured.NewAlphabet(s.Class), TaskData: s,
		Offsets: s.Offsets, Outputs: make([]int, n+1), IDs: make([]string, n),
	}
	size := 1
	if s.Boxes == nil {
		size = 4
		d.Offsets = make([]int, n+1)
		for i := range n {
			d.Offsets[i+1] = (i + 1) * s.Grid * s.Grid
		}
	}
	for i := range n {
		d.Outputs[i+1] = (i + 1) * size
		d.IDs[i] = strconv.FormatInt(s.Images[i].ID, 10)
	}
	if !s.known() {
		return d
	}
	d.Labels = make([]int32, 0, n*size)
	for i := range n {
		y, _ := s.best(i)
		d.Labels = append(d.Labels, y...)
	}
	if s.Boxes == nil {
		return d
	}
	d.CostRows = structured.Positions
	for i := range n {
		for _, b := range s.Candidates(i) {
			d.Costs = append(d.Costs, float32(1-b.IoU(s.Images[i].Gold.Box)))
		}
	}
	return d
}

// inMemory is the share of the available memory that features may take. Beyond it they are read or computed again
// whenever they are needed.
const inMemory = 0.4

// load reads the features of d into memory if they fit, and if o does not want them outside.
func (o Options) load(d *structured.Dataset) error {
	bytes := 4 * float64(d.Positions()) * float64(d.Dim)
	if available, ok := host.AvailableMemory(); o.Stream || ok && bytes > inMemory*available {
		d.Source = &Stream{FeatureSource: d.Source}
		return nil
	}
	features := make([]float32, d.Positions()*d.Dim)
	err := host.Parallel(o.Threads, d.Len(), host.None, func(_ struct{}, i int) error {
		return d.Source.Read(features[d.Offsets[i]*d.Dim:d.Offsets[i+1]*d.Dim], d.Offsets[i], d.Offsets[i+1])
	})
	if err == nil {
		d.Features, d.Source = features, nil
	}
	return err
}

// Stream is a source of features outside memory that measures how fast they come.
type Stream struct {
	structured.FeatureSource
	spent, numbers atomic.Int64
}

func (s *Stream) Read(dst []float32, from, to int) error {
	begun := time.Now()
	err := s.FeatureSource.Read(dst, from, to)
	s.spent.Add(int64(time.Since(begun)))
	s.numbers.Add(int64(len(dst)))
	return err
}

// Spent returns the time that all goroutines together spent on reading so far, and the bytes that they got, as float32.
func (s *Stream) Spent() (time.Duration, float64) {
	return time.Duration(s.spent.Load()), 4 * float64(s.numbers.Load())
}
