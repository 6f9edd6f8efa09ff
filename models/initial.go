package models

import (
	"iter"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/brackets"
	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/treebank"
	"github.com/dsp-go/dsp/models/data/union"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/transfer"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/encoders"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/trees"
)

// cannotContinue is the error for a pack in place of data that have not been numbered yet.
func cannotContinue(pack string) error {
	return structured.BadInput("%s is packed with numbers of its own for labels and attributes, so that it cannot continue a model; train on the data that it was made from", pack)
}

type continuedModels struct {
	start *Model // whose labels, inputs and weights the run begins with, or nil
	prior *Model // that it is regularised towards, or nil

	setting, path string // that give start
}

// dictionary returns that of the model that a run starts from; an empty one if there is none.
func (b continuedModels) dictionary() *structured.Dictionary {
	if b.start == nil || b.start.Dictionary == nil {
		return &structured.Dictionary{}
	}
	return b.start.Dictionary
}

// hashBits returns the bits of hashed attributes of a run that asks for so many: those of the model that it starts
// from.
func (b continuedModels) hashBits(asked int) int {
	if b.start == nil {
		return asked
	}
	return b.dictionary().HashBits
}

// template returns that of the model that a run starts from, or nil.
func (b continuedModels) template() *features.Template {
	if b.start == nil {
		return nil
	}
	return b.start.Template
}

// continues refuses data of another shape than those of the model that a run starts from.
func (b continuedModels) continues(d *structured.Dataset) error {
	m := b.start
	switch {
	case m.Given(m.Dim) != d.Dim && !(m.Dim == 0 && m.Config.Preset().Linear): // weights of dense features start at zero beside those of attributes
		return structured.BadInput("%s: %d dense features per position, the model of --%s %s reads %d", d.Name, d.Dim, b.setting, b.path, m.Dim)
	case m.Edges != edgesOf(d):
		return structured.BadInput("%s: edges have %d features and %d types, those of the model of --%s %s have %d and %d", d.Name,
			edgesOf(d).Dim, edgesOf(d).Types, b.setting, b.path, m.Edges.Dim, m.Edges.Types)
	}
	return nil
}

// scoresAlike refuses a network that cannot read the attributes which the model that it starts from scores: its inputs
// would be others.
func (b continuedModels) scoresAlike(c *config.Config) error {
	m := b.start
	p, preset := nets.FindPreset(c.Net)
	if !preset || p.CanRead(nets.ReadsAttributes) || m.Dictionary == nil && m.Own == nil {
		return nil
	}
	return structured.BadInput("--net %s: the model of --%s %s has net %s, whose weights are those of attributes, which %s does not read; use --net linear or deep, or leave out --%s",
		c.Net, b.setting, b.path, m.Config.Net, c.Net, b.setting)
}

// relabel numbers the labels of data sets by the model's, and those that it lacks after them. Outputs without names
// keep their numbers.
func (b continuedModels) relabel(sets ...*structured.Dataset) {
	var own []*structured.Alphabet
	same := b.start == nil
	for _, d := range sets {
		own = append(own, d.Alphabet)
		same = same && d.Alphabet == sets[0].Alphabet
	}
	if same {
		return
	}
	var known *structured.Alphabet
	if b.start != nil {
		known = b.start.Labels
	}
	all := union.Alphabet(known, own...)
	for _, d := range sets {
		switch {
		case d.Outputs == nil:
			union.Relabel(d, all)
		case brackets.Is(d):
			brackets.Renumber(d, all)
		case d.Table(trees.ArcRows) != nil:
			treebank.Renumber(d, all)
		}
	}
}

// begin gives m the weights of the model that it continues, and those of its prior.
func (b continuedModels) begin(m *Model) error {
	taken, left, err := b.weights(m, b.start, b.setting, b.path)
	if err != nil {
		return err
	}
	if len(taken) == 0 {
		return structured.BadInput("--%s %s: its net %s has no weights in common with net %s: %s", b.setting, b.path, b.start.Config.Net, m.Config.Net,
			b.start.Net.Layout())
	}
	if m.TunesEncoder() && !m.Encoder.Tuned.Adapted() { // its weights are those that it came with
		left = slices.DeleteFunc(left, func(name string) bool { return strings.HasPrefix(name, encoders.Prefix) })
	}
	drawn, zero := zeroBeside(m.Net.Layout(), m.W, taken, left)
	m.Started = &Start{From: b.path, Weights: taken, Drawn: drawn, Zero: zero, NewLabels: newNames(m.Labels.Names(), b.start.Labels.Len()),
		NewWeights: m.Net.Dim() - b.start.Net.Dim()}
	if b.prior == nil {
		return nil
	}
	if !m.TunesEncoder() && !reflect.DeepEqual(b.prior.Standard, b.start.Standard) && b.prior.Dim > 0 {
		return structured.BadInput("--prior %s scales dense features otherwise than --init %s, so that their weights differ: give one of the two, or train one of the models from the other",
			m.Config.Prior, m.Config.Init)
	}
	if b.prior != b.start && !(prefix(b.prior.Labels, b.start.Labels) && b.numbersAlike()) {
		return structured.BadInput("--prior %s numbers labels, words or attributes otherwise than --init %s: give one of the two, or train one of the models from the other",
			m.Config.Prior, m.Config.Init)
	}
	if m.Prior = slices.Clone(m.W); b.prior == b.start {
		return nil
	}
	towards := *m
	towards.W = make([]float32, m.Net.Dim())
	_, left, err = b.weights(&towards, b.prior, "prior", m.Config.Prior)
	if err == nil && len(left) > 0 {
		err = structured.BadInput("--prior %s has no %s, which the model of --init %s has; give one of the two", m.Config.Prior, strings.Join(left, ", "), m.Config.Init)
	}
	m.Prior = towards.W
	return err
}

// zeroBeside makes the weights between the layers and the scores zero where they stand beside scores of attributes that
// were taken over: the network then starts with the scores of the model that it continues. Layers below stay as they
// were drawn, so that the first step moves these weights. It returns what is left as it was drawn, and what is zero, as
// some arrays of every network are at first.
func zeroBeside(layout graph.Layout, w []float32, taken, left []string) (drawn, zero []string) {
	beside := slices.Contains(taken, "attributes")
	for _, name := range left {
		a, _ := layout.Find(name)
		if beside && (name == "node.weight" || name == "edge.weight") {
			clear(a.Of(w))
		}
		if slices.ContainsFunc(a.Of(w), func(x float32) bool { return x != 0 }) {
			drawn = append(drawn, name)
		} else {
			zero = append(zero, name)
		}
	}
	return drawn, zero
}

// numbersAlike reports whether the first numbers of the starting model's words and attributes are those of the prior.
func (b continuedModels) numbersAlike() bool {
	was, is := b.prior.alphabets(), b.start.alphabets()
	for k := range is {
		if k < len(was) && !prefix(was[k], is[k]) {
			return false
		}
	}
	return len(was) == len(is)
}

// prefix reports whether the names of a are the first of those of b.
func prefix(a, b *structured.Alphabet) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Len() <= b.Len() && slices.Equal(a.Names(), b.Names()[:a.Len()])
}

func newNames(names []string, known int) []string { return names[min(known, len(names)):] }

// weights copies the weights of a model into those of m.
func (b continuedModels) weights(m, from *Model, setting, path string) (taken, left []string, err error) {
	_, first := from.Net.Form().Structure.(chains.Chain)
	_, second := m.Net.Form().Structure.(chains.Second) // begins with what the labels' and the steps' scores are without it
	if was, is := from.Form(), m.Form(); was != is && !(first && second) {
		return nil, nil, structured.BadInput("--%s %s: the model predicts %s, this run %s", setting, path, was, is)
	}
	var names map[string]string
	if m.Config.Preset().Linear && from.Config.Preset().Linear {
		names = transfer.Linear
	}
	layout := m.Net.Layout()
	taken, left = transfer.Weights(layout, m.W, m.sizes(), from.Net.Layout(), from.W, from.sizes(), names)
	if s := from.Standard; s != nil && m.Standard == nil && slices.Contains(taken, "node.weight") { // of rows that the encoder, which is trained now, gives as they are
		weights, _ := layout.Find("node.weight")
		biases, _ := layout.Find("node.bias")
		s.Undo(weights.Of(m.W), biases.Of(m.W))
	}
	return taken, left, nil
}

// Form names the structure that the model predicts.
func (m *Model) Form() string { return m.Net.Form().Structure.Name() }

// Start says how a model that continues another began.
type Start struct {
	From       string
	Weights    []string // the arrays that it took over
	Drawn      []string // those that the other lacks and that are random at first
	Zero       []string // those that it lacks and that are zero at first
	NewLabels  []string
	NewWeights int
}

// alphabets returns what the model's inputs number: words, characters, attributes of positions and of steps, and those
// of the task.
func (m *Model) alphabets() []*structured.Alphabet {
	all := slices.Clone(m.Vocab)
	all = append(all, m.Characters)
	if d := m.Dictionary; d != nil {
		all = append(all, d.Node, d.Edge, d.Segment)
	}
	return all
}

// sizes returns how many names the axes of the model's parameters run over.
func (m *Model) sizes() transfer.Sizes {
	s := transfer.Sizes{Labels: m.Labels.Len()}
	nodes, edges, wholes, characters := 0, 0, 0, 0
	if d := m.Dictionary; d != nil {
		nodes, edges, wholes = d.Nodes(), d.Edges(), d.Segments()
	}
	if m.Characters != nil {
		characters = m.Characters.Len()
	}
	first, second, siblings := 0, 0, 0
	if arcs := inputs.ArcsOf(m.Own); arcs != nil {
		first, second = arcs.Dictionary.Arc.Len(), arcs.Dictionary.Label.Len()
		if arcs.Siblings != nil {
			siblings = arcs.Siblings.Len()
		}
	} else if own, ok := m.Own.(*inputs.Pairs); ok {
		first, second = own.Attributes()
	}
	s.Others = append(s.Others, nodes, edges, characters, first, second, first+second, nodes+edges, wholes, siblings)
	for _, v := range m.Vocab {
		s.Others = append(s.Others, v.Len())
	}
	return s
}

// Unknown are the gold labels of a data set that a model cannot predict.
type Unknown struct {
	Names []string
	Count int    // positions that have one
	First string // place of the first: file and line
}

// UnknownLabels returns the gold labels of d that are not among the known ones, which an evaluation counts as errors.
// Outputs without names have none.
func UnknownLabels(d *structured.Dataset, known *structured.Alphabet) (u Unknown) {
	if d.Labels == nil || d.Alphabet == known || d.Alphabet.Len() <= known.Len() {
		return u
	}
	u.Names = d.Alphabet.Names()[known.Len():]
	for at, l := range goldLabels(d) {
		if int(l) < known.Len() {
			continue
		}
		if u.Count++; u.First == "" {
			u.First = d.WhereToken(at.example, at.token)
		}
	}
	if u.Count == 0 {
		return Unknown{}
	}
	return u
}

// A labelPlace is where a gold label stands.
type labelPlace struct{ example, token int }

// goldLabels are the numbers of the named labels in the gold outputs of d, with their places. Numbers below 0 name
// none.
func goldLabels(d *structured.Dataset) iter.Seq2[labelPlace, int32] {
	return func(yield func(labelPlace, int32) bool) {
		for i := range d.Len() {
			gold, of, words := d.Gold(i), int32(0), 1 // the number of the first label, and numbers per word
			switch {
			case d.Readings != nil: // of the example as a whole
				gold, words = d.Readings[i], len(d.Readings[i])+1
			case brackets.Is(d):
				of, words = 1, d.Length(i)
			case d.Table(trees.ArcRows) != nil:
				gold = trees.FromOutput(gold).Relations
			case d.Outputs != nil:
				return
			}
			for k, l := range gold {
				if !yield(labelPlace{i, k / words}, l-of) {
					return
				}
			}
		}
	}
}

// checkLabels refuses labels that are not UTF-8: the file of a model and requests hold no others.
func checkLabels(d *structured.Dataset) error {
	if d.Alphabet == nil {
		return nil
	}
	some := slices.IndexFunc(d.Alphabet.Names(), notUTF8)
	if some < 0 {
		return nil
	}
	for at, l := range goldLabels(d) {
		if l >= 0 && notUTF8(d.Alphabet.Name(l)) {
			return text.NotUTF8Label(d.WhereToken(at.example, at.token), d.Alphabet.Name(l))
		}
	}
	return text.NotUTF8Label(d.Name, d.Alphabet.Name(int32(some)))
}

func notUTF8(name string) bool { return !utf8.ValidString(name) }
