package netstest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured/trees"
)

const allLayers = `
- embed: [4, 3]
- features
- characters: {channels: 4, units: 3}
- attributes: 5
- dropout: 0.2
- window: 3
- dense: 6
- activation: tanh
- convolution: {channels: 5, width: 3, activation: elu}
- residual:
  - dense: {units: 7, activation: elu}
  - dense: 5
- activation
- norm
- recurrent: 4
- residual:
  - attention: 2
- block: {heads: 2, units: 6}
`

// Every preset, and stacks of every layer.
func TestPresets(t *testing.T) {
	words, both := graph.Input{Vocab: []int{11, 5}}, graph.Input{Vocab: []int{11, 5}, Dim: 2}
	all := graph.Input{Vocab: []int{11, 5}, Dim: 2, Characters: 9, Attributes: 30}
	for _, p := range []struct {
		config nets.Config
		input  graph.Input
	}{
		{nets.Config{Net: "linear", Window: 3}, graph.Input{Dim: 5}},
		{nets.Config{Net: "mlp", Hidden: []int{7, 6}, Edges: nets.EdgesPosition}, graph.Input{Dim: 5}},
		{nets.Config{Net: "cnn", Channels: []int{6}, Activation: graph.Tanh}, graph.Input{Dim: 3}},
		{nets.Config{Net: "cnn-image", Channels: []int{3, 2}, Hidden: []int{5}}, graph.Input{Dim: 128}},
		{nets.Config{Net: "embed", Channels: []int{6}, Embed: []int{4, 3}, Edges: nets.EdgesNone}, words},
		{nets.Config{Net: "rnn", Recurrent: []int{4}, Activation: graph.GELU, Hidden: []int{5}}, both},
		{nets.Config{Net: "attention", Channels: []int{8}, Heads: 2, BlockUnits: 6, Activation: graph.SiLU}, both},
		{nets.Config{Net: "deep", Recurrent: []int{4}, CharChannels: 3, CharEmbed: 4, AttributeUnits: 3}, all},
		{nets.Config{Net: "stack", Stack: allLayers}, all},
		{nets.Config{Net: "stack", Stack: "- features\n- image: [4, 6]\n- convolution: 3\n- pool\n- activation: elu\n" +
			"- flatten\n- dense: {units: 5, activation: tanh}\n"}, graph.Input{Dim: 24}},
	} {
		t.Run(p.config.Net, func(t *testing.T) {
			net, err := nets.New(p.config, p.input, 4)
			if err != nil {
				t.Fatal(err)
			}
			CheckNet(t, net)
		})
	}
	form := trees.SpanningTree{}.Form(3)
	for _, c := range []nets.Config{
		{Net: "biaffine", Channels: []int{6}, Embed: []int{4, 3}, ArcUnits: 5, LabelUnits: 4},
		{Net: "biaffine", Recurrent: []int{4}, Layers: 1, Heads: 2, ArcUnits: 5, LabelUnits: 4},
		{Net: "stack", Stack: allLayers, ArcUnits: 5, LabelUnits: 4},
	} {
		t.Run(c.Net+" of trees", func(t *testing.T) {
			net, err := nets.Make(c, all, nets.Output{Labels: 3, Form: form})
			if err != nil {
				t.Fatal(err)
			}
			CheckNet(t, net)
		})
	}
}

// swish is x·sigmoid(βx) with a β for each column, which all rows share: an op with a parameter.
func swish(width int) graph.RowOp {
	sigmoid := func(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }
	return graph.RowOp{
		Name: "swish", Width: width,
		Forward: func(x [][]float32, y []float32) {
			for j, v := range x[0] {
				y[j] = v * sigmoid(x[1][j]*v)
			}
		},
		Pullback: func(x [][]float32, _, dy []float32, dx [][]float32) {
			for j, v := range x[0] {
				s := sigmoid(x[1][j] * v)
				dx[0][j] += dy[j] * (s + v*x[1][j]*s*(1-s))
				dx[1][j] += dy[j] * v * v * s * (1 - s)
			}
		},
		Push: func(x, dx [][]float32, _, dy []float32) {
			for j, v := range x[0] {
				s := sigmoid(x[1][j] * v)
				dy[j] = dx[0][j]*(s+v*x[1][j]*s*(1-s)) + dx[1][j]*v*v*s*(1-s)
			}
		},
	}
}

// mixing sums two inputs of different widths into one number per row, times the square of the first number.
var mixing = graph.RowOp{
	Name: "mixing", Width: 1,
	Forward: func(x [][]float32, y []float32) {
		for _, row := range x {
			for _, v := range row {
				y[0] += v
			}
		}
		y[0] *= x[0][0] * x[0][0]
	},
	Pullback: func(x [][]float32, y, dy []float32, dx [][]float32) {
		first := x[0][0]
		for i, row := range dx {
			for j := range row {
				dx[i][j] += dy[0] * first * first
			}
		}
		dx[0][0] += dy[0] * 2 * sum(x) * first
	},
	Push: func(x, dx [][]float32, _, dy []float32) {
		first := x[0][0]
		dy[0] = first*first*sum(dx) + 2*sum(x)*first*dx[0][0]
	},
}

func sum(rows [][]float32) (s float32) {
	for _, row := range rows {
		for _, v := range row {
			s += v
		}
	}
	return s
}

// withOps is a network of two own ops.
func withOps(first graph.RowOp) graph.Spec {
	return graph.Spec{
		Name: "mine",
		Params: []graph.Param{
			{Name: "in", Shape: []int{3, 4}}, {Name: "beta", Shape: []int{4}}, {Name: "out", Shape: []int{5, 3}},
			{Name: "edge", Shape: []int{3, 3}},
		},
		Build: func(g *graph.Graph) (node, edge *gorgonia.Node, err error) {
			h := gorgonia.Must(gorgonia.Mul(g.Features(), g.Param("in")))
			y := gorgonia.Must(g.Own(first, h, g.Param("beta")))
			z := gorgonia.Must(g.Own(mixing, y, g.Features()))
			return gorgonia.Must(gorgonia.Mul(gorgonia.Must(gorgonia.Concat(1, y, z)), g.Param("out"))), g.Param("edge"), nil
		},
	}
}

func TestOwnOps(t *testing.T) {
	CheckOp(t, swish(4), 4, 4)
	CheckOp(t, mixing, 4, 3)
	CheckOp(t, mixing, 1)
	Check(t, withOps(swish(4)), graph.Input{Dim: 3})
}

// recorder is a test that remembers its complaints.
type recorder struct {
	testing.TB
	said []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.said = append(r.said, fmt.Sprintf(format, args...))
}
func (r *recorder) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// The checks find what is wrong, and name it.
func TestChecksFindMistakes(t *testing.T) {
	for name, spoil := range map[string]func(op *graph.RowOp){
		"pullback": func(op *graph.RowOp) {
			right := op.Pullback
			op.Pullback = func(x [][]float32, y, dy []float32, dx [][]float32) {
				right(x, y, dy, dx)
				dx[1][0] = 0 // overwrites what other rows added
			}
		},
		"push": func(op *graph.RowOp) {
			right := op.Push
			op.Push = func(x, dx [][]float32, y, dy []float32) {
				right(x, dx, y, dy)
				dy[1] = -dy[1]
			}
		},
	} {
		op := swish(4)
		spoil(&op)
		for what, run := range map[string]func(t testing.TB){
			"CheckOp": func(t testing.TB) { CheckOp(t, op, 4, 4) },
			"Check":   func(t testing.TB) { Check(t, withOps(op), graph.Input{Dim: 3}) },
		} {
			r := &recorder{TB: t}
			run(r)
			if all := strings.Join(r.said, "\n"); !strings.Contains(strings.ToLower(all), name) {
				t.Errorf("%s of an op with a mistake said %q, expected something about %q", what, all, name)
			}
		}
	}
}

// A network whose rows depend on its own calls, not on the example alone, is found out.
func TestChecksFindState(t *testing.T) {
	calls := float32(0)
	op := graph.RowOp{
		Name: "counts", Width: 4,
		Forward: func(x [][]float32, y []float32) {
			calls++
			for j := range y {
				y[j] = x[0][j] + calls
			}
		},
		Pullback: func(_ [][]float32, _, dy []float32, dx [][]float32) {
			for j, v := range dy {
				dx[0][j] += v
			}
		},
		Push: func(_, dx [][]float32, _, dy []float32) { copy(dy, dx[0]) },
	}
	r := &recorder{TB: t}
	Check(r, withOps(op), graph.Input{Dim: 3})
	if all := strings.Join(r.said, "\n"); !strings.Contains(all, "different bits") ||
		!strings.Contains(all, "depend on the others") {
		t.Errorf("Check said %q", all)
	}
}
