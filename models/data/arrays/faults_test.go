package arrays

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

// A fault of one graph leaves that graph out, whatever array it is in; what places the graphs is an error of the whole
// file.
func TestBadGraphsAreLeftOut(t *testing.T) {
	nan := float32(math.NaN())
	labels := [2]any{"<i8;False;4,", []int64{2, 1, 0, 0}}
	for _, test := range []struct {
		array string
		value [2]any
		bad   string // the graph, or none
		want  string
	}{
		{"node_features", [2]any{"<f4;False;4, 1", []float32{1, 2, nan, 3}}, "0", "x: node_features[2,0] is NaN"},
		{"node_features", [2]any{"<f4;False;4, 1", []float32{1, 2, 3, nan}}, "1", "x: node_features[3,0] is NaN"},
		{"edges", matrixOf("3, 2", 0, 1, 2, 3, 0, 2), "0", "x: edges[1] joins variables 2 and 3 of graph 0"},
		{"edges", matrixOf("3, 2", 0, 1, 2, 1, 2, 2), "0", "x: edges[2] joins variable 2 of graph 0 with itself"},
		{"edges", matrixOf("3, 2", 0, 1, 2, 1, 1, 0), "0", "x: edges[0] and [2] both join"},
		{"edge_features", [2]any{"<f4;False;3, 1", []float32{1, nan, 2}}, "0", "x: edge_features[1,0] is NaN"},
		{"edge_types", matrixOf("3,", 0, 1, -1), "0", "x: edge_types[2] is -1"},
		{"labels", matrixOf("4,", -2, 1, 0, 0), "0", "x: labels[0] is -2"},
		{"labels", matrixOf("4,", 1, 1, 0, -5), "1", "x: labels[3] is -5"},
		{"weights", [2]any{"<f4;False;4,", []float32{1, 1, 1, -1}}, "1", "x: weights[3] is -1"},
		{"sizes", matrixOf("2, 2", 3, -3, 1, 0), "", "x: sizes[0] is [3 -3]"},
		{"edges", matrixOf("2, 3", 3, 3, 0, 1, 0, 0), "", "x: edges has shape [2 3]"},
		{"edge_features", [2]any{"<f4;False;2, 1", []float32{1, 2}}, "", "x: edge_features has 2 rows"},
	} {
		file := rawNPZ(t, goodGraphs(map[string][2]any{"labels": labels, test.array: test.value}))
		say := remarks.New(true)
		d, err := Graphs{Remarks: say}.Read(bytes.NewReader(file), "x")
		if test.bad == "" {
			if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%s: %v", test.want, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.want, err)
			continue
		}
		kept, variables, edges := "1", 1, 0
		if test.bad == "1" {
			kept, variables, edges = "0", 3, 3
		}
		if !slices.Equal(d.IDs, []string{kept}) || d.Positions() != variables || len(d.Graphs[0].Ends) != edges ||
			len(d.Labels) != variables || len(d.Costs) != variables ||
			len(d.Tables[0].Features) != edges*d.Tables[0].Dim || len(d.Features) != variables*d.Dim {
			t.Errorf("%s: %+v", test.want, d)
		}
		if left := say.Reasons(); len(left) != 1 || !strings.HasPrefix(left[0], test.want) {
			t.Errorf("%q, expected %q", left, test.want)
		}
		if _, err := (Graphs{}).Read(bytes.NewReader(file), "x"); !structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("without leave to skip: %v, expected %s", err, test.want)
		}
	}
	all := goodGraphs(map[string][2]any{"labels": matrixOf("4,", -1, -1, -1, -2)})
	if _, err := (Graphs{Remarks: remarks.New(true)}).Read(bytes.NewReader(rawNPZ(t, all)),
		"x"); !structured.IsBadInput(err) {
		t.Errorf("no label is left: %v", err)
	}
}

// A fault of one pair is that of its example; what places the examples is an error of the whole file.
func TestBadPairsAreFaults(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, test := range []struct {
		array string
		value [2]any
		bad   int
		want  string
	}{
		{"features", [2]any{"<f4;False;4, 2", []float32{1, 2, 3, 4, inf, 6, 7, 8}}, 1, "x: features[2,0] is +Inf"},
		{"features", [2]any{"<f4;False;4, 2", []float32{1, 2, 3, inf, 5, 6, 7, 8}}, 0, "x: features[1,1] is +Inf"},
		{"words", [2]any{"|S1;False;6,", []byte("axyb\x00z")}, 1, "x: words[4] is empty"},
		{"links", [2]any{"<i8;False;2, 3", []int64{0, 0, 1, 1, 5, 0}}, 1, "x: links[1] is of source item 5 of example 1"},
		{"links", [2]any{"<i8;False;2, 3", []int64{0, 0, -1, 1, 1, 0}}, 0, "x: links[0] is of target item -1 of example 0"},
		{"links", [2]any{"<i8;False;2, 4", []int64{0, 0, 1, 2, 1, 1, 0, 1}}, 0, "x: links[0] has 2 in its last column"},
		{"links", [2]any{"<i8;False;1, 3", []int64{7, 0, 1}}, -1, "x: links[0] is of example 7"},
		{"sizes", [2]any{"<i8;False;2, 2", []int64{2, 2, 0, 1}}, -1, "x: words has 6 entries, expected 5"},
		{"sizes", [2]any{"<i8;False;2, 2", []int64{1, 2, 2, -1}}, -1, "x: sizes[1] is [2 -1]"},
	} {
		file := pairFile()
		file[test.array] = test.value
		a, err := Pairs{Remarks: remarks.New(true)}.Read(bytes.NewReader(rawNPZ(t, file)), "x")
		if test.bad < 0 {
			if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v, expected %s", err, test.want)
			}
			continue
		}
		if err != nil || !slices.Equal(slices.Collect(maps.Keys(a.Faults)), []int{test.bad}) ||
			!strings.HasPrefix(a.Faults[test.bad].Error(), test.want) {
			t.Errorf("%v, %+v, expected %s", err, a, test.want)
		}
		if _, err := (Pairs{}).Read(bytes.NewReader(rawNPZ(t, file)), "x"); !structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("without leave to skip: %v, expected %s", err, test.want)
		}
	}
}

// A fault of one image is that of its candidates, its size, its gold box or its id.
func TestBadCandidatesAreFaults(t *testing.T) {
	for _, test := range []struct {
		change func(c *candidateArrays)
		bad    int
		want   string
	}{
		{func(c *candidateArrays) { c.sizes = []int64{3, 0} }, 1, "sizes[1] is 0, expected at least one candidate"},
		{func(c *candidateArrays) { c.images[2] = 0 }, 1, "image_sizes[1] is 0 × 6"},
		{func(c *candidateArrays) { c.boxes[9] = 5 }, 1, "boxes[2]: box [x 1, y 5, width 3.5, height " +
			"4] is outside the image"},
		{func(c *candidateArrays) { c.boxes[6] = 0 }, 0, "boxes[1]: box [x 5, y 5, width 0, height 5] is empty"},
		{func(c *candidateArrays) { c.gold[2] = -1 }, 0, "gold[0]: box [x 1, y 1, width -1, height 9] is inverted"},
		{func(c *candidateArrays) { c.ids[1] = "a" }, 1, `ids[0] and ids[1] are both "a"`},
		{func(c *candidateArrays) { c.features.([]float32)[5] = float32(math.NaN()) }, 1,
			"features: number 1 of row 2 is NaN"},
		{func(c *candidateArrays) { c.sizes = []int64{4, -1} }, -1, "sizes sum to more than the 3 candidates"},
	} {
		arrays := goodCandidates()
		test.change(&arrays)
		path := inFile(t, arrays.write(t))
		c, err := CandidateReader{Remarks: remarks.New(true)}.Open(path)
		if test.bad < 0 {
			if !structured.IsBadInput(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, expected %s", err, test.want)
			}
			continue
		}
		if err != nil || !slices.Equal(slices.Collect(maps.Keys(c.Faults)), []int{test.bad}) ||
			!strings.Contains(c.Faults[test.bad].Error(), test.want) {
			t.Errorf("%v, %+v, expected %s", err, c, test.want)
			continue
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
