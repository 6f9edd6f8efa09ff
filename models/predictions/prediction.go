// Package predictions says what a model answers for an example, and writes answers as text.
package predictions

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Options say what is computed besides the best labels.
type Options struct {
	NBest       int  // list that many outputs, best first; 0: none
	Marginals   bool // the probability of every label at every position, or the margin of every link
	Confidence  bool // the probability of the best output's label at every position, or the margin of each of its links
	Probability bool // of the best output; always with NBest
	Expansion   bool // the labels that alpha-expansion finds, in place of the best ones: an approximation
	LeastRisk   bool // the output with the least expected Hamming loss, in place of the best one
	EntityF1    bool // the entities with the largest expected F1, in place of those of the best output; for labels that are entity tags
	Force       bool // keep what the data's labels, whole or in part, say; scores and probabilities are of the outputs that do
	Exact       bool // refuse potentials that the oracle would have to change (oracles.Truncator), instead of changing them
	Threads     int  // 0: all cores

	OwnLabels bool // with Marginals or Confidence: not those of entity tags in the scheme that they are written in

	Relations bool // with Marginals, of trees: those of arcs with their relations, too

	Spans          bool    // the entities of the best output, with their probabilities; for labels that are entity tags
	Compared       bool    // with Spans: also those of the best output and of the gold one, whatever their probability
	MinProbability float64 // with Spans: instead, all entities that have at least this probability, in whatever output; 0: those of the best one

	// EntityThreshold, with EntityF1, is the least probability of an entity that is worth having: half the expected F1 of all. 0: it is found for the
	// data that are predicted together.
	EntityThreshold float64

	Entropy bool // of the distribution of outputs, in nats

	Samples           int     // that many outputs at random; 0: none
	SampleTemperature float64 // of samples: a factor of the model's own temperature; 0: 1
	Seed              uint64  // of samples

	Into     string           // of labels in columns: the column that they replace; empty: they come after all columns
	Spelling *chains.Spelling // of tags in Scheme; nil: that of the model's labels
	Scheme   string           // that entity tags are written in; empty: that of the model's labels

	Beam   int  // of strings: how many beginnings the search keeps; 0: what the best labels of the frames read
	Spaced bool // of strings: their symbols are words, with blanks between them

	Uncalibrated bool // probabilities are those of a model that was not trained for them; layouts say so
}

// The least temperature of samples, at which they are the best output, and the largest, at which they hardly depend on the scores. Scores of 1e30, the largest
// that there are, stay finite when they are divided by either.
const (
	LeastTemperature = 1e-6
	MostTemperature  = 1e6
)

// ValidTemperature reports whether samples can be drawn at a temperature.
func ValidTemperature(t float64) bool { return t >= LeastTemperature && t <= MostTemperature }

// Prediction is the answer of a model for one example. Probabilities are those of the Gibbs distribution of the potentials,
// p(y) = exp(⟨θ, 1_y⟩/T)/Z at the model's temperature T, and NaN for structures without sums over their outputs.
type Prediction struct {
	Output              // the best output; its Probability only if asked for
	NBest     []Output  // best first; fewer if there are fewer outputs
	Bound     *float64  // an upper bound of the scores of all outputs, if the best output found may not be the best; else nil
	Marginals []float32 // of the first part, [T×Y] for labels, [n·n] for the arcs of trees; with Marginals or Confidence

	// Tags are the probabilities of tags at every position, where they are written in another scheme than that of the model's labels; else nil. Each has the number
	// that the converter's Tags give it.
	Tags []float32

	// Margins of links, [n·m], or of labels, [V×Y], where there are no sums: the best score of an output with the link or label, less that of one without
	// it. They are at least 0 for those of the best output, and at most 0 for all others. With Marginals or Confidence.
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
