// Package predictions says what a model answers for an example, and writes answers as text.
package predictions

import "github.com/dsp-go/dsp/structured"

// Options say what is computed besides the best labels.
type Options struct {
	NBest       int  // list that many outputs, best first; 0: none
	Marginals   bool // the probability of every label at every position
	Confidence  bool // the probability of the best output's label at every position
	Probability bool // of the best output; always with NBest
	LeastRisk   bool // the output with the least expected Hamming loss, in place of the best one
	Force       bool // keep what the data's labels, whole or in part, say; scores and probabilities are of the outputs that do
	Threads     int  // 0: all cores
}

// Prediction is the answer of a model for one example. Probabilities are those of the Gibbs distribution of the potentials,
// p(y) = exp(⟨θ, 1_y⟩)/Z, and NaN for structures without sums over their outputs.
type Prediction struct {
	Output              // the best output; its Probability only if asked for
	NBest     []Output  // best first; fewer if there are fewer outputs
	Marginals []float32 // of the first part, [T×Y] for labels, [n·n] for the arcs of trees; with Marginals or Confidence
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
