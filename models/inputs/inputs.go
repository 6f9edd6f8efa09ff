// Package inputs turns what data files hold into what networks read: words and characters numbered by vocabularies,
// vectors of words, and attributes numbered by dictionaries. It fits them to training data, makes them in other data,
// and keeps them in model files.
package inputs

import (
	"cmp"
	"slices"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/inputs/encoded"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/boxes"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// Inputs turn the columns of text into what a network reads: discrete inputs numbered by vocabularies, for embeddings,
// or attributes numbered by a dictionary, for the linear net. A CRFsuite file holds attributes already and needs only a
// dictionary; numeric inputs need nothing.
type Inputs struct {
	Features   string                 // the built-in set, none, or auto where a template file was used
	Vocab      []*structured.Alphabet // of each discrete input
	Characters *structured.Alphabet   // of the characters of words, or nil
	Template   *features.Template     // of attributes made from columns
	Dictionary *structured.Dictionary // of the attributes, or nil
	Vectors    *graph.WordVectors     // of the words of the first vocabulary, or nil
	WordRows   *WordRows              // vectors of words that are dense inputs, or nil
	Encoder    *encoded.Reader        // whose rows are the last dense inputs of words, or nil

	Salt string // of the hashes that names of attributes and words are in a released model; empty: they are names

	Steps *chains.Steps // between labels, in second-order chains; nil for others

	Standard *Standard // of dense features, or nil; Apply does not see to it, because data get theirs from several places

	Words []string // the columns that discrete inputs are made of; nil: all
	Own   Maker    // of inputs that only one task has, or nil

	Map  graph.Map  // that the dense features of a position are; zero if they are none
	Grid graph.Grid // whose cells the positions are; zero for sequences and candidates

	// that are candidates, learned from the training data; nil: boxes.DefaultWindows, or other candidates
	Sliding *boxes.Windows

	Looks *images.Looks // of the training images; nil where there are none, or nobody has looked at them

	Edges Edges // of graphs; zero for other data
}

// A Maker makes inputs that only one task has, such as attributes of arcs. A network reads them in place of words and
// attributes of positions.
type Maker interface {
	// Apply makes the inputs of a data set; 0 threads: all cores.
	Apply(d *structured.Dataset, threads int) error
	// Extractor returns an Apply for many small data sets, one after the other.
	Extractor() func(d *structured.Dataset) error
	// Missing names the inputs that d has to have and lacks; empty if it has them all.
	Missing(d *structured.Dataset) string
	// Network returns the network that reads the inputs, and dim dense features of each position beside them, linear in
	// its weights.
	Network(form structured.Form, dim int) (nets.Network, error)
	// Names returns the alphabets of attributes and words that the inputs are made by.
	Names() []*structured.Alphabet
	// Save puts what Load needs into a model file. The template is empty for inputs without one; hashBits is 0 where
	// nothing is hashed.
	Save(f *safetensors.File) (template string, hashBits int)
}

// templateSuffix completes a name in messages about a built-in template.
const templateSuffix = ".template"

// Fit fits the inputs that c asks for to the training data, and makes them for the process's own examples.
func Fit(c *config.Config, t Training) (Inputs, error) {
	train := t.Own
	columns := formats.Find(c.Format).Columns
	if !columns && (train.Column(text.WordColumn) == nil || !readsWords(c)) {
		return Inputs{Dictionary: train.Dictionary}, nil
	}
	set, err := "none", error(nil)
	if columns {
		set, err = featureSet(c, t.All)
	}
	if err != nil {
		return Inputs{}, err
	}
	in := Inputs{}
	if columns { // others have no attributes to choose a set of
		in.Features = set
	}
	if set == "none" && c.Preset().Linear {
		return in, nil
	}
	both := c.Network().ReadsAttributes()
	if p := c.Preset(); set == "none" && c.Encoder != "" && len(p.Reads) > 0 && !p.CanRead(nets.ReadsWords) {
		return in, nil // rows alone
	}
	if set == "none" || both {
		if err := in.fitWords(c, t); err != nil {
			return Inputs{}, structured.BadInput("%w; name it with --columns", err)
		}
		if err := in.Apply(train, c.Threads); err != nil || set == "none" {
			return in, err
		}
	}
	of, err := listed(c, set)
	if err != nil {
		return Inputs{}, err
	}
	if c.Structure == "segments" {
		of.Longest = cmp.Or(c.MaxLength, segments.Longest(t.All))
	}
	if err := of.Learn(train, cmp.Or(c.MinCount, defaultWordCount), t.Share.Peers); err != nil {
		return Inputs{}, err
	}
	o := templates.Options{MinCount: max(1, c.MinCount), HashBits: c.HashBits, Threads: host.Threads(c.Threads)}
	o.Peers = t.Share.Peers
	err = of.Fit(train, o)
	if err == nil && both && train.Dictionary.Edges() > 0 {
		err = structured.BadInput("net %s does not read the %d attributes of steps that the template makes; leave out its "+
			"lines that begin with B, or use --net linear",
			c.Net, train.Dictionary.Edges())
	}
	if err == nil && both && train.Dictionary.Segment != nil {
		err = structured.BadInput("net %s does not read attributes of whole segments; leave out the template's lines that "+
			"begin with S, or use --net linear", c.Net)
	}
	in.Template, in.Dictionary = of, train.Dictionary
	return in, err
}

// Template returns the template of attributes of columns that c asks for, with its lists of words, and the name of its
// set; nil where c asks for none, or for words beside them. Of train it needs the labels and the names of columns only.
func Template(c *config.Config, train *structured.Dataset) (t *features.Template, set string, err error) {
	set, err = featureSet(c, train)
	if err != nil || set == "none" || c.Network().ReadsAttributes() {
		return nil, "", err
	}
	t, err = listed(c, set)
	return t, set, err
}

// LongestSegment returns the most positions of a segment that has attributes of its own, as c asks for, or the template
// of the model that it continues if that is not nil; 0 if segments have none. Of train it needs the labels.
func LongestSegment(c *config.Config, of *features.Template, train *structured.Dataset) int {
	if c.Structure != "segments" || !formats.Find(c.Format).Columns {
		return 0
	}
	if of != nil {
		return of.LongestWhole()
	}
	if t, _, err := Template(c, train); err != nil || t == nil || !t.HasWhole() { // Fit says what is wrong
		return 0
	}
	return cmp.Or(c.MaxLength, segments.Longest(train))
}

// listed returns a template with the lists of words that c names.
func listed(c *config.Config, set string) (*features.Template, error) {
	t, err := template(c, set)
	if err == nil {
		err = readLists(c, t)
	}
	return t, err
}

// fitWords collects the vocabularies of words and, where c asks for them, of characters.
func (in *Inputs) fitWords(c *config.Config, t Training) error {
	least, words, peers := cmp.Or(c.MinCount, defaultWordCount), in.wordsOf(t.Own), t.Share.Peers
	var err error
	if in.Vocab, err = text.BuildVocab(words, least, peers); err == nil && c.Network().ReadsCharacters() {
		in.Characters, err = text.BuildCharacters(words, least, peers)
	}
	return err
}

// encode numbers the words and characters of a data set.
func (in Inputs) encode(d *structured.Dataset) error {
	words := in.wordsOf(d)
	err := text.EncodeIds(words, in.Vocab)
	if err == nil && in.Characters != nil {
		err = text.EncodeCharacters(words, in.Characters)
	}
	d.Ids, d.Vocab, d.Characters = words.Ids, words.Vocab, words.Characters
	return err
}

// wordsOf returns the columns of d that become discrete inputs, as data for vocabularies: d itself if these are all.
func (in Inputs) wordsOf(d *structured.Dataset) *structured.Dataset {
	if in.Words == nil {
		return d
	}
	words := *d
	words.Columns, words.ColumnNames = nil, nil
	for _, name := range in.Words {
		words.Columns, words.ColumnNames = append(words.Columns, d.Column(name)), append(words.ColumnNames, name)
	}
	return &words
}

// readsWords reports whether the net of c reads the words of dense features that come with words.
func readsWords(c *config.Config) bool {
	p := c.Preset()
	return c.Net == "auto" || p.CanRead(nets.ReadsWords) && p.CanScore(nets.ScoresPositions)
}

// defaultWordCount is the default least count of a word or character with an embedding. Rarer ones train the embedding
// of unknown ones.
const defaultWordCount = 2

// Apply makes the inputs of a data set.
func (in Inputs) Apply(d *structured.Dataset, n int) error {
	if in.WordRows != nil {
		if err := in.WordRows.apply(d); err != nil {
			return err
		}
	}
	if in.Encoder != nil {
		if _, err := in.Encoder.Apply(d, encoded.Options{Threads: n}); err != nil {
			return err
		}
	}
	if in.Vocab != nil {
		if err := in.encode(d); err != nil {
			return err
		}
	}
	if in.Own != nil {
		return in.Own.Apply(d, n)
	}
	if in.Template == nil {
		return nil
	}
	return in.Template.Apply(d, in.Dictionary, host.Threads(n))
}

// featureSet returns the name of the built-in set that c asks for: none for no attributes, auto for a template file.
func featureSet(c *config.Config, train *structured.Dataset) (string, error) {
	method := &optimisers.Descriptor{}
	if chosen, ok := c.Optimiser(); ok {
		method = chosen
	}
	switch {
	case c.Template != "":
		return "auto", nil
	// it reads dense features alone
	case c.Features == "none" && c.Preset().Linear && (c.Dense != "" || c.Vectors != "" || c.Encoder != ""):
		return "none", nil
	case c.Features == "none" && c.Preset().Linear:
		return "", structured.BadInput("--net linear reads attributes of tokens, but --features none makes none; use "+
			"--features %s, a --template, --dense, --vectors, --encoder, or --net embed",
			builtinFor(train))
	case c.Features != "auto":
		return c.Features, nil
	case method.Features != "":
		return method.Features, nil
	case c.TuneEncoder && c.Preset().Linear: // nothing between the encoder and the potentials
		return "none", nil
	case c.Net == "auto" || c.Preset().Linear || c.Network().ReadsAttributes():
		return builtinFor(train), nil
	}
	return "none", nil
}

// builtinFor returns the default built-in set for the data.
func builtinFor(train *structured.Dataset) string {
	set, _ := BuiltinSet(train.Alphabet)
	return set
}

// BuiltinSet returns the built-in set of attributes that fits the labels of tokens, and says why. Columns beside the
// words decide nothing, because every set reads those that it can use.
func BuiltinSet(labels *structured.Alphabet) (set, why string) {
	types, tags := chains.EntityTypes(labels)
	switch {
	case !tags:
		return "pos", "labels are no entity tags"
	case slices.Contains(types, "NP"): // every scheme of chunks has noun phrases, and no scheme of entities
		return "chunk", "entity tags of phrases, such as NP"
	}
	return "ner", "entity tags"
}

// mostTemplate is the size of the largest file of a template, in bytes.
const mostTemplate = 16 << 20

// template reads the template file that c names or, without one, the built-in set.
func template(c *config.Config, set string) (*features.Template, error) {
	if c.Template == "" {
		text, err := features.Builtin(set)
		if err != nil {
			return nil, err
		}
		return features.Parse(text, "built-in "+set+templateSuffix)
	}
	text, err := host.ReadText(c.Template, mostTemplate)
	if err != nil {
		return nil, structured.BadInput("--template: %w", err)
	}
	return features.Parse(string(text), c.Template)
}

// Of returns the vocabularies and the dictionary of a data set.
func Of(d *structured.Dataset) Inputs {
	in := Inputs{Vocab: d.Vocab, Dictionary: d.Dictionary}
	if d.Characters != nil {
		in.Characters = d.Characters.Vocab
	}
	return in
}

// TunesEncoder reports whether the network trains the weights of an encoder.
func (in Inputs) TunesEncoder() bool { return in.Encoder != nil && in.Encoder.Tuned != nil }

// Shape returns the shape of what a network reads at each position, dim dense features among it.
func (in Inputs) Shape(dim int) graph.Input {
	shape := graph.Input{Dim: dim, Vectors: in.Vectors, Map: in.Map, Grid: in.Grid, EdgeDim: in.Edges.Dim}
	for _, v := range in.Vocab {
		shape.Vocab = append(shape.Vocab, v.Len())
	}
	if in.Characters != nil {
		shape.Characters = in.Characters.Len()
	}
	if in.Dictionary != nil {
		shape.Attributes = in.Dictionary.Nodes()
	}
	if own, ok := in.Own.(*Pairs); ok {
		shape.PairAttributes, _ = own.Attributes()
	}
	if in.TunesEncoder() {
		shape.Encoder, shape.Encoded = in.Encoder.Tuned, in.Encoder.Width()
	}
	return shape
}
