package inputs

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// besideAttributes returns data of two sentences with dense features, the last width of which are rows of an encoder,
// beside attributes.
func besideAttributes(width int) *structured.Dataset {
	r := rand.New(rand.NewPCG(1, 2))
	d := &structured.Dataset{Name: "data", Offsets: []int{0, 4, 9}, Dim: 2 + width, Encoder: "e",
		Attributes: &structured.Sparse{Offsets: []int{0}}}
	for t := range 9 {
		for k := range d.Dim {
			d.Features = append(d.Features, float32(k*k)+float32(1+k)*float32(r.NormFloat64()))
		}
		d.Attributes.Index = append(d.Attributes.Index, make([]int32, t%4)...)
		d.Attributes.Offsets = append(d.Attributes.Offsets, len(d.Attributes.Index))
	}
	return d
}

func rowsOf(t *testing.T, d *structured.Dataset) []float32 {
	t.Helper()
	var all []float32
	if err := d.EachRow(func(row []float32) { all = append(all, row...) }); err != nil {
		t.Fatal(err)
	}
	return all
}

func fitRows(t *testing.T, d *structured.Dataset, width int) *Standard {
	t.Helper()
	return fitRowsOf(t, d, structured.Whole(d), width)
}

func fitRowsOf(t *testing.T, d *structured.Dataset, share structured.Share, width int) *Standard {
	t.Helper()
	s, err := FitRows(d, width, share)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Rows beside attributes have means of 0, deviations alike, and the mean square of the attributes; what stands before
// them stays as it is. Data in memory are left alone, so that others may share them.
func TestFitRows(t *testing.T) {
	const width = 5
	for _, values := range [][]float32{nil, {2, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1}} {
		d := besideAttributes(width)
		d.Attributes.Value = values
		before, square := slices.Clone(d.Features), float64(len(d.Attributes.Index))
		if values != nil {
			square = vec.Norm2(values)
		}
		own := *d
		if err := fitRows(t, d, width).Apply(&own); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Features, before) {
			t.Fatal("shared features changed")
		}
		rows := rowsOf(t, &own)
		for k := range d.Dim {
			sum, squares := 0.0, 0.0
			for at := k; at < len(rows); at += d.Dim {
				if k < 2 && rows[at] != before[at] {
					t.Fatalf("column %d, which is not of the encoder, changed", k)
				}
				sum += float64(rows[at])
				squares += float64(rows[at]) * float64(rows[at])
			}
			if k >= 2 && (math.Abs(sum) > 1e-5 || math.Abs(squares-square/width) > 1e-4*square) {
				t.Errorf("column %d: sum %g, squares %g; want 0 and %g", k, sum, squares, square/width)
			}
		}
		if one, two := fingerprint(t, d, 1), fingerprint(t, d, 2); one == two {
			t.Error("other numbers have the same fingerprint")
		}
	}
}

func fingerprint(t *testing.T, d *structured.Dataset, scale float32) string {
	t.Helper()
	s, own := fitRows(t, d, d.Dim-2), *d
	vec.Scale(scale, s.Scale)
	if err := s.Apply(&own); err != nil {
		t.Fatal(err)
	}
	text, err := own.Source.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A column that hardly varies stays smaller than the others, one that does not vary is 0, and so are all if none does.
func TestFitQuietRows(t *testing.T) {
	const width = 4
	d := besideAttributes(width)
	for at := 0; at < len(d.Features); at += d.Dim {
		d.Features[at+2], d.Features[at+3] = 7+1e-4*d.Features[at+2], 5
	}
	s := fitRows(t, d, width)
	if quiet, loud := s.Scale[2], s.Scale[5]; !(quiet > loud && quiet < 50*loud) || s.Scale[3] != 0 {
		t.Errorf("scales %v", s.Scale)
	}
	for at := range d.Features {
		d.Features[at] = 3
	}
	if s := fitRows(t, d, width); slices.Max(s.Scale[2:]) != 0 || s.Scale[0] != 1 {
		t.Errorf("equal rows: scales %v", s.Scale)
	}
}

// Each of two processes that share the attributes finds what one process finds.
func TestFitRowsShared(t *testing.T) {
	d := besideAttributes(3)
	want := fitRows(t, d, 3)
	var sent [2][]byte
	// A process knows the attributes of example k alone.
	process := func(k int, gather func([]byte) ([][]byte, error)) (*structured.Dataset, structured.Share) {
		own := *d
		own.Attributes = &structured.Sparse{Offsets: []int{0}}
		for t := range d.Positions() {
			if row, _ := d.Attributes.Row(t); d.Offsets[k] <= t && t < d.Offsets[k+1] {
				own.Attributes.Index = append(own.Attributes.Index, row...)
			}
			own.Attributes.Offsets = append(own.Attributes.Offsets, len(own.Attributes.Index))
		}
		return &own, structured.Share{Peers: structured.NewPeers(k, 2, gather, nil), First: k, Last: k + 1}
	}
	for k := range sent { // each gives its own sum; then each gets both
		own, share := process(k, func(mine []byte) ([][]byte, error) { sent[k] = mine; return [][]byte{mine}, nil })
		fitRowsOf(t, own, share, 3)
	}
	for k := range sent {
		own, share := process(k, func([]byte) ([][]byte, error) { return sent[:], nil })
		got := fitRowsOf(t, own, share, 3)
		if !slices.Equal(got.Scale, want.Scale) || !slices.Equal(got.Mean, want.Mean) {
			t.Errorf("process %d: scales %v, want %v", k, got.Scale, want.Scale)
		}
	}
}

// Weights of rows as they are give the scores of weights of standardised rows.
func TestUndo(t *testing.T) {
	const width, labels = 4, 3
	d, r := besideAttributes(width), rand.New(rand.NewPCG(3, 4))
	s, own := fitRows(t, d, width), *d
	if err := s.Apply(&own); err != nil {
		t.Fatal(err)
	}
	weights, biases := make([]float32, d.Dim*labels), make([]float32, labels)
	for k := range weights {
		weights[k] = float32(r.NormFloat64())
	}
	for k := range biases {
		biases[k] = float32(r.NormFloat64())
	}
	scores := func(rows []float32) (all []float64) {
		for row := range slices.Chunk(rows, d.Dim) {
			for y := range labels {
				sum := float64(biases[y])
				for k, x := range row {
					sum += float64(x) * float64(weights[k*labels+y])
				}
				all = append(all, sum)
			}
		}
		return all
	}
	want := scores(rowsOf(t, &own))
	s.Undo(weights, biases)
	for k, got := range scores(d.Features) {
		if math.Abs(got-want[k]) > 1e-4*(1+math.Abs(want[k])) {
			t.Errorf("score %d is %g, want %g", k, got, want[k])
		}
	}
}

// Columns of equal numbers become 0, also where they are equal but for rounding, and so do those whose deviation
// float32 has no inverse of; a small deviation is scaled as any.
func TestFitStandardOfQuietColumns(t *testing.T) {
	const n = 3000
	d := &structured.Dataset{Name: "columns", Offsets: []int{0, n}, Dim: 6}
	for t := range n {
		sign := float32(1 - 2*(t%2))
		// the last is off by a unit of float32
		d.Features = append(d.Features, 0.1, 1e8, 1000+sign*0.01, sign*1e-42, sign*1e-30, 1e8+8*sign)
	}
	s, err := FitStandard(d)
	if err != nil {
		t.Fatal(err)
	}
	own := *d
	if err := s.Apply(&own); err != nil {
		t.Fatal(err)
	}
	all := rowsOf(t, &own)
	for k, want := range []float64{0, 0, 1, 0, 1, 0} {
		for at := k; at < len(all); at += d.Dim {
			if got := math.Abs(float64(all[at])); math.Abs(got-want) > 0.01 {
				t.Fatalf("column %d: %g, want ±%g (mean %g, scale %g)", k, all[at], want, s.Mean[k], s.Scale[k])
			}
		}
	}
}

// Data of another width than the statistics, or with features for some positions alone, are refused and stay as they
// are.
func TestStandardRefuses(t *testing.T) {
	s := &Standard{Mean: []float32{1, 2}, Scale: []float32{1, 2}}
	for name, d := range map[string]*structured.Dataset{
		"wider":    {Name: "x", Offsets: []int{0, 2}, Dim: 3, Features: make([]float32, 6)},
		"narrower": {Name: "x", Offsets: []int{0, 2}, Dim: 1, Features: make([]float32, 2)},
		"short":    {Name: "x", Offsets: []int{0, 2}, Dim: 2, Features: make([]float32, 3)},
		"none":     {Name: "x", Offsets: []int{0, 2}},
	} {
		err := s.Apply(d)
		if !structured.IsBadInput(err) || slices.ContainsFunc(d.Features, func(x float32) bool { return x != 0 }) {
			t.Errorf("%s: %v, features %v", name, err, d.Features)
		}
	}
}
