package inputs

import (
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/machine/safetensors"
	"github.com/dsp-go/dsp/train"
)

// Standard shifts and scales dense features: x becomes (x − Mean)·Scale, in every column.
type Standard struct {
	Mean, Scale []float32 // [D]
}

// FitStandard returns what makes the mean of every column of d's features 0 and their standard deviation 1. A column of equal numbers becomes 0.
func FitStandard(d *structured.Dataset) *Standard {
	n, dim := d.Positions(), d.Dim
	s := &Standard{make([]float32, dim), make([]float32, dim)}
	sum, squares := make([]float64, dim), make([]float64, dim)
	for t := range n {
		for k, x := range d.Features[t*dim : (t+1)*dim] {
			sum[k] += float64(x)
		}
	}
	for k := range sum {
		sum[k] /= float64(n)
		s.Mean[k] = float32(sum[k])
	}
	for t := range n {
		for k, x := range d.Features[t*dim : (t+1)*dim] {
			from := float64(x) - sum[k]
			squares[k] += from * from
		}
	}
	for k, of := range squares {
		// The mean itself is rounded, so that columns of equal numbers have some deviation.
		if spread := math.Sqrt(of / float64(n)); spread > 1e-6*math.Abs(sum[k]) && 1/spread <= math.MaxFloat32 {
			s.Scale[k] = float32(1 / spread)
		}
	}
	return s
}

// Apply gives d features that are standardised. It leaves those that d had as they are, because other data sets may share them.
func (s *Standard) Apply(d *structured.Dataset) error {
	onDisk := d.Features == nil && d.Source != nil
	if d.Dim != len(s.Mean) || !onDisk && len(d.Features) != d.Positions()*d.Dim {
		return structured.BadInput("%s: %d dense features per position, the model expects %d", d.Name, d.Dim, len(s.Mean))
	}
	if onDisk {
		d.Source = &standardised{d.Source, s}
		return nil
	}
	d.Features = slices.Clone(d.Features)
	s.scale(d.Features)
	return nil
}

// scale standardises rows of features in place.
func (s *Standard) scale(rows []float32) {
	for ; len(rows) > 0; rows = rows[len(s.Mean):] {
		for k, mean := range s.Mean {
			rows[k] = (rows[k] - mean) * s.Scale[k]
		}
	}
}

// standardised gives features that are standardised as they are read.
type standardised struct {
	structured.FeatureSource
	by *Standard
}

// Read implements structured.FeatureSource.
func (s *standardised) Read(dst []float32, from, to int) error {
	err := s.FeatureSource.Read(dst, from, to)
	if err == nil {
		s.by.scale(dst)
	}
	return err
}

// Fingerprint implements structured.FeatureSource.
func (s *standardised) Fingerprint() (string, error) {
	of, err := s.FeatureSource.Fingerprint()
	return fmt.Sprintf("%s by %s", of, train.FingerprintOf(slices.Concat(s.by.Mean, s.by.Scale))), err
}

// The tensors of a model file that hold how features are standardised.
const (
	standardMean  = "feature_mean"
	standardScale = "feature_scale"
)

// Save puts s into a file.
func (s *Standard) Save(f *safetensors.File) {
	safetensors.Add(f, standardMean, s.Mean, len(s.Mean))
	safetensors.Add(f, standardScale, s.Scale, len(s.Scale))
}

// loadStandard returns what Save put into a file, or nil.
func loadStandard(f *safetensors.File) (*Standard, error) {
	if _, ok := f.Tensors[standardMean]; !ok {
		return nil, nil
	}
	mean, err := safetensors.Values[float32](f, standardMean, -1)
	if err != nil {
		return nil, err
	}
	scale, err := safetensors.Values[float32](f, standardScale, len(mean))
	if err != nil {
		return nil, err
	}
	for k := range mean {
		if mean[k]-mean[k] != 0 || scale[k]-scale[k] != 0 || scale[k] < 0 {
			return nil, fmt.Errorf("tensors %q and %q: mean %v and scale %v of column %d", standardMean, standardScale, mean[k], scale[k], k)
		}
	}
	return &Standard{mean, scale}, nil
}
