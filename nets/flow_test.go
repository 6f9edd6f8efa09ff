package nets_test

import (
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// The forward pass of every preset reads arrays after they are made, and knows the axis of the rows of each: that of
// the potentials has the rows of their table, and arrays of two sizes of a network differ in it alone.
func TestFlowOfPresets(t *testing.T) {
	small := graph.Size{Rows: 11, Pairs: 13, Chars: 17}
	for _, p := range presets {
		t.Run(p.name, func(t *testing.T) {
			net := mustNew(t, p.config, p.input, testLabels)
			of := func(size graph.Size) *graph.Flow {
				f, err := graph.NewFlow(net.Spec(), net.Layout(), net.Input(), size)
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			f, g := of(graph.OpenSize), of(small)
			if len(f.Steps) != len(g.Steps) || !slices.Equal(f.Outputs, g.Outputs) {
				t.Fatalf("%d steps and outputs %v, for another size %d and %v", len(f.Steps), f.Outputs, len(g.Steps), g.Outputs)
			}
			for i, s := range f.Steps {
				if slices.Max(append(s.Args, -1)) >= i {
					t.Errorf("step %d (%v) reads steps %v", i, s.Op, s.Args)
				}
				switch a, b := s.Rows, g.Steps[i].Rows; {
				case a.Free():
				case a.Outer != b.Outer || a.Inner != b.Inner || a.Of != b.Of:
					t.Errorf("step %d (%v) has axis %+v, for another size %+v", i, s.Op, a, b)
				case s.N != a.Outer*a.Rows*a.Inner || a.Rows != rowsOf(f.Size, a.Of) || b.Rows != rowsOf(small, b.Of):
					t.Errorf("step %d (%v) of %d entries has axis %+v", i, s.Op, s.N, a)
				}
			}
			for k, part := range f.Form.Parts {
				if f.Outputs[k] < 0 {
					continue
				}
				s := f.Steps[f.Outputs[k]]
				want := graph.Axis{Outer: 1, Rows: f.Size.Rows, Inner: part.Width}
				if part.Rows == structured.Tied {
					want = graph.Axis{}
				}
				if s.Rows != want {
					t.Errorf("%s potentials have axis %+v, want %+v", part.Name, s.Rows, want)
				}
			}
		})
	}
}

func rowsOf(s graph.Size, kind graph.RowKind) int {
	switch kind {
	case graph.RowsOfPairs:
		return s.Pairs
	case graph.RowsOfCharacters:
		return s.Chars
	}
	return s.Rows
}

// An axis of rows is found in an array of another shape, if the shape has one.
func TestLocate(t *testing.T) {
	a := graph.Axis{Outer: 2, Rows: 7, Inner: 6}
	for _, c := range []struct {
		shape []int
		want  int
	}{{[]int{2, 7, 6}, 1}, {[]int{14, 6}, 0}, {[]int{2, 7, 3, 2}, 1}, {[]int{2, 42}, 1}, {[]int{84}, 0},
		{[]int{1, 2, 21, 2}, 2}, {[]int{4, 21}, -1}} {
		if got := a.Locate(c.shape); got != c.want {
			t.Errorf("in %v: %d, want %d", c.shape, got, c.want)
		}
	}
}

// A network that mixes rows has no forward pass either.
func TestFlowRefusesMixedRows(t *testing.T) {
	_, err := graph.NewFlow(&graph.Spec{Name: "mixing",
		Build: func(g *graph.Graph) (node, edge *gorgonia.Node, err error) {
			x, err := gorgonia.Mul(g.Features(), gorgonia.Must(gorgonia.Transpose(g.Features())))
			return x, nil, err
		}}, nil, graph.Input{Dim: 3}, graph.OpenSize)
	if err == nil || !strings.Contains(err.Error(), "mixes rows") || !strings.Contains(err.Error(), "mixing") {
		t.Errorf("got %v", err)
	}
}
