package arrays

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// matrixOf is an array of int64 with two columns, for rawNPZ.
func matrixOf(shape string, values ...int64) [2]any {
	return [2]any{"<i8;False;" + shape, values}
}

// goodGraphs is an archive of two graphs: a triangle and a graph of one variable; and what a test changes in it.
func goodGraphs(change map[string][2]any) map[string][2]any {
	arrays := map[string][2]any{
		"node_features": {"<f8;False;4, 2", []float64{1, 2, 3, 4, 5, 6, 7, 8}},
		"edges":         matrixOf("3, 2", 0, 1, 2, 1, 0, 2),
		"sizes":         matrixOf("2, 2", 3, 3, 1, 0),
		"edge_features": {"<f4;True;3, 2", []float32{1, 2, 3, 4, 5, 6}},
		"edge_types":    {"|u1;False;3,", []uint8{0, 1, 0}},
		"labels":        matrixOf("4,", 2, -1, 255, 0),
		"weights":       {"<f4;False;4,", []float32{1, 0.5, 0, 2}},
	}
	for name, a := range change {
		arrays[name] = a
		if a[0] == nil {
			delete(arrays, name)
		}
	}
	return arrays
}

func TestGraphs(t *testing.T) {
	d, err := Graphs{}.Read(bytes.NewReader(rawNPZ(t, goodGraphs(nil))), "x.npz")
	if err != nil {
		t.Fatal(err)
	}
	want := &structured.Dataset{
		Name: "x.npz", Offsets: []int{0, 3, 4}, Features: []float32{1, 2, 3, 4, 5, 6, 7, 8}, Dim: 2,
		Labels: []int32{2, -1, -1, 0}, LabelSets: [][]int32{nil}, Alphabet: structured.NewAlphabet("0", "1", "2"),
		Costs: []float32{1, 0.5, 0, 2}, CostRows: structured.Positions,
		Graphs: []*structured.Graph{{Ends: [][2]int32{{0, 1}, {2, 1}, {0, 2}}, Types: []int32{0, 1, 0}}, {Types: []int32{}}},
		Tables: []*structured.Table{{Name: graphs.EdgeRows, Offsets: []int{0, 3, 3}, Features: []float32{1, 4, 2, 5, 3, 6},
			Dim: 2}},
	}
	if !slices.Equal(d.Alphabet.Names(), want.Alphabet.Names()) {
		t.Errorf("labels %v", d.Alphabet.Names())
	}
	d.Alphabet = want.Alphabet
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got %+v\nwant %+v", d, want)
	}
	if n := graphs.Types(d); n != 2 {
		t.Errorf("%d types of edges, expected 2", n)
	}
	bare := goodGraphs(map[string][2]any{"edge_features": {}, "edge_types": {}, "labels": {}, "weights": {}})
	d, err = Graphs{Unlabeled: true}.Read(bytes.NewReader(rawNPZ(t, bare)), "x.npz")
	if err != nil || d.Labels != nil || d.Costs != nil || d.Tables[0].Features != nil || d.Graphs[0].Types != nil ||
		graphs.Types(d) != 0 {
		t.Errorf("without what is optional: %v, %+v", err, d)
	}
}

// With 256 labels, 255 is one of them.
func TestManyLabels(t *testing.T) {
	names := make([]string, 256)
	for l := range names {
		names[l] = strings.Repeat("x", l+1)
	}
	for count, want := range map[int]int32{255: -1, 256: 255} {
		var b bytes.Buffer
		d := &structured.Dataset{
			Name: "x", Offsets: []int{0, 2}, Features: []float32{1, 2}, Dim: 1,
			Alphabet: structured.NewAlphabet(names[:count]...), Labels: []int32{0, want},
			Graphs: []*structured.Graph{{Ends: [][2]int32{{1, 0}}}},
			Tables: []*structured.Table{{Name: graphs.EdgeRows, Offsets: []int{0, 1}}},
		}
		if err := WriteGraphs(&b, d); err != nil {
			t.Fatal(err)
		}
		got, err := Graphs{Alphabet: d.Alphabet}.Read(&b, "x")
		if want < 0 {
			d.LabelSets = [][]int32{nil}
		}
		if err != nil || !reflect.DeepEqual(got, d) {
			t.Errorf("%d labels: %v, got %+v\nwant %+v", count, err, got, d)
		}
	}
}

// What is written is read again, with features and types of edges.
func TestWriteGraphs(t *testing.T) {
	d, err := Graphs{}.Read(bytes.NewReader(rawNPZ(t, goodGraphs(nil))), "x.npz")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteGraphs(&b, d); err != nil {
		t.Fatal(err)
	}
	got, err := Graphs{Alphabet: d.Alphabet, Dim: 2, EdgeDim: 2, Types: 2}.Read(&b, "x.npz")
	if err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("%v: got %+v\nwant %+v", err, got, d)
	}
}

func TestBadGraphs(t *testing.T) {
	nan := float32(math.NaN())
	for _, test := range []struct {
		c     Graphs
		array string
		value [2]any
		want  string
	}{
		{Graphs{}, "node_features", [2]any{}, "x: no array node_features, expected [variables × features]"},
		{Graphs{}, "node_features", [2]any{"<f4;False;0, 2", []float32{}}, "x: node_features has shape [0 2], " +
			"expected at least one variable"},
		{Graphs{}, "node_features", [2]any{"<f4;False;4, 0", []float32{}}, "x: node_features has shape [4 0], " +
			"expected at least one feature"},
		{Graphs{}, "node_features", [2]any{"<f4;False;4, 1", []float32{1, 2, nan, 3}}, "x: node_features[2,0] is NaN"},
		{Graphs{Dim: 3}, "sizes", [2]any{}, "x: node_features has 2 features per variable, expected 3 " +
			"as in the training data"},
		{Graphs{}, "sizes", [2]any{}, "x: no array sizes, expected [graphs × 2]"},
		{Graphs{}, "sizes", matrixOf("2, 3", 3, 3, 0, 1, 0, 0), "x: sizes has shape [2 3], expected [graphs × 2]"},
		{Graphs{}, "sizes", matrixOf("2, 2", 3, 3, 2, 0), "x: sizes sum to more than the 4 variables that " +
			"node_features has, from graph 1 on"},
		{Graphs{}, "sizes", matrixOf("1, 2", 3, 3), "x: sizes sum to 3 variables, expected 4 as node_features has"},
		{Graphs{}, "sizes", matrixOf("2, 2", 3, -3, 1, 0), "x: sizes[0] is [3 -3], expected numbers from 0 on"},
		{Graphs{}, "sizes", matrixOf("2, 2", 3, 3, 1, 1<<40), "x: sizes[1] is [1 1099511627776], expected at most " +
			"2147483648 edges in all"},
		{Graphs{}, "sizes", matrixOf("2, 2", 3, 3, 1, 1), "x: edges has shape [3 2], expected [4 2] as sizes says"},
		{Graphs{}, "edges", matrixOf("2, 3", 3, 3, 0, 1, 0, 0), "x: edges has shape [2 3], expected [3 2] as sizes says"},
		{Graphs{}, "edges", matrixOf("3, 2", 0, 1, 2, 3, 0, 2), "x: edges[1] joins variables 2 and 3 of " +
			"graph 0, expected 0 to 2"},
		{Graphs{}, "edges", matrixOf("3, 2", 0, 1, 2, -1, 0, 2), "x: edges[1] joins variables 2 and -1 of " +
			"graph 0, expected 0 to 2"},
		{Graphs{}, "edges", matrixOf("3, 2", 0, 1, 2, 1, 2, 2), "x: edges[2] joins variable 2 of graph 0 with itself"},
		{Graphs{}, "edges", matrixOf("3, 2", 0, 1, 2, 1, 1, 0), "x: edges[0] and [2] both join variables 1 and 0 of graph 0"},
		{Graphs{}, "edges", [2]any{"<f8;False;3, 2", make([]float64, 6)}, `x: edges holds "<f8", expected integers`},
		{Graphs{}, "edge_features", [2]any{"<f4;False;2, 1", []float32{1, 2}},
			"x: edge_features has 2 rows, expected 3, one per edge"},
		{Graphs{EdgeDim: 1}, "edge_features", [2]any{}, "x: no array edge_features"},
		{Graphs{EdgeDim: 1}, "weights", [2]any{}, "x: edge_features has 2 features per edge, expected 1 " +
			"as in the training data"},
		{Graphs{}, "edge_types", matrixOf("2,", 0, 1), "x: edge_types has 2 entries, expected 3, one per edge"},
		{Graphs{}, "edge_types", matrixOf("3,", 0, 1, -1), "x: edge_types[2] is -1, expected 0 to 65535"},
		{Graphs{Types: 1}, "weights", [2]any{}, "x: edge_types[1] is 1, expected 0 to 0"},
		{Graphs{Types: 1}, "edge_types", [2]any{}, "x: no array edge_types"},
		{Graphs{}, "labels", [2]any{}, "x: no array labels, expected [variables]"},
		{Graphs{}, "labels", matrixOf("3,", 0, 1, 1), "x: labels has 3 entries, expected 4, one per variable"},
		{Graphs{}, "labels", matrixOf("4,", -1, 255, -1, 255), "x: labels are all unknown"},
		{Graphs{}, "labels", matrixOf("4,", -2, 255, -1, 0), "x: labels[0] is -2, expected 0 to 0"},
		{Graphs{Alphabet: structured.NewAlphabet("a")}, "labels", matrixOf("4,", 0, 255, -1, 1),
			"x: labels[3] is 1, expected 0 to 0"},
		{Graphs{}, "weights", [2]any{"<f4;False;1,", []float32{1}}, "x: weights has 1 entries, expected 4, one per variable"},
		{Graphs{}, "weights", [2]any{"<f4;False;4,", []float32{1, 1, -1, 1}}, "x: weights[2] is -1, expected 0, or a number"},
	} {
		_, err := test.c.Read(bytes.NewReader(rawNPZ(t, goodGraphs(map[string][2]any{test.array: test.value}))), "x")
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v\nwant %s", test.array, err, test.want)
		}
	}
	if _, err := (Graphs{}).Read(strings.NewReader("no archive"), "x"); !structured.IsBadInput(err) {
		t.Error(err)
	}
}

func BenchmarkGraphs(b *testing.B) {
	const n = 100_000 // a chain
	d := &structured.Dataset{
		Offsets: []int{0, n}, Features: make([]float32, n), Dim: 1, Graphs: []*structured.Graph{{}},
		Tables: []*structured.Table{{Name: graphs.EdgeRows, Offsets: []int{0, n - 1}}},
	}
	for v := range int32(n - 1) {
		d.Graphs[0].Ends = append(d.Graphs[0].Ends, [2]int32{v, v + 1})
	}
	var file bytes.Buffer
	if err := WriteGraphs(&file, d); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := (Graphs{Unlabeled: true}).Read(bytes.NewReader(file.Bytes()), "x"); err != nil {
			b.Fatal(err)
		}
	}
}
