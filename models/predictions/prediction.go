// Package predictions says what a model answers for an example, and writes answers as text.
package predictions

import (
	"bufio"
	"strconv"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Options say what is computed besides the best labels. Those with tags are settings, which users give.
type Options struct {
	// Into and Scheme are about labels in columns.
	Into   string `yaml:"into" unit:"NAME" help:"write the label in place of the column NAME of the input, such as upos or label, not after the last column"`
	Scheme string `yaml:"scheme" unit:"io|iob1|iob2|bioes|bilou|bmes|bmewo" help:"write entity tags in this scheme: io|iob1|iob2|bioes|bilou|bmes|bmewo; empty: as the input writes its own, which its beginning shows, or else as the training data do"`

	// NBest is how many of the best outputs are listed, and Beam how many beginnings of strings a search keeps.
	NBest int `yaml:"nbest" min:"0" max:"100000" unit:"N" help:"add the N best outputs of each sequence, up to 100,000, with score and probability (links, and graphs with cuts, have scores only)"`
	Beam  int `yaml:"beam" min:"0" max:"10000" unit:"N" help:"for lines of text: search for probable strings, keeping the N most probable beginnings at each frame; 0: what the best labels of the frames read"`

	// Force keeps what the data's labels, whole or in part, say; scores and probabilities are of the outputs that do.
	Force bool `yaml:"force" help:"keep what the input says, and predict the rest given that: its column of labels, or those of heads and relations (a label of the model, A|B for one of these, ? or _ for any), brackets of constituents, known labels of graphs or of masks (with --masks), or links of words"`

	// Decode is one of Best (also if it is empty), LeastRisk, EntityF1 and Expansion.
	Decode string `yaml:"decode" values:"max|risk|f1|expansion" help:"what to predict: max|risk|f1|expansion; max: the output with the largest score; f1: of entity tags, the entities with the largest expected F1 over the whole input, which is read first; risk: the output with the fewest expected wrong labels (or heads and relations) under the marginals; expansion: labels of a graph with Potts edges and more than two labels that alpha-expansion finds, an approximation, whose distance from the best is bounded on standard error"`

	// EntityThreshold, with EntityF1, is the least probability of an entity that is worth having: half the expected F1
	// of all. 0: it is found for the data that are predicted together.
	EntityThreshold float64 `yaml:"threshold" min:"0" max:"1" unit:"P" help:"with --decode f1: entities must be worth probability P, half the expected F1; text is then labelled as it arrives; 0: found for the input"`

	// Marginals, Confidence and Probability are of every label, of the best output's labels, and of the best output.
	// Where there are no sums, the first two are margins. NBest has probabilities too.
	Marginals   bool `yaml:"marginals" help:"add the probability of every label at every position, of every head of each word, or of every candidate box; for links, the margin of every source word with every target word, and for labels that cuts find, the margin of every label"`
	Confidence  bool `yaml:"confidence" help:"add the probability of each predicted label, in the column before it, of each predicted arc, in MISC, or of each predicted box; for links, the margin of each predicted link, after a colon, and for labels that cuts find, the margin of each; with --to and segment, pictures in the folder confidence"`
	Probability bool `yaml:"score" help:"add the score and probability of each predicted output (links, and graphs with cuts, have scores only)"`

	// Spans are the entities of the best output; with MinProbability, all that have at least this probability, in
	// whatever output.
	Spans          bool    `yaml:"spans" help:"instead of labelled columns, print the entities of each sequence: type, first and last token, start and end in the text, probability and text; with --json, add them as spans"`
	MinProbability float64 `yaml:"min-probability" unit:"P" help:"with --spans: list every entity that has at least probability P, whether the best labels have it or not; 0: those of the best labels"`

	Entropy bool `yaml:"entropy" help:"add the entropy of each sequence's outputs in nats, 0 for a sure model: in a line before the sequence, or with --json as entropy"`

	// Samples is how many outputs are drawn. SampleTemperature is a factor of the model's own temperature; 0: 1. At the
	// least they are the best output, and at the largest they hardly depend on the scores. Scores of 1e30, the largest
	// that there are, stay finite when they are divided by either.
	Samples           int     `yaml:"samples" min:"0" max:"100000" unit:"N" help:"with --json: add N outputs of each sequence, drawn at random with their probabilities, as samples"`
	SampleTemperature float64 `yaml:"temperature" min:"1e-06" max:"1e+06" unit:"X" help:"with --samples: draw at temperature X, a factor of the model's own; small: nearly always the best; large: anything"`
	Seed              uint64  `yaml:"seed" unit:"N" help:"with --samples: the same seed N draws the same samples again, with any number of threads"`

	Exact     bool // refuse potentials that the oracle would have to change (oracles.Truncator), instead of changing them
	Threads   int  // 0: all cores
	OwnLabels bool // with Marginals or Confidence: not those of entity tags in the scheme that they are written in
	Relations bool // with Marginals, of trees: those of arcs with their relations, too
	Compared  bool // with Spans: also those of the best output and of the gold one, whatever their probability

	Spelling     *chains.Spelling // of tags in Scheme; nil: that of the model's labels
	Spaced       bool             // of strings: their symbols are words, with blanks between them
	Uncalibrated bool             // probabilities are those of a model that was not trained for them; layouts say so

	Asker settings.Asker // whom messages are for
}

// The values of Decode.
const (
	Best      = "max"       // the output with the largest score
	LeastRisk = "risk"      // the output with the least expected Hamming loss
	EntityF1  = "f1"        // the entities with the largest expected F1, for labels that are entity tags
	Expansion = "expansion" // the labels that alpha-expansion finds: an approximation
)

// Prediction is the answer of a model for one example. Probabilities are those of the Gibbs distribution of the
// potentials, p(y) = exp(⟨θ, 1_y⟩/T)/Z at the model's temperature T, and NaN for structures without sums over their
// outputs.
type Prediction struct {
	Output          // the best output; its Probability only if asked for
	NBest  []Output // best first; fewer if there are fewer outputs
	// an upper bound of the scores of all outputs, if the best output found may not be the best; else nil
	Bound     *float64
	Marginals []float32 // of the first part, [T×Y] for labels, [n·n] for the arcs of trees; with Marginals or Confidence

	// Tags are the probabilities of tags at every position, where they are written in another scheme than that of the
	// model's labels; else nil. Each has the number that the converter's Tags give it.
	Tags []float32

	// Margins of links, [n·m], or of labels, [V×Y], where there are no sums: the best score of an output with the link
	// or label, less that of one without it. They are at least 0 for those of the best output, and at most 0 for all
	// others. With Marginals or Confidence.
	Margins []float32

	Relations []float32 // marginals of arcs with relations [n·n×R], with Options.Relations
	Entropy   float64   // of the distribution of outputs, in nats, with Options.Entropy
	Samples   [][]int32 // outputs drawn at random, with Options.Samples

	Spans []Span // with Options.Spans, by first and last position
}

// Span is an entity, and the probability that exactly these positions are one, of this type.
type Span struct {
	chains.Entity
	Probability float64
}

// Output is one labeling of an example.
type Output struct {
	Labels      []int32 // [T]
	Score       float64 // ⟨θ, 1_y⟩
	Probability float64
}

// A layout writes predictions as text.
type Layout interface {
	// Add appends what is said of example i of d to text. Where that names the example, and d has no name for it, its
	// number belongs at place number of the text; else number is -1.
	Add(text []byte, d *structured.Dataset, i int, p *Prediction) (longer []byte, number int)
}

// Asked are options as a user gives them: flags of dsp predict and eval, or options of a request to a server.
type Asked struct {
	Options
	Truncate bool `yaml:"truncate" help:"with cuts, unless --truncate=false: lower the scores of edges that do not favour equal labels until they do, and say how many there were; with --truncate=false they are an error"`

	Given settings.Given
}

// Ask returns the options of an asker who has given none yet.
func Ask(by settings.Asker) Asked {
	return Asked{Options: Options{Asker: by, Decode: Best, SampleTemperature: 1}, Truncate: true}
}

// Check refuses settings with values that they do not take, and those that do not go with each other. all are the
// settings of a that the user may give.
func (a *Asked) Check(all []settings.Setting) error {
	by, p := a.Asker, a.MinProbability
	switch given := a.Given.Has; {
	case given("min-probability") && !a.Spans:
		return structured.BadInput("%s is for %s, which lists entities", by.Name("min-probability", p), by.Name("spans"))
	case given("min-probability") && !(p > 0 && p <= 1):
		return structured.BadInput("%s: expected more than 0, and at most 1", by.Name("min-probability", p))
	case a.EntityThreshold > 0 && a.Decode != EntityF1:
		return structured.BadInput("%s is for %s, which chooses entities by their probabilities",
			by.Name("threshold", a.EntityThreshold), by.Name("decode", EntityF1))
	}
	for _, name := range []string{"temperature", "seed"} {
		if a.Given.Has(name) && a.Samples == 0 {
			return structured.BadInput("%s is for %s, which draws outputs at random", by.Name(name), by.Name("samples"))
		}
	}
	for _, s := range all {
		if err := s.Check(); err != nil {
			return err
		}
	}
	a.Exact = !a.Truncate
	return nil
}

// WriteNumbered writes text with the numbers first, first+1, … at the given places; a negative place has none.
func WriteNumbered(w *bufio.Writer, text []byte, first int, places ...int) error {
	from := 0
	for k, at := range places {
		if at < 0 {
			continue
		}
		w.Write(text[from:at]) // bufio errors are sticky
		w.Write(strconv.AppendInt(w.AvailableBuffer(), int64(first+k), 10))
		from = at
	}
	_, err := w.Write(text[from:])
	return err
}

// Bounds says how good outputs are that may not be the best.
type Bounds struct {
	Decoded  bool    // by alpha-expansion
	Outputs  int     // of all examples
	Unproven int     // that have a bound above their score
	Score    float64 // sum over all outputs
	Bound    float64 // sum of the bounds, and of the scores of outputs that are proven to be the best
}

// Add counts a prediction.
func (s *Bounds) Add(p *Prediction) {
	s.Outputs++
	s.Score += p.Score
	if p.Bound == nil {
		s.Bound += p.Score
		return
	}
	s.Bound += *p.Bound
	s.Unproven++
}

// Gap returns what the outputs may lose at most, in all.
func (s Bounds) Gap() float64 { return s.Bound - s.Score }
