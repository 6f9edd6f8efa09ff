package inputs

import (
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
)

// Standard shifts and scales dense features: x becomes (x − Mean)·Scale, in every column.
type Standard struct {
	Mean, Scale []float32 // [D]
}

// FitStandard returns what makes the mean of every column of d's features 0 and their standard deviation 1. A column of
// equal numbers becomes 0.
func FitStandard(d *structured.Dataset) (*Standard, error) {
	n, dim := d.Positions(), d.Dim
	s := &Standard{make([]float32, dim), make([]float32, dim)}
	sum, squares := make([]float64, dim), make([]float64, dim)
	err := d.EachRow(func(row []float32) {
		for k, x := range row {
			sum[k] += float64(x)
		}
	})
	if err != nil {
		return nil, err
	}
	for k := range sum {
		sum[k] /= float64(n)
		s.Mean[k] = float32(sum[k])
	}
	err = d.EachRow(func(row []float32) {
		for k, x := range row {
			from := float64(x) - sum[k]
			squares[k] += from * from
		}
	})
	for k, of := range squares {
		// The mean itself is rounded, so that columns of equal numbers have some deviation.
		if spread := math.Sqrt(of / float64(n)); spread > 1e-6*math.Abs(sum[k]) && 1/spread <= math.MaxFloat32 {
			s.Scale[k] = float32(1 / spread)
		}
	}
	return s, err
}

// quietest is the least deviation of a column of an encoder's rows, as a share of the root mean square over its
// columns, that FitRows makes equal to the others: below, it would be rounding that is made large.
const quietest = 0.1

// FitRows is FitStandard for the last width columns of d's features, the rows of an encoder, which stand beside
// attributes: their deviations are alike, but for columns that hardly vary, and such that a row is about as long in the
// mean square as the attributes of a position. Steps on an example then move the weights of both alike. Columns before
// these stay as they are. All processes that share the attributes of d call it alike.
func FitRows(d *structured.Dataset, width int, share structured.Share) (*Standard, error) {
	s, err := FitStandard(d)
	if err != nil {
		return nil, err
	}
	square, err := meanSquare(d, share)
	if err != nil {
		return nil, err
	}
	before := d.Dim - width
	for k := range before {
		s.Mean[k], s.Scale[k] = 0, 1
	}
	scale, variance := s.Scale[before:], 0.0
	for _, x := range scale {
		if x > 0 {
			variance += 1 / (float64(x) * float64(x) * float64(width))
		}
	}
	most := float32(1 / (quietest * math.Sqrt(variance)))
	for k, x := range scale {
		scale[k] = min(x, most)
	}
	vec.Scale(float32(math.Sqrt(square/float64(width))), scale)
	return s, nil
}

// meanSquare returns the mean of ‖x_t‖² over the attributes of positions.
func meanSquare(d *structured.Dataset, share structured.Share) (float64, error) {
	x := d.Attributes // empty rows, where other processes have the attributes
	first, last := x.Offsets[0], x.Offsets[d.Positions()]
	total := float64(last - first)
	if x.Value != nil {
		total = vec.Norm2(x.Value[first:last])
	}
	all, err := structured.AllGather(share.Peers, total, nil)
	if err != nil {
		return 0, err
	}
	total = 0
	for _, x := range all {
		total += x
	}
	return total / float64(d.Positions()), nil
}

// Apply gives d features that are standardised. It leaves those that d had as they are, because other data sets may
// share them. The rows of an encoder, which may be more than memory holds, are standardised as they are read.
func (s *Standard) Apply(d *structured.Dataset) error {
	onDisk := d.Features == nil && d.Source != nil
	if d.Dim != len(s.Mean) || !onDisk && len(d.Features) != d.Positions()*d.Dim {
		return structured.BadInput("%s: %d dense features per position, the model expects %d", d.Name, d.Dim, len(s.Mean))
	}
	switch {
	case onDisk:
		d.Source = &standardised{d.Source, s}
	case d.Encoder != "":
		d.Source, d.Features = &standardised{&inMemory{d.Features, d.Dim}, s}, nil
	default:
		d.Features = slices.Clone(d.Features)
		s.scale(d.Features)
	}
	return nil
}

// Undo makes weights [D×Y] of standardised features, and biases [Y], those of the features as they were, with the same
// scores.
func (s *Standard) Undo(weights, biases []float32) {
	for k, mean := range s.Mean {
		row := weights[k*len(biases):][:len(biases)]
		vec.Scale(s.Scale[k], row)
		vec.Axpy(-mean, row, biases)
	}
}

// scale standardises rows of features in place.
func (s *Standard) scale(rows []float32) {
	for row := range slices.Chunk(rows, len(s.Mean)) {
		vec.Standardise(s.Mean, s.Scale, row)
	}
}

// standardised gives features that are standardised as they are read.
type standardised struct {
	structured.FeatureSource
	by *Standard
}

func (s *standardised) Read(dst []float32, from, to int) error {
	err := s.FeatureSource.Read(dst, from, to)
	if err == nil {
		s.by.scale(dst)
	}
	return err
}

func (s *standardised) Fingerprint() (string, error) {
	of, err := s.FeatureSource.Fingerprint()
	return fmt.Sprintf("%s by %s", of, train.FingerprintOf(slices.Concat(s.by.Mean, s.by.Scale))), err
}

// inMemory gives features [ΣT×dim] that are in memory.
type inMemory struct {
	values []float32
	dim    int
}

func (m *inMemory) Read(dst []float32, from, to int) error {
	copy(dst, m.values[from*m.dim:to*m.dim])
	return nil
}

func (m *inMemory) Fingerprint() (string, error) { return train.FingerprintOf(m.values), nil }

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
			return nil, fmt.Errorf("tensors %q and %q: mean %v and scale %v of column %d", standardMean,
				standardScale, mean[k], scale[k], k)
		}
	}
	return &Standard{mean, scale}, nil
}
