package structured

import "sort"

// FeatureSource gives the dense inputs of data that are not in memory as numbers: rows of a file, or images from which they are
// computed each time. It serves many goroutines at once.
type FeatureSource interface {
	// Read fills dst [(to−from)×Dim] with the inputs of positions from to to−1.
	Read(dst []float32, from, to int) error
	// Fingerprint is equal for sources of the same inputs.
	Fingerprint() (string, error)
}

// Companion is what a task keeps of its examples beside inputs and outputs, such as the images that boxes are in.
type Companion interface {
	// Subset returns the companion of the given examples of d, which it belongs to.
	Subset(d *Dataset, examples []int) Companion
}

// ReadFeatures fills dst [Length(i)×Dim] with the dense inputs of example i.
func (d *Dataset) ReadFeatures(dst []float32, i int) error {
	from, to := d.Offsets[i], d.Offsets[i+1]
	if d.Features == nil && d.Source != nil {
		return d.Source.Read(dst, from, to)
	}
	copy(dst, d.Features[from*d.Dim:to*d.Dim])
	return nil
}

// HasFeatures reports whether there are dense inputs, in memory or not.
func (d *Dataset) HasFeatures() bool { return d.Features != nil || d.Source != nil }

// selectedSource gives the inputs of a subset of the examples of another source.
type selectedSource struct {
	of      FeatureSource
	dim     int
	offsets []int // of the subset
	first   []int // per example, its first position in the other source
}

func (s *selectedSource) Read(dst []float32, from, to int) error {
	for at := from; at < to; {
		k := sort.SearchInts(s.offsets, at+1) - 1 // the example that position at is in
		end := min(to, s.offsets[k+1])
		lo := s.first[k] + at - s.offsets[k]
		if err := s.of.Read(dst[(at-from)*s.dim:(end-from)*s.dim], lo, lo+end-at); err != nil {
			return err
		}
		at = end
	}
	return nil
}

func (s *selectedSource) Fingerprint() (string, error) { return s.of.Fingerprint() }

// selectSource returns the source of the inputs of the given examples of d, whose offsets among themselves are given.
func (d *Dataset) selectSource(examples, offsets []int) FeatureSource {
	if d.Source == nil {
		return nil
	}
	s := &selectedSource{of: d.Source, dim: d.Dim, offsets: offsets, first: make([]int, len(examples))}
	for k, i := range examples {
		s.first[k] = d.Offsets[i]
	}
	return s
}
