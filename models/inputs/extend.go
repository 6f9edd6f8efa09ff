package inputs

import (
	"cmp"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/models/data/features/pairs"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/data/union"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Extend returns the inputs of a model for more training data, and makes them for the process's own examples. What the
// model numbers (words, characters, attributes) keeps its number, and what only the data has follows, where it occurs
// at least as often as c says. Templates, lists of words and statistics stay the model's. New words have no vector,
// where the model has some.
func (in Inputs) Extend(c *config.Config, t Training) (Inputs, error) {
	train := t.Own
	if in.WordRows != nil {
		if err := in.WordRows.apply(train); err != nil {
			return in, err
		}
	}
	if in.Vocab != nil || readsBoth(c) && in.Template != nil {
		if err := in.extendWords(c, t); err != nil {
			return in, err
		}
	}
	if in.Own != nil {
		own, err := extendOwn(in.Own, c, train)
		in.Own = own
		return in, err
	}
	if s, ok := train.TaskData.(*localisation.Set); ok {
		in.Sliding = s.Sliding
	}
	if in.Template == nil {
		if in.Dictionary != nil && train.Attributes != nil { // numbered as the data was read
			in.Dictionary = train.Dictionary
		}
		return in, nil
	}
	o := templates.Options{
		MinCount: max(1, c.MinCount), HashBits: in.Dictionary.HashBits, Threads: host.Threads(c.Threads),
		Known: in.Dictionary, Peers: t.Share.Peers,
	}
	if o.HashBits > 0 {
		o.MinCount = 1
	}
	if err := in.Template.Fit(train, o); err != nil {
		return in, err
	}
	in.Dictionary = train.Dictionary
	if edges := in.Dictionary.Edges(); readsBoth(c) && edges > 0 {
		return in, structured.BadInput("the model has %d attributes of steps, which net %s does not read; start from a "+
			"model whose template has no lines that begin with B", edges, c.Net)
	}
	return in, nil
}

// Extends reports whether Extend takes sequences that come with numbered attributes or, if they are not numbered, as
// columns.
func (in Inputs) Extends(numbered bool) bool {
	return in.Own == nil &&
		(!numbered || in.Dictionary != nil && in.Template == nil && in.Vocab == nil && in.WordRows == nil)
}

// readsBoth reports whether the net reads words beside attributes.
func readsBoth(c *config.Config) bool { return c.Network().ReadsAttributes() }

// extendWords extends the vocabularies and numbers the words of the data.
func (in *Inputs) extendWords(c *config.Config, t Training) error {
	train, peers := t.Own, t.Share.Peers
	was, characters := in.Vocab, in.Characters
	least := cmp.Or(c.MinCount, defaultWordCount)
	words := in.wordsOf(train)
	found, err := text.BuildVocab(words, least, peers)
	if err != nil {
		return err
	}
	if was != nil && len(found) != len(was) {
		return structured.BadInput("%s: %d columns of words, the model reads %d", train.Name, len(found), len(was))
	}
	in.Vocab = nil
	for k, names := range found {
		if was != nil {
			names = union.Alphabet(was[k], names)
		}
		in.Vocab = append(in.Vocab, names)
	}
	if c.Network().ReadsCharacters() {
		if in.Characters, err = text.BuildCharacters(words, least, peers); err != nil {
			return err
		}
		in.Characters = union.Alphabet(characters, in.Characters)
	}
	if v := in.Vectors; v != nil {
		rows := make([]float32, in.Vocab[0].Len()*v.Dim)
		copy(rows, v.Rows)
		in.Vectors = &graph.WordVectors{Dim: v.Dim, Rows: rows, Frozen: v.Frozen}
	}
	return in.encode(train)
}

// extendOwn extends the inputs of a task.
func extendOwn(own Maker, c *config.Config, train *structured.Dataset) (Maker, error) {
	switch in := own.(type) {
	case *Arcs:
		if in.Siblings != nil && c.Order < 2 { // who takes over the weights says that the trees are others
			in = &Arcs{in.Template, in.Dictionary, nil}
		}
		return in.extend(c, train)
	case *Spans:
		return in.extend(c, train)
	case *Pairs:
		return in.extend(c, train)
	}
	return own, own.Apply(train, c.Threads)
}

func (in *Arcs) extend(c *config.Config, train *structured.Dataset) (Maker, error) {
	if in.Dictionary.Arc.HashBits() > 0 {
		to := *in
		if in.Siblings != nil { // which are few, and never hashed
			found, err := arcs.FitSiblings(train.Column(siblingColumn), train.Offsets, headsOf(train), pairOptions(c).MinCount)
			if err == nil {
				to.Siblings, err = joinedNumbers(in.Siblings, found)
			}
			if err != nil {
				return nil, err
			}
		}
		return &to, to.Apply(train, c.Threads)
	}
	fitted, err := fitArcs(in.Template, train, pairOptions(c), in.Siblings != nil)
	if err != nil {
		return nil, err
	}
	to, err := in.joined(fitted)
	if err != nil {
		return nil, err
	}
	return to, to.Apply(train, c.Threads)
}

// joined returns the inputs with the attributes of both dictionaries, first its own.
func (in *Arcs) joined(fitted *Arcs) (*Arcs, error) {
	to := &Arcs{in.Template, &arcs.Dictionary{}, in.Siblings}
	was, found := in.parts(), fitted.parts()
	for k, part := range to.parts() {
		var err error
		if *part.of, err = joinedNumbers(*was[k].of, *found[k].of); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// joinedNumbers numbers the attributes of both, those of was as before.
func joinedNumbers(was, found *arcs.Numbers) (*arcs.Numbers, error) {
	hashes := slices.Clone(was.Hashes())
	known := make(map[uint64]bool, len(hashes))
	for _, h := range hashes {
		known[h] = true
	}
	for _, h := range found.Hashes() {
		if !known[h] {
			hashes = append(hashes, h)
		}
	}
	return arcs.NewNumbers(hashes)
}

func (in *Pairs) extend(c *config.Config, train *structured.Dataset) (Maker, error) {
	if in.Template == nil || in.Dictionary.Pair.HashBits > 0 {
		return in, in.Apply(train, c.Threads)
	}
	fitted, err := in.Template.Fit(in.Statistics, alignments.Of(train),
		templates.Options{MinCount: cmp.Or(c.MinCount, defaultPairCount), Threads: c.Threads})
	if err != nil {
		return nil, err
	}
	to := &Pairs{Template: in.Template, Statistics: in.Statistics, Dictionary: &pairs.Dictionary{
		Pair:   &structured.Dictionary{Node: union.Alphabet(in.Dictionary.Pair.Node, fitted.Pair.Node)},
		Source: &structured.Dictionary{Node: union.Alphabet(in.Dictionary.Source.Node, fitted.Source.Node)},
	}}
	return to, to.Apply(train, c.Threads)
}
