package nets_test

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
)

// Messages about a stack name its file, the line, what is expected there and what was found.
func TestStackRefuses(t *testing.T) {
	pixels := graph.Input{Dim: 7, Map: graph.Map{Height: 2, Width: 2, Channels: 1}}
	for _, c := range []struct {
		text     string
		in       graph.Input
		messages []string
	}{
		{"", graph.Input{Dim: 4}, []string{"my.yaml: no layers"}},
		{"dense: 4\n", graph.Input{Dim: 4}, []string{"my.yaml:1: expected a list of layers", `found "dense: 4"`}},
		{"[]\n", graph.Input{Dim: 4}, []string{"my.yaml:1: expected a list of layers", "an empty list"}},
		{"- features\n- [1", graph.Input{Dim: 4}, []string{"my.yaml:2:3"}},
		{"- features\n- densee: 3\n", graph.Input{Dim: 4}, []string{`my.yaml:2: unknown layer "densee"`, "dense, "}},
		{"- features\n- {dense: 3, window: 3}\n", graph.Input{Dim: 4},
			[]string{`my.yaml:2: expected one layer`, `found "window" beside "dense"`}},
		{"- features\n- dense: -1\n", graph.Input{Dim: 4},
			[]string{`my.yaml:2: layer dense: units: expected a whole number of 1 to 16777216, found "-1"`}},
		{"- features\n- dense: 1.5\n", graph.Input{Dim: 4}, []string{`found "1.5"`}},
		{"- features\n- dense: many\n", graph.Input{Dim: 4}, []string{`found "many"`}},
		{"- features\n- dense: 99999999999\n", graph.Input{Dim: 4}, []string{`found "99999999999"`}},
		{"- features\n- dense\n", graph.Input{Dim: 4}, []string{"my.yaml:2: layer dense needs units"}},
		{"- features\n- dense:\n", graph.Input{Dim: 4}, []string{"my.yaml:2: layer dense needs units"}},
		{"- features\n- dense: {units: 3,\n   size: 4}\n", graph.Input{Dim: 4},
			[]string{`my.yaml:3: layer dense has no field "size"; it has units, activation`}},
		{"- features\n- dense: {units: 3, activation: step}\n", graph.Input{Dim: 4},
			[]string{`activation: expected one of elu, `, `found "step"`}},
		{"- features: 3\n", graph.Input{Dim: 4}, []string{"my.yaml:1: layer features has no fields"}},
		{"- features\n- dropout: 1\n", graph.Input{Dim: 4}, []string{"rate: expected a number of at least 0, below 1"}},
		{"- features\n- window: 2\n", graph.Input{Dim: 4},
			[]string{"my.yaml:2: layer window: width 2: expected an odd number"}},
		{"- dense: 3\n", graph.Input{Dim: 4}, []string{"my.yaml:1: layer dense: nothing is read yet"}},
		{"- features\n- dense: 3\n- features\n", graph.Input{Dim: 4}, []string{"my.yaml:3: layer features: it reads inputs"}},
		{"- features\n", graph.Input{Vocab: []int{4}}, []string{"my.yaml:1: layer features: the data has no dense features"}},
		{"- embed\n", graph.Input{Dim: 4}, []string{"my.yaml:1: layer embed: the data has no discrete inputs"}},
		{"- embed: [3, 4]\n", graph.Input{Vocab: []int{4}}, []string{"2 sizes for 1 discrete inputs"}},
		{"- embed\n- embed\n", graph.Input{Vocab: []int{4}}, []string{"my.yaml:2: layer embed: there is one already"}},
		{"- features\n- residual:\n  - dense: 3\n", graph.Input{Dim: 4},
			[]string{"my.yaml:2: layer residual: its layers make 3 numbers of 4"}},
		{"- features\n- residual:\n  - dense: x\n", graph.Input{Dim: 4}, []string{"my.yaml:3: layer dense"}},
		{"- features\n- residual\n", graph.Input{Dim: 4}, []string{"my.yaml:2: layer residual needs layers"}},
		{"- features\n- image: [3, 3]\n", graph.Input{Dim: 4},
			[]string{"my.yaml:2: layer image: an image of [3 3 1] has 9 numbers, a position 4"}},
		{"- features\n- image: 4\n", graph.Input{Dim: 4}, []string{"expected [height, width]"}},
		{"- features\n- image: [2, 2]\n- dense: 3\n", graph.Input{Dim: 4},
			[]string{"my.yaml:3: layer dense: its rows are pixels"}},
		{"- features\n- image: [2, 2]\n", graph.Input{Dim: 4},
			[]string{"my.yaml:2: layer image: the stack ends in rows of pixels"}},
		{"- features\n- image: [2, 2]\n- pool\n- pool\n", graph.Input{Dim: 4},
			[]string{"my.yaml:4: layer pool: the image has 1×1 pixels"}},
		{"- features\n- attention: 3\n", graph.Input{Dim: 4},
			[]string{"my.yaml:2: layer attention: 4 numbers do not divide into 3 heads"}},
		{"- features\n- block: {heads: 0}\n", graph.Input{Dim: 4},
			[]string{"my.yaml:2: layer block: heads: expected a whole number of 1 to"}},
		{"- embed\n- characters\n", graph.Input{Vocab: []int{4}},
			[]string{"my.yaml:2: layer characters: the data has no characters"}},
		{"- characters\n- characters\n", graph.Input{Vocab: []int{4}, Characters: 5},
			[]string{"my.yaml:2: layer characters: there is one already"}},
		{"- characters: {width: 2}\n", graph.Input{Vocab: []int{4}, Characters: 5},
			[]string{"width 2: expected an odd number"}},
		{"- attributes: 3\n", graph.Input{Vocab: []int{4}},
			[]string{"my.yaml:1: layer attributes: the data has no attributes"}},
		{"- features\n- pool\n", graph.Input{Dim: 4}, []string{"my.yaml:2: layer pool: its rows are not pixels"}},
		{"- features\n- flatten\n", graph.Input{Dim: 4}, []string{"my.yaml:2: layer flatten: its rows are not pixels"}},
		{"- features\n- image: [2, 2]\n- convolution: {channels: 3, width: 5}\n", graph.Input{Dim: 4},
			[]string{"my.yaml:3: layer convolution: width 5"}},
		{"- pixels: [flatten]\n", graph.Input{Dim: 4}, []string{"my.yaml:1: layer pixels: the data has no pixels"}},
		{"- pixels\n", graph.Input{Dim: 4}, []string{"my.yaml:1: layer pixels needs layers"}},
		{"- pixels: [flatten]\n- pixels: [flatten]\n", pixels, []string{"my.yaml:2: layer pixels: there is one already"}},
		{"- pixels: [{conv: 2}]\n", pixels, []string{"my.yaml:1: layer pixels: its layers end in rows of pixels"}},
		{"- pixels:\n  - dense: 3\n", pixels, []string{"my.yaml:2: layer dense: its rows are pixels"}},
		{"- pixels:\n  - features\n", pixels, []string{"my.yaml:2: layer features: it reads inputs"}},
		{"- features\n- image\n- flatten\n", pixels,
			[]string{"my.yaml:2: layer image: an image of [2 2 1] has 4 numbers, a position 3"}},
	} {
		_, err := nets.New(nets.Config{Net: nets.StackNet, Stack: c.text, StackFile: "my.yaml"}, c.in, 3)
		for _, m := range c.messages {
			if !structured.IsBadInput(err) || !strings.Contains(err.Error(), m) {
				t.Errorf("%q: %v, expected %q", c.text, err, m)
			}
		}
	}
}

// Settings reach the layers that leave them open, and are refused where there are none.
func TestStackSettings(t *testing.T) {
	in := graph.Input{Dim: 4}
	open := "- features\n- dense: 3\n- activation\n- dropout\n"
	for _, c := range []struct {
		config  nets.Config
		message string
	}{
		{nets.Config{Stack: open, Activation: graph.Tanh, Dropout: 0.5}, ""},
		{nets.Config{Stack: open, Edges: nets.EdgesPosition}, ""},
		{nets.Config{Stack: "- features\n- dense: 3\n", Activation: graph.Tanh}, "activation tanh has no effect"},
		{nets.Config{Stack: "- features\n- dropout: 0.1\n", Dropout: 0.5}, "dropout 0.5 has no effect"},
		{nets.Config{Stack: open, Hidden: []int{3}}, "from its list of layers"},
	} {
		c.config.Net = nets.StackNet
		n, err := nets.New(c.config, in, 3)
		switch {
		case c.message != "":
			if !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.message) {
				t.Errorf("%+v: %v, expected %q", c.config, err, c.message)
			}
		case err != nil:
			t.Error(err)
		case n.Needs().Dropout != (c.config.Dropout > 0):
			t.Errorf("%+v: dropout %v", c.config, n.Needs().Dropout)
		}
	}
	n, err := nets.New(nets.Config{Net: nets.StackNet, Stack: "- features\n- dense: 3\n- dense: 2\n- residual:\n" +
		"  - dense: 2\n"}, in, 3)
	if err != nil {
		t.Fatal(err)
	}
	if l := n.Layout().String(); !strings.HasPrefix(l, "dense1.weight[4 3] dense1.bias[3] dense2.weight[3 2] "+
		"dense2.bias[2] dense3.weight[2 2]") {
		t.Errorf("layout %s", l)
	}
}

func TestIsStackFile(t *testing.T) {
	for name, want := range map[string]bool{"a.yaml": true, "b/c.YML": true, "mine": false,
		"stack": false, "yaml": false} {
		if nets.IsStackFile(name) != want {
			t.Errorf("IsStackFile(%q) is %v", name, !want)
		}
	}
}
