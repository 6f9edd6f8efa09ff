package sparse

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

// Rows lists each row that a batch touches once, in the order of the first touch, whatever it listed before, and Runs
// joins those that lie side by side: of a few rows, which are sorted, and of many, which are looked up.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const attributes, labels = 300, 3
		s, err := NewChain(attributes, 0, labels, "transition")
		if err != nil {
			t.Fatal(err)
		}
		data := &structured.Dataset{Offsets: []int{0}, Attributes: &structured.Sparse{Offsets: []int{0}}}
		most := rapid.SampledFrom([]int{1, 4, 30}).Draw(t, "attributes of a position")
		for range 6 {
			for range rapid.IntRange(0, 4).Draw(t, "length") {
				x := rapid.SliceOfN(rapid.Int32Range(0, attributes-1), 0, most).Draw(t, "attributes")
				data.Attributes.Index = append(data.Attributes.Index, x...)
				data.Attributes.Offsets = append(data.Attributes.Offsets, len(data.Attributes.Index))
			}
			data.Offsets = append(data.Offsets, len(data.Attributes.Offsets)-1)
		}
		var r Rows
		for range 3 {
			var want []int32
			add := func(row int32) {
				if !slices.Contains(want, row) {
					want = append(want, row)
				}
			}
			examples := rapid.SliceOfN(rapid.IntRange(0, 5), 0, 6).Draw(t, "examples")
			cut := rapid.IntRange(0, len(examples)).Draw(t, "cut")
			for _, i := range examples {
				for _, a := range data.Attributes.Index[data.Attributes.Offsets[data.Offsets[i]]:data.Attributes.Offsets[data.Offsets[i+1]]] {
					add(a)
				}
				add(attributes) // the transitions
			}
			var batch structured.Batch
			batch.Reset(data, examples[:cut])
			s.Rows(&batch, &r)
			batch.Reset(data, examples[cut:])
			s.AddRows(&batch, &r)
			first := rapid.Int32Range(0, attributes).Draw(t, "first")
			end := rapid.Int32Range(first, attributes+1).Draw(t, "end")
			r.Add(first, end)
			for row := first; row < end; row++ {
				add(row)
			}
			if !slices.Equal(r.Index, want) {
				t.Fatalf("rows %v, expected %v", r.Index, want)
			}
			slices.Sort(want)
			last := int32(-1)
			var found []int32
			r.Runs(func(first, end int32) {
				if first <= last || end <= first {
					t.Fatalf("a run of rows %d to %d−1 after one that ends at %d", first, end, last)
				}
				for last = end; first < end; first++ {
					found = append(found, first)
				}
			})
			if !slices.Equal(found, want) {
				t.Fatalf("runs of %v, expected %v", found, want)
			}
		}
	})
}

// Rows can be listed by number before any batch is, as a rank without examples lists what others touch; a batch adds to
// them.
func TestRowsWithoutBatch(t *testing.T) {
	s, err := NewChain(100, 0, 2, "transition")
	if err != nil {
		t.Fatal(err)
	}
	data := &structured.Dataset{Offsets: []int{0, 1}, Attributes: &structured.Sparse{Offsets: []int{0, 1}, Index: []int32{3}}}
	var r Rows
	r.Add(70, 72)
	var batch structured.Batch
	batch.Reset(data, []int{0})
	s.AddRows(&batch, &r)
	if want := []int32{70, 71, 3, 100}; !slices.Equal(r.Index, want) {
		t.Errorf("rows %v, expected %v", r.Index, want)
	}
}
