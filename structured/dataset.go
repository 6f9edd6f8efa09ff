package structured

import (
	"slices"
	"strconv"
	"strings"
)

// Dataset is a set of chains: example i owns positions Offsets[i] to Offsets[i+1]-1 of every per-position array. Inputs
// come in one of three forms, dense Features, discrete Ids (embedded by the network) or sparse Attributes, and Columns
// keeps what a text file said so that a prediction can be written beside it.
type Dataset struct {
	Name     string    // the file or generator it came from, for messages
	Offsets  []int     // [n+1]
	Outputs  []int     // [n+1] where each gold output lies in Labels; nil: as Offsets say, one number per position
	Labels   []int32   // gold outputs, [ΣT] labels of chains; nil where the data has none
	Alphabet *Alphabet // the label names

	// Where not one label is known, Labels[t] is −1−k and LabelSets[k] the labels, in order, one of which is right; nil: any.
	LabelSets [][]int32

	Features []float32 // dense inputs [ΣT×Dim], or nil
	Dim      int

	Columns     [][]string  // the columns of a text file: Columns[c][t]
	ColumnNames []string    // what each column is ("word", "label"), "" where nobody said
	Layout      *Layout     // what the text file had beside its columns, or nil
	Ids         []int32     // discrete inputs [ΣT×len(Vocab)], or nil
	Vocab       []*Alphabet // what each discrete input numbers; Ids are 0 (unknown) for names a vocabulary lacks

	Tables []*Table // inputs of other rows than positions

	Attributes     *Sparse     // sparse inputs, or nil
	EdgeAttributes *Sparse     // sparse inputs of the step into each position (none where a chain starts), or nil
	Dictionary     *Dictionary // what Attributes and EdgeAttributes number

	IDs     []string  // [n] names of the examples, or nil
	Lines   []int     // [n] first line of each example in its file, or nil
	Weights []float64 // [n] weight of f_i in the objective, or nil: all 1
}

// Len returns n, the number of examples.
func (d *Dataset) Len() int { return max(0, len(d.Offsets)-1) }

// Positions returns ΣT, the number of positions over all examples.
func (d *Dataset) Positions() int {
	if len(d.Offsets) == 0 {
		return 0
	}
	return d.Offsets[len(d.Offsets)-1]
}

// Length returns T of example i.
func (d *Dataset) Length(i int) int { return d.Offsets[i+1] - d.Offsets[i] }

// Gold returns the gold output of example i, a chain's labels; nil where the data has none.
func (d *Dataset) Gold(i int) []int32 {
	if d.Labels == nil {
		return nil
	}
	at := d.outputs()
	return d.Labels[at[i]:at[i+1]]
}

// GoldOf returns what is known of the gold output of example i.
func (d *Dataset) GoldOf(i int) Gold { return Gold{d.Gold(i), d.LabelSets} }

// Partial reports whether some position of example i has not one gold label but several possible ones.
func (d *Dataset) Partial(i int) bool { return d.GoldOf(i).Partial() }

func (d *Dataset) outputs() []int {
	if d.Outputs != nil {
		return d.Outputs
	}
	return d.Offsets
}

// Column returns the column of that name, or nil.
func (d *Dataset) Column(name string) []string {
	if c := slices.Index(d.ColumnNames, name); c >= 0 {
		return d.Columns[c]
	}
	return nil
}

// Weight returns the weight of example i in the objective.
func (d *Dataset) Weight(i int) float64 {
	if d.Weights == nil {
		return 1
	}
	return d.Weights[i]
}

// ClassWeights returns the examples' weights times the mean of the given weights [Y] of their gold labels. Positions whose
// label is not known for sure do not count; an example without others keeps its weight.
func (d *Dataset) ClassWeights(weights []float64) []float64 {
	all := make([]float64, d.Len())
	for i := range all {
		sum, known := 0.0, 0
		for _, l := range d.Gold(i) {
			if l >= 0 {
				sum += weights[l]
				known++
			}
		}
		all[i] = d.Weight(i)
		if known > 0 {
			all[i] *= sum / float64(known)
		}
	}
	return all
}

// ID returns the name of example i: its own, or its index.
func (d *Dataset) ID(i int) string {
	if d.IDs == nil {
		return strconv.Itoa(i)
	}
	return d.IDs[i]
}

// WhereToken says where position t of example i came from, for messages.
func (d *Dataset) WhereToken(i, t int) string {
	if d.Lines == nil {
		return d.Where(i) + ", position " + strconv.Itoa(t)
	}
	line := d.Lines[i] + t
	for p := d.Offsets[i] + 1; p <= d.Offsets[i]+t; p++ {
		line += strings.Count(d.LinesBefore(p, false), "\n")
	}
	return d.Name + ":" + strconv.Itoa(line)
}

// Where says where example i came from ("train.conll:93114"), for messages.
func (d *Dataset) Where(i int) string {
	if d.Lines == nil {
		return d.Name + ", example " + strconv.Itoa(i)
	}
	return d.Name + ":" + strconv.Itoa(d.Lines[i])
}
