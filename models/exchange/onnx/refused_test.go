package onnx

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"
	gtensor "gorgonia.org/tensor"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	pairwise "github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/matchings"
	"github.com/dsp-go/dsp/structured/trees"
)

// custom returns a model whose network for chains of 2 labels is middle over 3 dense features.
func custom(t *testing.T, middle func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error)) *models.Model {
	t.Helper()
	net, err := nets.Build(graph.Spec{
		Name:   "custom",
		Params: []graph.Param{{Name: "w", Shape: []int{3, 2}}},
		Build: func(g *graph.Graph) (node, edge *gorgonia.Node, err error) {
			x, err := middle(g, g.Features())
			if err != nil {
				return nil, nil, err
			}
			node, err = gorgonia.Mul(x, g.Param("w"))
			return node, nil, err
		},
	}, graph.Input{Dim: 3})
	if err != nil {
		t.Fatal(err)
	}
	return &models.Model{Labels: structured.NewAlphabet("a", "b"), Net: net, W: make([]float32, net.Dim())}
}

// Ops of Go code are refused by name, and no file is left.
func TestOwnOpsAreRefused(t *testing.T) {
	m := custom(t, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
		return g.Own(graph.RowOp{Name: "twist", Width: 3,
			Forward:  func(x [][]float32, y []float32) { copy(y, x[0]) },
			Pullback: func(x [][]float32, y, dy []float32, dx [][]float32) { copy(dx[0], dy) },
			Push:     func(x, dx [][]float32, y, dy []float32) { copy(dy, dx[0]) },
		}, x)
	})
	path := filepath.Join(t.TempDir(), "m.onnx")
	_, err := Export(m, path, Options{})
	if !structured.IsBadInput(err) || !strings.Contains(err.Error(), `op "twist"`) ||
		!strings.Contains(err.Error(), `network "custom"`) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the refused export left %s: %v", path, err)
	}
}

// Functions that Gorgonia has and presets do not use are translated, too, and sinusoids of positions: the graph
// predicts what the model does.
func TestFunctionsOfOwnNetworks(t *testing.T) {
	d := &structured.Dataset{Name: "x", Offsets: []int{0, 4, 5, 7}, Dim: 3}
	for t := range 3 * d.Positions() {
		d.Features = append(d.Features, float32(t%7)/4-0.6)
	}
	for name, f := range map[string]func(*gorgonia.Node) (*gorgonia.Node, error){
		"Square": gorgonia.Square, "Cube": gorgonia.Cube, "Exp": gorgonia.Exp, "Log1p": gorgonia.Log1p,
		"Expm1": gorgonia.Expm1, "Softplus": gorgonia.Softplus,
		"Abs": gorgonia.Abs, "Sin": gorgonia.Sin, "Cos": gorgonia.Cos, "Tanh": gorgonia.Tanh, "Neg": gorgonia.Neg,
		"softmax": func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.SoftMax(x) },
		"slice":   func(x *gorgonia.Node) (*gorgonia.Node, error) { return concatenated(x, gorgonia.S(1, 3)) },
		"compare": func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Gt(x, gorgonia.NewConstant(float32(0)), true)
		},
		"positions": nil,
	} {
		t.Run(name, func(t *testing.T) {
			m := custom(t, func(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
				if f != nil {
					return f(x)
				}
				return positioned(g, x)
			})
			m.Dim = d.Dim
			for j := range m.W {
				m.W[j] = float32(j%4) - 1.3
			}
			file := built(t, m, Options{Marginals: true})
			checkOrder(t, file.Graph, map[string]bool{}, map[string]bool{})
			checkInitializers(t, file.Graph)
			checkPredictions(t, m, d, run(t, file.Graph, batch(d)))
		})
	}
}

// positioned adds sinusoids of positions to two of the three columns of x.
func positioned(g *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) {
	two, err := gorgonia.Slice(x, nil, gorgonia.S(0, 2))
	if err != nil {
		return nil, err
	}
	if two, err = g.AddPositions(two); err != nil {
		return nil, err
	}
	both, err := gorgonia.Concat(1, two, x)
	if err != nil {
		return nil, err
	}
	return gorgonia.Slice(both, nil, gorgonia.S(0, 3))
}

// concatenated joins some columns of x [Rows×3] with its first one, and has 3 columns again.
func concatenated(x *gorgonia.Node, columns gtensor.Slice) (*gorgonia.Node, error) {
	part, err := gorgonia.Slice(x, nil, columns)
	if err != nil {
		return nil, err
	}
	first, err := gorgonia.Slice(x, nil, gorgonia.S(0, 2))
	if err != nil {
		return nil, err
	}
	both, err := gorgonia.Concat(1, part, first)
	if err != nil {
		return nil, err
	}
	return gorgonia.Slice(both, nil, gorgonia.S(0, 3))
}

// Only chains are decoded.
func TestMarginalsOfOtherStructuresAreRefused(t *testing.T) {
	m := model(t, func(c *config.Config) { drawn("parse")(c); c.Net = "linear" })
	if _, _, err := build(m, Options{Marginals: true}); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "projective tree") {
		t.Errorf("got %v", err)
	}
}

// A file that cannot be written is left as it was.
func TestFilesAreWholeOrUntouched(t *testing.T) {
	m := custom(t, func(_ *graph.Graph, x *gorgonia.Node) (*gorgonia.Node, error) { return x, nil })
	if _, err := Export(m, filepath.Join(t.TempDir(), "no", "folder", "m.onnx"), Options{}); err == nil {
		t.Error("a folder that does not exist was no error")
	}
	path := filepath.Join(t.TempDir(), "m.onnx")
	var files [2][]byte
	for i := range files {
		if _, err := Export(m, path, Options{}); err != nil {
			t.Fatal(err)
		}
		var err error
		if files[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(files[0], files[1]) {
		t.Error("two exports of a model differ")
	}
}

// The cells around those of a grid of 2×3.
func TestGridWindow(t *testing.T) {
	got := gridWindow(graph.Grid{Height: 2, Width: 3}, 3)
	if want := []int32{-1, -1, -1, -1, 0, 1, -1, 3, 4}; !slices.Equal(got[:9], want) {
		t.Errorf("around the first cell: %v, want %v", got[:9], want)
	}
	if want := []int32{1, 2, -1, 4, 5, -1, -1, -1, -1}; len(got) != 6*9 || !slices.Equal(got[45:], want) {
		t.Errorf("around the last cell: %v, want %v", got[45:], want)
	}
}

// A file says what the rows of each part of its potentials are.
func TestRowsAreNamed(t *testing.T) {
	for _, c := range []struct {
		form structured.Form
		want string
	}{
		{chains.Form(3, false), "positions, shared by all examples"},
		{chains.Form(3, true), "positions, positions"},
		{trees.SpanningTree{}.Form(2), "pairs of positions, pairs of positions"},
		{matchings.Matching{}.Form(), "pairs of positions, source items"},
		{pairwise.Pairwise{Edges: pairwise.Own}.Form(3, 0), "positions, edges"},
	} {
		var rows []string
		for _, part := range c.form.Parts {
			rows = append(rows, rowsOf(part))
		}
		if got := strings.Join(rows, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.form.Structure.Name(), got, c.want)
		}
	}
}
