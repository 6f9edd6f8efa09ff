package arrays

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// pairFile is an archive of two examples, of 1 by 2 and 2 by 1 items.
func pairFile() map[string][2]any {
	return map[string][2]any{
		"features": {"<f4;False;4, 2", []float32{1, 2, 3, 4, 5, 6, 7, 8}},
		"sizes":    {"<i8;True;2, 2", []int64{1, 2, 2, 1}}, // the first axis is contiguous
		"links":    {"<i4;False;3, 4", []int32{0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 0, 1}},
		"words":    {"|S1;False;6,", []byte("axybcz")},
	}
}

func TestPairs(t *testing.T) {
	a, err := Pairs{}.Read(bytes.NewReader(rawNPZ(t, pairFile())), "p.npz")
	if err != nil {
		t.Fatal(err)
	}
	want := &PairArrays{
		Features: []float32{1, 2, 3, 4, 5, 6, 7, 8}, Dim: 2, Sizes: [][2]int{{1, 2}, {2, 1}},
		Links: [][4]int{{0, 0, 1, 1}, {1, 1, 0, 0}, {1, 0, 0, 1}}, Words: []string{"a", "x", "y", "b", "c", "z"},
	}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("read %+v\nexpected %+v", a, want)
	}
}

// Links of three columns are sure. A Fortran-ordered array of links reads row by row.
func TestPairsSureLinks(t *testing.T) {
	file := pairFile()
	file["links"] = [2]any{"<i8;True;2, 3", []int64{0, 1, 0, 1, 1, 0}}
	a, err := Pairs{}.Read(bytes.NewReader(rawNPZ(t, file)), "p.npz")
	if err != nil {
		t.Fatal(err)
	}
	if want := [][4]int{{0, 0, 1, 1}, {1, 1, 0, 1}}; !reflect.DeepEqual(a.Links, want) {
		t.Errorf("links %v, expected %v", a.Links, want)
	}
}

// Beside a text, which has the sizes, only the features matter.
func TestPairsBesideText(t *testing.T) {
	file := pairFile()
	delete(file, "sizes")
	delete(file, "links")
	a, err := Pairs{Sizes: [][2]int{{1, 2}, {2, 1}}}.Read(bytes.NewReader(rawNPZ(t, file)), "p.npz")
	if err != nil || len(a.Features) != 8 || a.Links != nil {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err = (Pairs{Unlabeled: true}).Read(bytes.NewReader(rawNPZ(t, file)), "p.npz"); err == nil ||
		!strings.HasPrefix(err.Error(), "p.npz: no array sizes, expected [examples × 2]") {
		t.Errorf("error %v", err)
	}
}

func TestPairsErrors(t *testing.T) {
	for _, c := range []struct {
		reader  Pairs
		array   string
		content [2]any
		message string
	}{
		{Pairs{}, "links", [2]any{}, "p.npz: no array links, expected [links × 3 or 4]"},
		{Pairs{}, "features", [2]any{}, "p.npz: no array features"},
		{Pairs{Dim: 3}, "", [2]any{}, "p.npz: features has 2 features per position, expected 3"},
		{Pairs{}, "sizes", [2]any{"<i8;False;2, 2", []int64{1, 2, 1, 1}},
			"p.npz: features has 4 rows, expected 3, one per pair"},
		{Pairs{}, "sizes", [2]any{"<i8;False;2, 2", []int64{1, 3, 2, 1}}, "p.npz: features has 4 rows, expected more: the " +
			"first 2 examples have 5 pairs"},
		{Pairs{}, "sizes", [2]any{"<i8;False;2, 2", []int64{0, 3, 2, 1}},
			"p.npz: sizes[0] is [0 3], expected numbers from 1"},
		{Pairs{}, "sizes", [2]any{"<i8;False;2, 2", []int64{1, 1 << 40, 2, 1}}, "p.npz: sizes[0] is [1 1099511627776], " +
			"expected numbers from 1"},
		{Pairs{}, "sizes", [2]any{"<i8;False;1, 4", []int64{1, 2, 2, 1}},
			"p.npz: sizes has shape [1 4], expected [examples × 2]"},
		{Pairs{}, "sizes", [2]any{"<f4;False;2, 2", []float32{1, 2, 2, 1}}, `p.npz: sizes holds "<f4", expected integers`},
		{Pairs{Sizes: [][2]int{{1, 2}}}, "", [2]any{}, "p.npz: sizes has 2 rows, expected 1, one per pair of the text"},
		{Pairs{Sizes: [][2]int{{1, 2}, {1, 2}}}, "", [2]any{}, "p.npz: sizes[1] is [2 1], expected [1 " +
			"2] words as in the text"},
		{Pairs{}, "links", [2]any{"<i8;False;1, 2", []int64{0, 0}},
			"p.npz: links has shape [1 2], expected [links × 3 or 4]"},
		{Pairs{}, "links", [2]any{"<i8;False;1, 3", []int64{2, 0, 0}}, "p.npz: links[0] is of example 2, expected 0 to 1"},
		{Pairs{}, "links", [2]any{"<i8;False;1, 3", []int64{0, 1, 0}}, "p.npz: links[0] is of source item 1 of " +
			"example 0, expected 0 to 0"},
		{Pairs{}, "links", [2]any{"<i8;False;1, 3", []int64{1, 0, -1}}, "p.npz: links[0] is of target item -1 of " +
			"example 1, expected 0 to 0"},
		{Pairs{}, "links", [2]any{"<i8;False;1, 4", []int64{1, 0, 0, 2}}, "p.npz: links[0] has 2 in its last " +
			"column, expected 1 if sure"},
		{Pairs{}, "words", [2]any{"|S1;False;5,", []byte("axybc")}, "p.npz: words has 5 entries, expected 6"},
		{Pairs{}, "words", [2]any{"|S1;False;6,", []byte("axyb\x00z")}, "p.npz: words[4] is empty, expected a word"},
	} {
		file := pairFile()
		if c.array != "" {
			if c.content[0] == nil {
				delete(file, c.array)
			} else {
				file[c.array] = c.content
			}
		}
		_, err := c.reader.Read(bytes.NewReader(rawNPZ(t, file)), "p.npz")
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), c.message) {
			t.Errorf("error %v, expected %s", err, c.message)
		}
	}
}
