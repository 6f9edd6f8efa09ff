package transfer

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets/graph"
)

// layout makes a layout of named arrays.
func layout(arrays ...graph.Param) graph.Layout {
	l, err := graph.NewLayout(arrays)
	if err != nil {
		panic(err)
	}
	return l
}

func numbers(n int) []float32 {
	w := make([]float32, n)
	for i := range w {
		w[i] = float32(i + 1)
	}
	return w
}

// Old entries come to their places in arrays that grew along labels, words, pairs of labels, or several of them; new
// ones are zero.
func TestWeights(t *testing.T) {
	was, is := Sizes{Labels: 2, Others: []int{3, 0}}, Sizes{Labels: 3, Others: []int{5, 0}}
	for name, c := range map[string]struct {
		from, to []int
		want     []float32 // nil: not taken over
	}{
		"the same":         {[]int{2, 7}, []int{2, 7}, numbers(14)},
		"labels":           {[]int{2}, []int{3}, []float32{1, 2, 0}},
		"words × labels":   {[]int{3, 2}, []int{5, 3}, []float32{1, 2, 0, 3, 4, 0, 5, 6, 0, 0, 0, 0, 0, 0, 0}},
		"transitions":      {[]int{2, 2}, []int{3, 3}, []float32{1, 2, 0, 3, 4, 0, 0, 0, 0}},
		"pairs of labels":  {[]int{1, 4}, []int{1, 9}, []float32{1, 2, 0, 3, 4, 0, 0, 0, 0}},
		"tables of pairs":  {[]int{8}, []int{18}, []float32{1, 2, 0, 3, 4, 0, 0, 0, 0, 5, 6, 0, 7, 8, 0, 0, 0, 0}},
		"other units":      {[]int{7, 2}, []int{8, 2}, nil},
		"other dimensions": {[]int{2, 2}, []int{4}, nil},
		"three axes":       {[]int{3, 1, 2}, []int{5, 1, 3}, []float32{1, 2, 0, 3, 4, 0, 5, 6, 0, 0, 0, 0, 0, 0, 0}},
	} {
		from, to := layout(graph.Param{Name: "x", Shape: c.from}),
			layout(graph.Param{Name: "x", Shape: c.to}, graph.Param{Name: "y", Shape: []int{2}})
		w := make([]float32, to.Dim())
		for i := range w {
			w[i] = -1
		}
		taken, left := Weights(to, w, is, from, numbers(from.Dim()), was, nil)
		if c.want == nil {
			if len(taken) != 0 || w[0] != -1 {
				t.Errorf("%s: taken over as %v", name, w)
			}
			continue
		}
		if !slices.Equal(taken, []string{"x"}) || !slices.Equal(left, []string{"y"}) || !slices.Equal(w[:len(w)-2], c.want) ||
			w[len(w)-1] != -1 {
			t.Errorf("%s: took %v, left %v: %v, expected %v", name, taken, left, w, c.want)
		}
	}
}

// The matrix of transitions has one name in linear models and another in networks.
func TestAlias(t *testing.T) {
	from, to := layout(graph.Param{Name: "transitions", Shape: []int{2, 2}}),
		layout(graph.Param{Name: "transition", Shape: []int{2, 2}})
	w := make([]float32, 4)
	if taken, _ := Weights(to, w, Sizes{Labels: 2}, from, numbers(4), Sizes{Labels: 2}, nil); len(taken) != 1 ||
		w[3] != 4 {
		t.Errorf("took %v: %v", taken, w)
	}
}

// A network without layers takes the weights of a linear model's dense features where it is told their names, and only
// then.
func TestMoreNames(t *testing.T) {
	from := layout(graph.Param{Name: "bias", Shape: []int{2}}, graph.Param{Name: "dense", Shape: []int{3, 2}})
	to := layout(graph.Param{Name: "node.weight", Shape: []int{3, 2}}, graph.Param{Name: "node.bias", Shape: []int{2}})
	for _, c := range []struct {
		names map[string]string
		want  []float32
	}{{Linear, []float32{3, 4, 5, 6, 7, 8, 1, 2}}, {nil, make([]float32, 8)}} {
		w := make([]float32, to.Dim())
		Weights(to, w, Sizes{Labels: 2}, from, numbers(from.Dim()), Sizes{Labels: 2}, c.names)
		if !slices.Equal(w, c.want) {
			t.Errorf("names %v: %v, expected %v", c.names, w, c.want)
		}
	}
}
