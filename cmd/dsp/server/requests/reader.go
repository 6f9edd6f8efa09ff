package requests

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// Limits bound the work for one example.
type Limits struct {
	Words     int // of a sentence; 0: Positions, or Square where pairs of words are scored
	Positions int // pieces of words for an encoder, rows of features, variables of a graph
	Square    int // items of a sequence whose pairs are scored
	Pixels    int // of an image
}

// Sentence returns how many words a sentence has at most; square: whose pairs of words are scored.
func (l Limits) Sentence(square bool) int {
	if l.Words == 0 && square {
		return min(l.Square, l.Positions)
	}
	return cmp.Or(l.Words, l.Positions)
}

// ReadsSentences reports whether the examples of a reader are sentences, or pairs of them.
func ReadsSentences(r Reader) bool {
	switch r.(type) {
	case *words, *attributes, *sentences, *pairs:
		return true
	}
	return false
}

// DefaultLimits bound the time for an example. Its memory depends on the model, too: Extent and Bytes of an Example say
// how much it takes.
func DefaultLimits() Limits { return Limits{Positions: 10000, Square: 512, Pixels: 1 << 24} }

// Example is an example that a Reader has checked.
type Example struct {
	ID     string        // "" if it has no name
	Size   int           // positions, to tell how much work it is
	Extent models.Extent // how large it is as an example of a data set
	Pixels int           // of its image
	Bytes  int           // estimated memory for what its inputs are made of: decoded images, pieces of words
	Work   int64         // estimated memory for predicting it, in bytes, with all of that
	Line   int           // of the request, for messages; 0 if it has one example only

	Tokens []tokens.Token // of raw text, else nil
	Given  bool           // something of its output is known, for predictions to keep

	content any // the reader's own
}

// Reader reads the examples of a model. It serves many goroutines at once.
type Reader interface {
	// Example checks an example. Errors are structured.BadInput.
	Example(o *Object) (Example, error)
	// Dataset makes the data set of some examples.
	Dataset(all []Example) (*structured.Dataset, error)
	// Inputs lists the inputs as the columns or arrays that they are.
	Inputs() []Input
	// Sample returns an example of an object, as JSON.
	Sample() string
	// Members returns the names of the members that an object may have beside id.
	Members() []string
	// Known says in which members an object may have what is known of its output, for predictions to keep; "" if in
	// none.
	Known() string
}

// Input is one input of a model.
type Input struct {
	Name  string
	Kind  Kind
	Width int // of an array of numbers: columns
}

// Kind is what an Input is made of.
type Kind int

// The kinds of inputs.
const (
	Strings Kind = iota // a text for each position
	Numbers             // Width numbers for each position
	Objects             // an Object for each example
)

// For returns the Reader for a model. A model whose inputs JSON cannot hold is bad input.
func For(m *models.Model, limits Limits, split tokens.Splitter) (Reader, error) {
	c := &m.Config
	columns, err := m.Columns(c, m.Width)
	if err != nil {
		return nil, err
	}
	arrays := formats.Find(c.Format).Arrays
	switch tasks.Of(c).Request {
	case tasks.Sentences:
		return newSentences(m, columns, limits, split), nil
	case tasks.Pairs:
		links := *cmp.Or(tasks.Of(c).Links, &alignments.Matchings)
		if arrays {
			return &pairArrays{dim: pairDim(m), limits: limits, links: links}, nil
		}
		return &pairs{limits: limits, links: links}, nil
	case tasks.Graphs:
		return newGraphs(m, limits), nil
	case tasks.Regions:
		return newRegions(m, limits), nil
	case tasks.Scenes:
		if arrays {
			return nil, structured.BadInput("the model reads candidate boxes with features from npz files, which cannot be sent to a server; use dsp predict, or a model that reads images")
		}
		return newScenes(m, limits), nil
	case tasks.Lines:
		if arrays {
			return &dense{dim: m.Dim, limits: limits}, nil
		}
		return newLineImages(m, limits), nil
	}
	switch {
	case formats.Find(c.Format).Numbered:
		return &attributes{dictionary: m.Dictionary, limits: limits}, nil
	case len(columns) > 0:
		return newWords(m, columns, limits, split), nil
	case m.Dim > 0 && tasks.Of(c).Labels:
		return &dense{dim: m.Dim, limits: limits}, nil
	}
	return nil, structured.BadInput("models of --task %s that were trained on %s cannot be served", c.Task, c.Format)
}

// given lists the members that an object has, for messages.
func (o *Object) given() []string {
	var names []string
	for _, m := range []struct {
		name string
		has  bool
	}{
		{"words", o.Words != nil}, {"pos", o.Pos != nil}, {"columns", o.Columns != nil}, {"text", o.Text != nil}, {"features", o.Features != nil},
		{"attributes", o.Attributes != nil}, {"source", o.Source != nil}, {"target", o.Target != nil}, {"pair_features", o.PairFeatures != nil},
		{"node_features", o.NodeFeatures != nil}, {"edges", o.Edges != nil}, {"edge_features", o.EdgeFeatures != nil},
		{"edge_types", o.EdgeTypes != nil}, {"image", o.Image != nil}, {"labels", o.Labels != nil}, {"heads", o.Heads != nil},
		{"relations", o.Relations != nil}, {"tree", o.Tree != nil}, {"links", o.Links != nil}, {"mask", o.Mask != nil},
	} {
		if m.has {
			names = append(names, m.name)
		}
	}
	return names
}

// only refuses an object with members that its reader does not read.
func (o *Object) only(r Reader) error { return o.among(r.Members(), r.Sample()) }

// alone refuses an object with another member than one; sample shows what is expected.
func (o *Object) alone(name, sample string) error { return o.among([]string{name}, sample) }

func (o *Object) among(names []string, sample string) error {
	for _, name := range o.given() {
		if !slices.Contains(names, name) {
			return structured.BadInput("found %s, which this model does not read; expected an object such as %s", name, sample)
		}
	}
	return nil
}

// example returns an example with the object's name.
func (o *Object) example(size int, content any) Example {
	e := Example{Size: size, Extent: models.Extent{Positions: size}, Given: o.known(), content: content}
	if o.ID != nil {
		e.ID = *o.ID
	}
	return e
}

// ranges returns where the tokens of examples are in their texts, −1 for those without text; nil if no example has
// text.
func ranges(all []Example) [][2]int64 {
	if !slices.ContainsFunc(all, func(e Example) bool { return e.Tokens != nil }) {
		return nil
	}
	var to [][2]int64
	for _, e := range all {
		for t := range e.Size {
			at := [2]int64{-1, -1}
			if e.Tokens != nil {
				at = [2]int64{int64(e.Tokens[t].Start), int64(e.Tokens[t].End)}
			}
			to = append(to, at)
		}
	}
	return to
}

// missing is the error that an object lacks what a model reads.
func (o *Object) missing(what, sample string) error {
	if member := strings.Fields(what)[0]; slices.Contains(o.given(), member) {
		return structured.BadInput("%s is empty; expected an object such as %s", member, sample)
	}
	found := strings.Join(o.given(), ", ")
	if found == "" {
		found = "nothing"
	}
	return structured.BadInput("no %s (found %s); expected an object such as %s", what, found, sample)
}

// most refuses an example that is too long.
func most(found, limit int, what string) error {
	if found > limit {
		return structured.BadInput("%d %s, expected at most %d (--max-positions)", found, what, limit)
	}
	return nil
}

// short refuses a sentence that is too long; square: whose pairs of words are scored.
func (l Limits) short(found int, square bool, what string) error {
	if limit := l.Sentence(square); found > limit {
		return structured.BadInput("%d %s, expected at most %d (--max-words)", found, what, limit)
	}
	return nil
}

// pieceCounter counts the pieces of words as an encoder reads them. Its zero value, of a model without an encoder,
// counts none.
type pieceCounter struct {
	count func(words []string) (int, error)
	width int // of the encoder's rows
}

func counterOf(m *models.Model) pieceCounter {
	if m.Encoder == nil {
		return pieceCounter{}
	}
	return pieceCounter{m.Encoder.Count, m.Dim}
}

// perPieceNumber is the memory, in bytes, of an encoder for a piece and each number of its rows: those of all steps of
// a layer.
const perPieceNumber = 64

// weigh adds to an example what an encoder and characters of its words take. It refuses words of too many pieces.
func (c pieceCounter) weigh(e *Example, words []string, limits Limits) error {
	const read = 32 // characters of a word
	for _, w := range words {
		e.Extent.Characters += min(len(w), read)
		e.Bytes += perTextByte * len(w)
	}
	if c.count == nil {
		return nil
	}
	n, err := c.count(words)
	if err != nil {
		return err
	}
	e.Bytes += perPieceNumber * n * c.width
	return most(n, limits.Positions, "pieces of words, as the encoder reads them")
}

// perTextByte is the memory, in bytes, of what is made of each byte of words: attributes that repeat a word, alone and
// with its neighbours.
const perTextByte = 64

// named gives a data set the names of its examples, if there are some.
func named(d *structured.Dataset, all []Example) *structured.Dataset {
	d.Name, d.Lines = dataName, nil
	d.IDs = nil
	for i, e := range all {
		if e.ID != "" && d.IDs == nil {
			d.IDs = make([]string, len(all))
		}
		if e.ID != "" {
			d.IDs[i] = e.ID
		}
	}
	return d
}

// dataName is the name of the data in messages.
const dataName = "the request"

// offsets returns where the positions of the examples begin.
func offsets(all []Example) []int {
	at := make([]int, 1, len(all)+1)
	for i, e := range all {
		at = append(at, at[i]+e.Size)
	}
	return at
}

// matrix appends the rows of a matrix to all, each of which must have dim numbers.
func matrix(to []float32, rows [][]float32, dim int, name, kind string) ([]float32, error) {
	for i, row := range rows {
		if len(row) != dim {
			return nil, structured.BadInput("%s[%d] has %d features per %s, expected %d as in the training data", name, i, len(row), kind, dim)
		}
		to = append(to, row...)
	}
	return to, nil
}
