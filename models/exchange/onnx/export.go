package onnx

import (
	"fmt"
	"io"
	"slices"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/exchange/onnx/format"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// The versions of the format: of the operators, and of the file.
const (
	opset     = 18
	irVersion = 8
)

// largest is how many bytes a file of protobuf can have.
const largest = 1<<31 - 1

// Options say what a graph computes beside the best labels.
type Options struct {
	Marginals bool // of chains: the probability of each label at each position
}

// Summary says what a graph holds.
type Summary struct {
	Structure       string
	Decoded         bool // the outputs are the best labels; otherwise they are potentials
	Inputs, Outputs []string
}

// Export writes the model to a file. Graphs of chains decode; those of other structures compute the potentials, an
// output for each part that is not zero.
func Export(m *models.Model, path string, o Options) (Summary, error) {
	file, s, err := build(m, o)
	if err != nil {
		return s, err
	}
	if size := format.Size(file); size > largest {
		return s, structured.BadInput("%s: the model takes %.1f GiB, and an ONNX file holds at most 2; export its "+
			"weights instead (--weights)", path, float64(size)/(1<<30))
	}
	return s, host.WriteFile(path, func(w io.Writer) error { return format.Write(w, file) })
}

// build translates the model.
func build(m *models.Model, o Options) (*format.Model, Summary, error) {
	form := m.Net.Form()
	perPosition, isChain := chainForm(form)
	s := Summary{Structure: form.Structure.Name(), Decoded: isChain}
	if o.Marginals && !isChain {
		return nil, s, structured.BadInput("--marginals: only chains are decoded in ONNX; of a %s the graph has the "+
			"potentials, and dsp predict the probabilities", s.Structure)
	}
	if r := m.Encoder; r != nil && r.Int8 {
		return nil, s, structured.BadInput("the model reads rows of --encoder-precision int8, which have " +
			"no translation to ONNX; " +
			"train with float32, or export potentials (--potentials)")
	}
	in := newInputs(newBuilder())
	in.standard = m.Standard
	if in.encoder = m.Encoder; m.Encoder != nil {
		in.encoderWeights = encoderWeights(m)
	}
	in.reserve("labels", "score", "marginals")
	for _, part := range form.Parts {
		in.reserve(part.Name)
	}
	parts, err := score(m, in)
	if err != nil {
		return nil, s, err
	}
	g := &format.Graph{Name: "dsp"}
	if isChain {
		c := newChain(in, form.Parts[0].Width, parts[0].name, parts[1].name, perPosition, m.Constraints)
		labels, score := c.best()
		in.output("labels", labels, format.Int64, dimBatch, dimTime)
		in.output("score", score, format.Float, dimBatch)
		if o.Marginals {
			in.output("marginals", c.marginals(m.Temper()), format.Float, dimBatch, dimTime, form.Parts[0].Width)
		}
	} else {
		for k, part := range form.Parts {
			if x := parts[k]; x.name != "" {
				in.output(part.Name, x.name, format.Float, append(x.rows, part.Width)...)
			}
		}
	}
	if in.err != nil {
		return nil, s, in.err
	}
	// lengths are last, whichever op asked for them first
	slices.SortStableFunc(in.declared, func(a, b *format.Array) int {
		return number(a.Name == inputLengths) - number(b.Name == inputLengths)
	})
	g.Nodes, g.Initializers, g.Inputs, g.Outputs = in.nodes, in.initializers, in.declared, in.outputs
	for _, x := range g.Inputs {
		s.Inputs = append(s.Inputs, x.Name)
	}
	for _, x := range g.Outputs {
		s.Outputs = append(s.Outputs, x.Name)
	}
	file := fileOf(g, describe(s))
	file.ProducerVersion = &m.Version
	file.Metadata, err = metadata(m, s)
	return file, s, err
}

func fileOf(g *format.Graph, description string) *format.Model {
	return &format.Model{
		IRVersion: irVersion, ProducerName: "dsp", Doc: description, Graph: g,
		Operators: []*format.Version{{Domain: new(""), Version: opset}},
	}
}

// potentials are those of one part: their array, empty if they are zero, and its dimensions before the last, none if
// all rows are the same.
type potentials struct {
	name string
	rows []any
}

// score adds the network to the graph and returns the potentials by part.
func score(m *models.Model, in *inputs) ([]potentials, error) {
	valued := m.Template == nil && (m.Own == nil || ownValues(m))
	switch net := m.Net.(type) {
	case *sparse.Linear:
		names := linear(in, net, m.W, valued)
		return names, in.err
	case *nets.Net:
		flow, err := graph.NewFlow(net.Spec(), net.Layout(), net.Input(), graph.OpenSize)
		if err != nil {
			return nil, err
		}
		n := &network{inputs: in, name: net.Name(), layout: net.Layout(), shape: net.Input(), w: m.W,
			flow: flow, valued: valued}
		return n.translate()
	}
	return nil, structured.BadInput("net %s (%T) has no translation to ONNX", m.Net.Name(), m.Net)
}

// ownValues reports whether the attributes of a task's own inputs have values: those made by a template have none.
func ownValues(m *models.Model) bool {
	_, _, arcs := m.ArcAttributes()
	_, _, pairs := m.PairAttributes()
	return arcs == "" && pairs == ""
}

// chainForm reports whether potentials are those of a chain, and whether their edges are per position.
func chainForm(form structured.Form) (perPosition, ok bool) {
	_, ok = form.Structure.(chains.Chain)
	return ok && form.Parts[1].Rows == structured.Steps, ok
}

// describe says in words what the graph computes.
func describe(s Summary) string {
	if s.Decoded {
		return "dsp: the best labels of a batch of sequences, −1 behind the end of each, and their score."
	}
	return fmt.Sprintf("dsp: the potentials of a batch of %ss. The graph does not decode.", s.Structure)
}
