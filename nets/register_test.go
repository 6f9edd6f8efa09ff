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
			h := gorgonia.Must(g.Activate(gorgonia.Must(gorgonia.Mul(g.Features(), g.Param("in"))), c.Activation))
			return gorgonia.Must(gorgonia.Mul(h, g.Param("out"))), nil, nil
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
		{Config{Net: "yours"}, "is not in this program, which has " +
			strings.Join(PresetsThat(func(*Preset) bool { return true }), ", ") + ", mine"},
	} {
		if _, err := New(c.config, in, 4); !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%+v: %v, expected %q", c.config, err, c.message)
		}
	}
	out := Output{Labels: 2, Form: trees.SpanningTree{}.Form(2)}
	if _, err := Make(Config{Net: "mine"}, in, out); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "scores a chain") {
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
		return graph.Spec{Params: []graph.Param{{Name: "w", Shape: []int{2, 2}}},
			Build: func(g *graph.Graph) (*gorgonia.Node, *gorgonia.Node, error) { return g.Param("x"), nil, nil }}, nil
	})
	for _, name := range []string{"early", "late"} {
		if _, err := New(Config{Net: name}, graph.Input{Dim: 3}, 4); err == nil ||
			!strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("net %s: %v", name, err)
		}
	}
}
