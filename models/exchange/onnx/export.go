package onnx

import (
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/exchange/onnx/onnxpb"
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
	if size := proto.Size(file); size > largest {
		return s, structured.BadInput("%s: the model takes %.1f GiB, and an ONNX file holds at most 2; export its weights instead (--weights)", path, float64(size)/(1<<30))
	}
	content, err := serialise(file)
	if err != nil {
		return s, err
	}
	return s, host.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

func serialise(file *onnxpb.ModelProto) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(file)
}

// build translates the model.
func build(m *models.Model, o Options) (*onnxpb.ModelProto, Summary, error) {
	form := m.Net.Form()
	perPosition, isChain := chainForm(form)
	s := Summary{Structure: form.Structure.Name(), Decoded: isChain}
	if o.Marginals && !isChain {
		return nil, s, structured.BadInput("--marginals: only chains are decoded in ONNX; of a %s the graph has the potentials, and dsp predict the probabilities", s.Structure)
	}
	if r := m.Encoder; r != nil && r.Int8 {
		return nil, s, structured.BadInput("the model reads rows of --encoder-precision int8, which have no translation to ONNX; " +
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
	g := &onnxpb.GraphProto{Name: proto.String("dsp")}
	if isChain {
		c := newChain(in, form.Parts[0].Width, parts[0].name, parts[1].name, perPosition, m.Constraints)
		c.best("labels", "score")
		g.Output = append(g.Output, valueInfo("labels", int64Type, dimBatch, dimTime), valueInfo("score", float32s, dimBatch))
		if o.Marginals {
			c.marginals("marginals", m.Temper())
			g.Output = append(g.Output, valueInfo("marginals", float32s, dimBatch, dimTime, form.Parts[0].Width))
		}
	} else {
		for k, part := range form.Parts {
			if x := parts[k]; x.name != "" {
				in.addAs(part.Name, "Identity", []string{x.name})
				g.Output = append(g.Output, valueInfo(part.Name, float32s, append(x.rows, part.Width)...))
			}
		}
	}
	if in.err != nil {
		return nil, s, in.err
	}
	slices.SortStableFunc(in.declared, func(a, b *onnxpb.ValueInfoProto) int { // lengths are last, whichever op asked for them first
		return number(a.GetName() == inputLengths) - number(b.GetName() == inputLengths)
	})
	g.Node, g.Initializer, g.Input = in.nodes, in.initializers, in.declared
	for _, x := range g.Input {
		s.Inputs = append(s.Inputs, x.GetName())
	}
	for _, x := range g.Output {
		s.Outputs = append(s.Outputs, x.GetName())
	}
	file := fileOf(g, describe(s))
	file.ProducerVersion = &m.Version
	file.MetadataProps, err = metadata(m, s)
	return file, s, err
}

func fileOf(g *onnxpb.GraphProto, description string) *onnxpb.ModelProto {
	return &onnxpb.ModelProto{
		IrVersion: proto.Int64(irVersion), ProducerName: proto.String("dsp"), Graph: g,
		OpsetImport: []*onnxpb.OperatorSetIdProto{{Domain: proto.String(""), Version: proto.Int64(opset)}},
		DocString:   proto.String(description),
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
		n := &network{inputs: in, name: net.Name(), layout: net.Layout(), shape: net.Input(), w: m.W, flow: flow, valued: valued}
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
