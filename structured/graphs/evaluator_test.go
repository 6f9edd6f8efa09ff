package graphs_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// The metrics equal their definition as sets of pixels, whether these are variables themselves or counted per variable.
func TestEvaluator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const labels = 4
		names := structured.NewAlphabet("a", "b", "c", "d")
		n := rapid.IntRange(0, 12).Draw(t, "variables")
		each := &structured.Dataset{Offsets: []int{0, 0}}                    // a variable per pixel
		some := &structured.Dataset{Offsets: []int{0, n}, Alphabet: names}   // some pixels per variable
		counts := &structured.Sparse{Offsets: []int{0}, Value: []float32{}}  // of some
		var predictedEach, predictedSome []int32                             // outputs
		gold, predicted, both := [labels]int{}, [labels]int{}, [labels]int{} // sizes of the sets
		right, all := 0, 0                                                   // pixels
		for range n {
			y := int32(rapid.IntRange(0, labels-1).Draw(t, "predicted"))
			predictedSome = append(predictedSome, y)
			for l := range int32(labels) {
				pixels := rapid.IntRange(0, 3).Draw(t, "pixels")
				if pixels > 0 {
					counts.Index, counts.Value = append(counts.Index, l), append(counts.Value, float32(pixels))
				}
				for range pixels {
					each.Labels, predictedEach = append(each.Labels, l), append(predictedEach, y)
					gold[l]++
					predicted[y]++
					all++
					if l == y {
						both[l]++
						right++
					}
				}
			}
			if rapid.Bool().Draw(t, "void") {
				each.Labels, predictedEach = append(each.Labels, -1), append(predictedEach, y)
			}
			counts.Offsets = append(counts.Offsets, len(counts.Index))
		}
		each.Offsets[1] = len(each.Labels)
		some.Tables = []*structured.Table{{Name: graphs.PixelRows, Offsets: some.Offsets, Attributes: counts}}
		e, s := graphs.NewEvaluator(names), graphs.NewEvaluator(names)
		e.Add(each, 0, predictedEach)
		s.Add(some, 0, predictedSome)
		for what, m := range map[string]structured.Metrics{"variables": e.Metrics(), "pixels": s.Metrics()} {
			mean, classes := 0.0, 0.0
			for l, name := range names.Names() {
				union, got := gold[l]+predicted[l]-both[l], m.Types[name]
				if union == 0 {
					if _, there := m.Types[name]; there {
						t.Fatalf("%s: class %s occurs", what, name)
					}
					continue
				}
				iou := float64(both[l]) / float64(union)
				mean, classes = mean+iou, classes+1
				if got.Get("iou") != iou || got.Get("gold") != float64(gold[l]) || got.Get("predicted") != float64(predicted[l]) ||
					got.Get("correct") != float64(both[l]) {
					t.Fatalf("%s: class %s is %v, expected IoU %v", what, name, got, iou)
				}
				if r := got.Get("recall"); gold[l] > 0 && r != float64(both[l])/float64(gold[l]) {
					t.Fatalf("%s: class %s has recall %v", what, name, r)
				}
				if p := got.Get("precision"); predicted[l] > 0 && p != float64(both[l])/float64(predicted[l]) {
					t.Fatalf("%s: class %s has precision %v", what, name, p)
				}
			}
			if all == 0 {
				if m.Get("accuracy") != 0 || m.Get("class_iou") != 0 {
					t.Fatalf("%s: nothing counts, but %v", what, m)
				}
				continue
			}
			if m.Get("accuracy") != float64(right)/float64(all) || math.Abs(m.Get("class_iou")-mean/classes) > 1e-12 ||
				m.Get("labelled") != float64(all) {
				t.Fatalf("%s: %v, expected accuracy %d/%d and IoU %v", what, m, right, all, mean/classes)
			}
		}
	})
}

func TestEvaluatorTable(t *testing.T) {
	e := graphs.NewEvaluator(structured.NewAlphabet("ground", "stone", "sky"))
	e.AddCount(0, 0, 6)
	e.AddCount(0, 1, 2)
	e.AddCount(1, 1, 2)
	if a, b := e.Count(0, 1), e.Count(1, 0); a != 2 || b != 0 {
		t.Errorf("%g pixels of the ground are called stone, and %g of the stone ground, want 2 and 0", a, b)
	}
	want := `accuracy 80.00 % of 10; mean IoU 62.50 % over 2 classes
class       IoU  precision   recall    labelled
ground   75.00%    100.00%   75.00%           8
stone    50.00%     50.00%  100.00%           2
`
	if got := e.Table(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	m := e.Metrics()
	if got := m.String(); !strings.Contains(got, "accuracy 80.00 %, mean class IoU 62.50 %") {
		t.Error(got)
	}
	if name, err := m.Error(); math.Abs(err-0.375) > 1e-12 || name != "class error (1 − mean class IoU)" {
		t.Error(name, err)
	}
}

func TestWithoutUnknown(t *testing.T) {
	names := structured.NewAlphabet("a", "b")
	d := &structured.Dataset{
		Name: "x", Alphabet: names, Offsets: []int{0, 3, 4, 6}, Labels: []int32{1, -1, 0, -1, 0, 1},
		LabelSets: [][]int32{nil},
		Features:  []float32{1, 2, 3, 4, 5, 6}, Dim: 1, Costs: []float32{1, 0, 3, 0, 5, 6}, CostRows: structured.Positions,
		Graphs: []*structured.Graph{
			{Ends: [][2]int32{{0, 1}, {2, 0}, {1, 2}}, Types: []int32{0, 1, 2}}, {Types: []int32{}},
			{Ends: [][2]int32{{0, 1}}, Types: []int32{3}},
		},
		Tables: []*structured.Table{
			{Name: graphs.EdgeRows, Offsets: []int{0, 3, 3, 4}, Features: []float32{1, 2, 3, 4, 5, 6, 7, 8}, Dim: 2},
			{Name: graphs.PixelRows, Offsets: []int{0, 3, 4, 6}, Attributes: &structured.Sparse{
				Offsets: []int{0, 2, 2, 3, 3, 4, 5}, Index: []int32{0, 1, 0, 0, 1}, Value: []float32{1, 2, 3, 4, 5},
			}},
		},
		IDs: []string{"p", "q", "r"},
	}
	s := graphs.WithoutUnknown(d)
	e, f := graphs.NewEvaluator(names), graphs.NewEvaluator(names)
	for i, y := range [][]int32{{0, 1, 0}, {1}, {1, 1}} {
		e.Add(d, i, y)
		var kept []int32
		for v, l := range y {
			if d.Labels[d.Offsets[i]+v] >= 0 {
				kept = append(kept, l)
			}
		}
		f.Add(s, i, kept)
	}
	if e.Table() != f.Table() {
		t.Errorf("without unknown labels\n%s, with them\n%s", f.Table(), e.Table())
	}
	check := func(what string, ok bool) {
		if !ok {
			t.Errorf("%s: %+v, edges %+v", what, s, s.Table(graphs.EdgeRows))
		}
	}
	equal := func(x []float32, y ...float32) bool {
		if len(x) != len(y) {
			return false
		}
		for k := range x {
			if x[k] != y[k] {
				return false
			}
		}
		return true
	}
	edges := s.Table(graphs.EdgeRows)
	check("offsets", s.Len() == 3 && s.Length(0) == 2 && s.Length(1) == 0 && s.Length(2) == 2 && edges.Offsets[1] == 1 &&
		edges.Offsets[3] == 2)
	check("features", equal(s.Features, 1, 3, 5, 6) && equal(s.Costs, 1, 3, 5, 6) && equal(edges.Features, 3, 4, 7, 8))
	check("graphs", s.Graphs[0].Ends[0] == [2]int32{1, 0} && s.Graphs[0].Types[0] == 1 && len(s.Graphs[1].Ends) == 0 &&
		s.Graphs[2].Types[0] == 3)
	check("partial", !s.Partial(0) && s.ID(1) == "q" && graphs.WithoutUnknown(s) == s)
}
