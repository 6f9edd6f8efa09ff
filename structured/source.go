package structured

// FeatureSource gives the dense inputs of data that are not in memory as numbers: rows of a file, or images from which
// they are computed each time. It serves many goroutines at once.
type FeatureSource interface {
	// Read fills dst [(to−from)×Dim] with the inputs of positions from to to−1.
	Read(dst []float32, from, to int) error
	// Fingerprint is equal for sources of the same inputs.
	Fingerprint() (string, error)
}

// TaskData is what a task keeps of its examples beside inputs and outputs, such as the images that boxes are in.
type TaskData interface {
	// Subset returns the data of the given examples of d, which it belongs to.
	Subset(d *Dataset, examples []int) TaskData
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

// EachRow calls do with the dense inputs of each position, in their order.
func (d *Dataset) EachRow(do func(row []float32)) error {
	if d.Features != nil || d.Source == nil {
		for at := 0; at < len(d.Features); at += d.Dim {
			do(d.Features[at : at+d.Dim])
		}
		return nil
	}
	const most = 1 << 16 // numbers at once
	rows := make([]float32, max(1, most/d.Dim)*d.Dim)
	for from := 0; from < d.Positions(); from += len(rows) / d.Dim {
		to := min(from+len(rows)/d.Dim, d.Positions())
		if err := d.Source.Read(rows[:(to-from)*d.Dim], from, to); err != nil {
			return err
		}
		for at := 0; at < (to-from)*d.Dim; at += d.Dim {
			do(rows[at : at+d.Dim])
		}
	}
	return nil
}

// HasFeatures reports whether there are dense inputs, in memory or not.
func (d *Dataset) HasFeatures() bool { return d.Features != nil || d.Source != nil }

// SelectableSource is a FeatureSource that makes a source of some of its positions itself.
type SelectableSource interface {
	FeatureSource
	// Select returns the source of the inputs of these positions, in this order.
	Select(positions []int) FeatureSource
}

// SelectSource returns the source of the inputs of these positions of d, in this order; nil if d has none.
func (d *Dataset) SelectSource(positions []int) FeatureSource {
	switch s := d.Source.(type) {
	case nil:
		return nil
	case SelectableSource:
		return s.Select(positions)
	}
	return &selectedSource{d.Source, d.Dim, positions}
}

// selectedSource gives the inputs of some positions of another source.
type selectedSource struct {
	of        FeatureSource
	dim       int
	positions []int
}

// Read implements FeatureSource. It reads runs of positions at once.
func (s *selectedSource) Read(dst []float32, from, to int) error {
	for at := from; at < to; {
		end, lo := at+1, s.positions[at]
		for end < to && s.positions[end] == lo+end-at {
			end++
		}
		if err := s.of.Read(dst[(at-from)*s.dim:(end-from)*s.dim], lo, lo+end-at); err != nil {
			return err
		}
		at = end
	}
	return nil
}

func (s *selectedSource) Fingerprint() (string, error) { return s.of.Fingerprint() }

// sourceOf returns the source of the inputs of the given examples of d.
func (d *Dataset) sourceOf(examples []int) FeatureSource {
	if d.Source == nil {
		return nil
	}
	var positions []int
	for _, i := range examples {
		for t := d.Offsets[i]; t < d.Offsets[i+1]; t++ {
			positions = append(positions, t)
		}
	}
	return d.SelectSource(positions)
}
