package nets

import (
	"strings"
	"testing"

	"gorgonia.org/gorgonia"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// forgetNetworks empties the registry for a test.
func forgetNetworks(t *testing.T) {
	all, err := registry.all, registry.err
	registry.all, registry.err = nil, nil
	t.Cleanup(func() { registry.all, registry.err = all, err })
}

// oneLayer is an own network with one hidden layer.
func oneLayer(c Config, in graph.Input, out Output) (graph.Spec, error) {
	return graph.Spec{
		Params: []graph.Param{{Name: "in", Shape: []int{in.Dim, c.Hidden[0]}, Init: graph.Glorot},
			{Name: "out", Shape: []int{c.Hidden[0], out.Labels}, Init: graph.Glorot}},
		Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) {
			h := node(g.Activate(node(gorgonia.Mul(g.Features(), g.Param("in"))), c.Activation))
			return node(gorgonia.Mul(h, g.Param("out"))), nil, nil
		},
	}, nil
}

func TestRegister(t *testing.T) {
	forgetNetworks(t)
	Register("mine", Config{Hidden: []int{6}, Activation: graph.ELU}, oneLayer)
	if names, err := Registered(); err != nil || len(names) != 1 || names[0] != "mine" {
		t.Fatalf("registered %v, %v", names, err)
	}
	in := graph.Input{Dim: 3}
	for _, c := range []struct {
		config  Config
		weights int
	}{
		{Config{Net: "mine"}, 3*6 + 6*4},
		{Config{Net: "mine", Hidden: []int{5}, Activation: graph.Tanh, Edges: EdgesTransition}, 3*5 + 5*4},
	} {
		n, err := New(c.config, in, 4)
		if err != nil {
			t.Fatal(err)
		}
		if n.Name() != "mine" || n.Dim() != c.weights {
			t.Errorf("net %s with %d weights, expected %d", n.Name(), n.Dim(), c.weights)
		}
	}
	for _, c := range []struct {
		config  Config
		message string
	}{
		{Config{Net: "mine", Channels: []int{3}}, "has no setting channels"},
		{Config{Net: "mine", Edges: EdgesPosition}, "has no setting edges"},
		{Config{Net: "mine", Activation: "step"}, "activation \"step\""},
		{Config{Net: "mine", Hidden: []int{-1}}, "-1 units"},
		{Config{Net: "mine", Dropout: 0.5}, "has no dropout"},
		{Config{Net: "yours"}, "is not in this program, which has linear, mlp, cnn, cnn-image, conv-map, conv-crop, embed, rnn, attention, deep, biaffine, bilinear, stack, mine"},
	} {
		if _, err := New(c.config, in, 4); !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%+v: %v, expected %q", c.config, err, c.message)
		}
	}
	out := Output{Labels: 2, Form: trees.SpanningTree{}.Form(2)}
	if _, err := Make(Config{Net: "mine"}, in, out); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "scores a chain") {
		t.Errorf("chains for trees: %v", err)
	}
}

// Registrations that cannot work are an error at every use of the registry.
func TestRegisterRefuses(t *testing.T) {
	for _, c := range []struct {
		name     string
		defaults Config
		make     Maker
		message  string
	}{
		{"", Config{}, oneLayer, "without spaces"},
		{"a,b", Config{}, oneLayer, "without spaces"},
		{"mine.yaml", Config{}, oneLayer, "YAML file"},
		{"linear", Config{}, oneLayer, "preset"},
		{"auto", Config{}, oneLayer, "preset"},
		{"mine", Config{}, nil, "without a function"},
		{"mine", Config{Activation: graph.Tanh}, oneLayer, "the default is elu"},
		{"mine", Config{Edges: EdgesNone}, oneLayer, "the default is transition"},
		{"known", Config{}, oneLayer, "twice"},
	} {
		forgetNetworks(t)
		Register("known", Config{}, oneLayer)
		Register(c.name, c.defaults, c.make)
		if _, err := Registered(); !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%q: %v, expected %q", c.name, err, c.message)
		}
	}
}

// A panic in a function of the user's is an error that names the network.
func TestOwnNetworkPanics(t *testing.T) {
	forgetNetworks(t)
	Register("early", Config{}, oneLayer) // reads c.Hidden[0], which its defaults lack
	Register("late", Config{}, func(Config, graph.Input, Output) (graph.Spec, error) {
		return graph.Spec{Params: []graph.Param{{Name: "w", Shape: []int{2, 2}}}, Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) { return g.Param("x"), nil, nil }}, nil
	})
	for _, name := range []string{"early", "late"} {
		if _, err := New(Config{Net: name}, graph.Input{Dim: 3}, 4); err == nil || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("net %s: %v", name, err)
		}
	}
}

// Own refuses ops and inputs that do not fit, and ops that would mix rows.
func TestOwnOpRefuses(t *testing.T) {
	copies := graph.RowOp{
		Name: "copies", Width: 4,
		Forward:  func(x [][]float32, y []float32) { copy(y, x[0]) },
		Pullback: func(_ [][]float32, _, dy []float32, dx [][]float32) { copy(dx[0], dy) },
		Push:     func(_, dx [][]float32, _, dy []float32) { copy(dy, dx[0]) },
	}
	nameless, thin, half := copies, copies, copies
	nameless.Name, thin.Width, half.Push = "", 0, nil
	for _, c := range []struct {
		message string
		build   func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node
	}{
		{"has no Name", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Own(nameless, x)) }},
		{"has Width 0", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Own(thin, x)) }},
		{"lacks a function", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Own(half, x)) }},
		{"input with rows", func(g *graph.Graph, _ *gorgonia.Node) *gorgonia.Node { return node(g.Own(copies, g.Param("bias"))) }},
		{"as many as the other inputs", func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			return node(g.Own(copies, x, g.Param("square")))
		}},
		{`op "copies" mixes rows`, func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node {
			turned := copies
			turned.Width = g.Rows
			return node(gorgonia.Transpose(node(g.Own(turned, node(gorgonia.Transpose(x, 1, 0)))), 1, 0))
		}},
	} {
		_, err := Build(ownSpec(c.build), graph.Input{Dim: 3})
		if err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%v, expected %q", err, c.message)
		}
	}
	net, err := Build(ownSpec(func(g *graph.Graph, x *gorgonia.Node) *gorgonia.Node { return node(g.Own(copies, x)) }), graph.Input{Dim: 3})
	if err != nil {
		t.Fatal(err)
	}
	if ops := net.Needs().OwnOps; len(ops) != 1 || ops[0] != "copies" {
		t.Errorf("own ops %v", ops)
	}
}
