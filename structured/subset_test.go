package structured

import (
	"reflect"
	"testing"
)

// A subset has the rows of its examples' positions, with their values.
func TestSubsetOfAttributes(t *testing.T) {
	d := &Dataset{
		Offsets:    []int{0, 2, 2, 3},
		Dictionary: &Dictionary{Node: NewAlphabet("a", "b", "c")},
		Attributes: &Sparse{Offsets: []int{0, 2, 2, 5}, Index: []int32{0, 1, 2, 2, 0}, Value: []float32{1, 2, 3, 4, 5}},
	}
	s := d.Subset([]int{2, 1, 0})
	want := &Sparse{Offsets: []int{0, 3, 5, 5}, Index: []int32{2, 2, 0, 0, 1}, Value: []float32{3, 4, 5, 1, 2}}
	if !reflect.DeepEqual(s.Attributes, want) || s.Dictionary != d.Dictionary || s.EdgeAttributes != nil {
		t.Errorf("got %+v", s.Attributes)
	}
	d.Attributes.Value = nil
	if s := d.Subset([]int{0}); s.Attributes.Value != nil || !reflect.DeepEqual(s.Attributes.Index, []int32{0, 1}) {
		t.Errorf("got %+v", s.Attributes)
	}
}

// A subset has the rows of its examples in every table.
func TestSubsetOfTables(t *testing.T) {
	d := &Dataset{
		Offsets: []int{0, 1, 2, 3},
		Tables:  []*Table{{Name: "edge", Offsets: []int{0, 2, 2, 3}, Features: []float32{1, 2, 3, 4, 5, 6}, Dim: 2}},
	}
	want := &Table{Name: "edge", Offsets: []int{0, 1, 1, 3}, Features: []float32{5, 6, 1, 2, 3, 4}, Dim: 2}
	if s := d.Subset([]int{2, 1, 0}); !reflect.DeepEqual(s.Tables[0], want) {
		t.Errorf("got %+v", s.Tables[0])
	}
}

// A subset has the characters of its examples' words, in their order.
func TestSubsetOfCharacters(t *testing.T) {
	vocab := NewAlphabet("a", "b", "c")
	d := &Dataset{Offsets: []int{0, 2, 2, 3},
		Characters: &Segments{Offsets: []int{0, 2, 2, 5}, Ids: []int32{0, 1, 2, 2, 0}, Vocab: vocab}}
	s := d.Subset([]int{2, 1, 0}).Characters
	if !reflect.DeepEqual(s, &Segments{Offsets: []int{0, 3, 5, 5}, Ids: []int32{2, 2, 0, 0, 1}, Vocab: vocab}) {
		t.Errorf("got %+v", s)
	}
	if d.Characters.Rows(0, 2) != 2 || d.Characters.Rows(2, 3) != 3 {
		t.Error("rows of positions")
	}
	if d.Characters = nil; d.Subset([]int{0}).Characters != nil {
		t.Error("characters from nowhere")
	}
}

// counted is a source that counts its positions, and how often it is read.
type counted struct{ reads *int }

func (c counted) Read(dst []float32, from, to int) error {
	*c.reads++
	for k := range to - from {
		dst[2*k], dst[2*k+1] = float32(from+k), 0.5
	}
	return nil
}

func (counted) Fingerprint() (string, error) { return "counted", nil }

// A subset reads the inputs of its examples from the source of the whole, runs of positions at once, and so does a
// subset of the subset.
func TestSubsetOfSource(t *testing.T) {
	reads := 0
	d := &Dataset{Offsets: []int{0, 2, 2, 5, 6}, Dim: 2, Source: counted{&reads}}
	s := d.Subset([]int{2, 3, 0})
	got := make([]float32, 12)
	if err := s.Source.Read(got, 0, 6); err != nil ||
		!reflect.DeepEqual(got, []float32{2, .5, 3, .5, 4, .5, 5, .5, 0, .5, 1, .5}) || reads != 2 {
		t.Errorf("%v: %v in %d reads", err, got, reads)
	}
	again := s.Subset([]int{2})
	if err := again.ReadFeatures(got[:4], 0); err != nil || !reflect.DeepEqual(got[:4], []float32{0, .5, 1, .5}) {
		t.Errorf("%v: %v", err, got[:4])
	}
	if (&Dataset{Offsets: []int{0, 1}}).Subset([]int{0}).Source != nil {
		t.Error("a source from nowhere")
	}
}
