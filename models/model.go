// Package models makes models from a configuration and data, keeps them as files, and predicts and evaluates with them.
// The package training trains them.
package models

import (
	"math"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Model is a trained model: a network with its weights, and what it takes to read inputs and name outputs.
type Model struct {
	Config        config.Config        // resolved: everything says what was used
	Version       string               // of the dsp that trained it
	Labels        *structured.Alphabet // the outputs
	inputs.Inputs                      // made of the columns of text
	Dim           int                  // dense features per position; 0 for other inputs
	Width         int                  // columns of the text files; 0 for other formats
	Constraints   *chains.Constraints  // of the outputs, or nil
	// of the tags of the training data, where the labels do not show it; else without a scheme
	Notation chains.Notation
	ClassID  int64 // COCO's number of the objects' class; 0 for other tasks
	Net      nets.Network
	W        []float32 // [Net.Dim()]

	MaxWords int // of a sentence that it predicts; 0: what the task takes

	Unfinished int // the pass of the checkpoint that W are from, if the run was not finished; else 0

	Started *Start    // from which model, before training; nil: from none
	Prior   []float32 // [Net.Dim()] the weights that training regularises towards; nil: zeros

	// Temperature divides the potentials before probabilities are computed; it leaves the best outputs as they are. It
	// was fitted to other data than the weights (package calibration). 0 stands for 1, fitted to none.
	Temperature float64

	taggers []tagger // whose labels fill columns first
	device  home     // that runs the network and the oracles, or nil for the host: see home
	// of the examples of the part of some data that it predicts (predictor.places), or nil
	places      []uint64
	ranks       *Ranks                      // that share what it predicts, or nil
	onUnlike    func(data string, u Unlike) // or nil
	onTruncated func(times int)             // or nil
	onBounds    func(predictions.Bounds)    // or nil

	onExpectedF1 func(ExpectedF1) // or nil
}

// NewModel returns an untrained model for the data, with W drawn from c.Seed. Its Config is c with the network, its
// sizes and the loss resolved; c is not validated.
func NewModel(c config.Config, data *Data) (*Model, error) {
	m := &Model{
		Labels: data.Train.Alphabet, Inputs: data.inputs, Dim: data.Train.Dim, Width: len(data.Train.ColumnNames),
	}
	if m.TunesEncoder() {
		m.Dim += m.Encoder.Width()
	}
	if data.notation.Scheme != "" && data.notation != chains.NotationOfLabels(m.Labels) {
		m.Notation = data.notation
	}
	if s, ok := data.Train.TaskData.(*localisation.Set); ok {
		m.ClassID = s.ClassID
	}
	if decide := tasks.Of(&c).Decide; decide != nil {
		decide(&c, data.Train)
	}
	own := inputs.Of(data.Train)
	m.Vocab, m.Characters, m.Dictionary = own.Vocab, own.Characters, own.Dictionary
	choice, err := chooseNetwork(c, m.Inputs, m.Dim, m.Labels.Len())
	if err != nil {
		return nil, err
	}
	m.Config = withNetwork(c, choice)
	if err := m.assemble(); err != nil {
		return nil, err
	}
	m.W = m.Net.Init(c.Seed)
	m.Prior = m.pretrained()
	if data.continued.start != nil {
		return m, data.continued.begin(m)
	}
	return m, nil
}

// WithDictionary returns a model like m for the attributes in d, with zero weights.
func (m *Model) WithDictionary(d *structured.Dictionary) (*Model, error) {
	other := *m
	other.Dictionary, other.Temperature = d, 0
	if err := other.assemble(); err != nil {
		return nil, err
	}
	other.W = make([]float32, other.Net.Dim())
	return &other, nil
}

// pruned returns a model that predicts the same, to the bit, and has no named attributes without a weight. Attributes
// left keep their order. A model without named attributes of positions or steps is returned as it is.
func (m *Model) pruned() (*Model, error) {
	d := m.Dictionary
	if d == nil || d.Node == nil || !m.Config.Preset().Linear {
		return m, nil
	}
	keep := map[string][]int32{}
	to := structured.Dictionary{HashBits: d.HashBits}
	to.Node, keep["attributes"] = m.prunedNames(d.Node, "attributes", "end_attributes")
	keep["end_attributes"] = keep["attributes"]
	to.Edge, keep["edge_attributes"] = m.prunedNames(d.Edge, "edge_attributes")
	to.Segment, keep["segment_attributes"] = m.prunedNames(d.Segment, "segment_attributes")
	if to.Node.Len() == d.Node.Len() && to.Edges() == d.Edges() && to.Segments() == d.Segments() {
		return m, nil
	}
	other, err := m.WithDictionary(&to)
	if err != nil {
		return nil, err
	}
	for _, a := range other.Net.Layout() {
		was := m.Net.Layout()
		from := was[slices.IndexFunc(was, func(b graph.Array) bool { return b.Name == a.Name })].Of(m.W)
		kept, ok := keep[a.Name]
		if !ok {
			copy(a.Of(other.W), from)
			continue
		}
		width := a.Len() / len(kept)
		for k, row := range kept {
			copy(a.Of(other.W)[k*width:][:width], from[int(row)*width:])
		}
	}
	return other, nil
}

// prunedNames returns the names with a weight in one of the parameters whose rows they number, in order, and their
// numbers. At least one stays, because a model with none would have another form.
func (m *Model) prunedNames(names *structured.Alphabet, parameters ...string) (*structured.Alphabet, []int32) {
	if names == nil {
		return nil, nil
	}
	kept, rows, used := structured.NewAlphabet(), []int32{}, make([]bool, names.Len())
	for _, a := range m.Net.Layout() {
		if !slices.Contains(parameters, a.Name) {
			continue
		}
		w, width := a.Of(m.W), a.Len()/names.Len()
		for row := range names.Len() {
			used[row] = used[row] || slices.ContainsFunc(w[row*width:][:width], func(x float32) bool { return x != 0 })
		}
	}
	for row, is := range used {
		if is {
			kept.Add(names.Name(int32(row)))
			rows = append(rows, int32(row))
		}
	}
	if len(rows) == 0 && names.Len() > 0 {
		kept.Add(names.Name(0))
		rows = append(rows, 0)
	}
	return kept, rows
}

// mostSteps is how many steps between two labels have constraints at most.
const mostSteps = 1 << 28

// assemble makes the network and the constraints that Config asks for.
func (m *Model) assemble() error {
	var err error
	if m.Net, err = network(m.Config, m.Inputs, m.Dim, m.Labels.Len()); err != nil {
		return err
	}
	if m.Config.Constraints != "none" {
		if y := float64(m.Labels.Len()); y*y > mostSteps {
			return structured.BadInput("--constraints %s: %d labels, expected at most %.0f: each step between two has a constraint", m.Config.Constraints, m.Labels.Len(), math.Sqrt(mostSteps))
		}
		m.Constraints, err = chains.SchemeConstraints(m.Labels, m.Config.Constraints)
	}
	return err
}

// ArcAttributes returns how many attributes the model has for the scores of arcs and of relations, and their template;
// zero and empty if it reads none.
func (m *Model) ArcAttributes() (arcs, labels int, template string) {
	in := inputs.ArcsOf(m.Own)
	if in == nil {
		return 0, 0, ""
	}
	return in.Dictionary.Arc.Len(), in.Dictionary.Label.Len(), in.Template.String()
}

// PairAttributes returns how many attributes the model has for the scores of pairs of items and of unmatched source
// items, and their template, which is empty for dense features of pairs; zeros if it reads none.
func (m *Model) PairAttributes() (pair, source int, template string) {
	in, ok := m.Own.(*inputs.Pairs)
	if !ok {
		return 0, 0, ""
	}
	pair, source = in.Attributes()
	if in.Template != nil {
		template = in.Template.String()
	}
	return pair, source, template
}
