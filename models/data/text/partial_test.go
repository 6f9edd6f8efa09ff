package text

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func labelColumn(cells ...string) *structured.Dataset {
	return &structured.Dataset{Name: "f", Offsets: []int{0, len(cells)}, Columns: [][]string{cells},
		ColumnNames: []string{LabelColumn}}
}

func TestReadPartialLabels(t *testing.T) {
	d := labelColumn("B", "?", "C|A", "A|C", "B|B", "_", "A", "C|A|B", "A|C|A")
	if err := ReadPartialLabels(d, nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{"A", "B", "C"}; !slices.Equal(d.Alphabet.Names(), want) {
		t.Errorf("labels %q, want %q", d.Alphabet.Names(), want)
	}
	if want := []int32{1, -1, -2, -2, 1, -1, 0, -1, -2}; !slices.Equal(d.Labels, want) {
		t.Errorf("labels %v, want %v", d.Labels, want)
	}
	if want := [][]int32{nil, {0, 2}}; !reflect.DeepEqual(d.LabelSets, want) {
		t.Errorf("sets %v, want %v", d.LabelSets, want)
	}
	full := labelColumn("B", "A")
	if err := ReadPartialLabels(full, nil); err != nil || full.LabelSets != nil ||
		!slices.Equal(full.Labels, []int32{1, 0}) {
		t.Errorf("labels all known: %v, sets %v, %v", full.Labels, full.LabelSets, err)
	}
}

// A cell that is spelt like a known label is that label.
func TestKnownLabelsLikePartialOnes(t *testing.T) {
	d := labelColumn("?", "X|Y", "X", "X|_", "?|X")
	if err := ReadPartialLabels(d, structured.NewAlphabet("?", "X", "X|Y", "_")); err != nil {
		t.Fatal(err)
	}
	if want := []int32{0, 2, 1, -1, -2}; !slices.Equal(d.Labels, want) {
		t.Errorf("labels %v, want %v", d.Labels, want)
	}
}

func TestBadPartialLabels(t *testing.T) {
	known := structured.NewAlphabet("A", "B")
	for _, c := range []struct {
		d     *structured.Dataset
		known *structured.Alphabet
		want  string
	}{
		{labelColumn("A", "D"), known, `f:8: label "D" is not one of the known ones: A, B; or ? for any`},
		{labelColumn("A|D"), known, `f:7: label "D" in "A|D" is not one of the known ones: A, B`},
		{labelColumn("A|"), nil, `f:7: label "" in "A|" is not one of the known ones: A`},
		{labelColumn("A||B"), known, `label "" in "A||B"`},
		{&structured.Dataset{Name: "f"}, known, `f: no column of labels`},
	} {
		c.d.Lines = []int{7}
		err := ReadPartialLabels(c.d, c.known)
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %s", c.d.Columns, err, c.want)
		}
	}
}

// Any label column is either refused or read as labels and ordered sets of labels.
func FuzzReadPartialLabels(f *testing.F) {
	for _, seed := range []string{"A\nB\n?", "A|B\n_\nB|A|A", "|\n||", "?|A\n_|?", ""} {
		f.Add(seed, "A\nB")
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, column, labels string) {
		var known *structured.Alphabet
		if labels != "" {
			known = structured.NewAlphabet(slices.Compact(slices.Sorted(strings.SplitSeq(labels, "\n")))...)
		}
		d := labelColumn(strings.Split(column, "\n")...)
		if err := ReadPartialLabels(d, known); err != nil {
			if !structured.IsBadInput(err) {
				t.Fatal(err)
			}
			return
		}
		y := int32(d.Alphabet.Len())
		for at, l := range d.Labels {
			cell := d.Columns[0][at]
			switch {
			case l >= y || int(-l) > len(d.LabelSets):
				t.Fatalf("%q is %d of %d labels and %d sets", cell, l, y, len(d.LabelSets))
			case l >= 0 && d.Alphabet.Name(l) != cell &&
				!strings.Contains(cell, d.Alphabet.Name(l)+labelSeparator+d.Alphabet.Name(l)):
				t.Fatalf("%q is %q", cell, d.Alphabet.Name(l))
			}
		}
		for _, set := range d.LabelSets {
			if set != nil && (len(set) < 2 || len(set) >= int(y) || !slices.IsSorted(set) ||
				set[0] < 0 || set[len(set)-1] >= y) {
				t.Fatalf("set %v of %d labels", set, y)
			}
		}
	})
}
