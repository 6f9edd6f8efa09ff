package structured

import (
	"slices"
	"strconv"
	"strings"
)

// Dataset is a set of examples of one structure. Example i owns positions Offsets[i] to Offsets[i+1]-1 of every
// per-position array. Inputs come in one of three forms: dense Features, discrete Ids (which the network embeds) or
// sparse Attributes. Columns keeps the text of the file, so that predictions can be written beside it.
type Dataset struct {
	Name     string    // the file or generator it came from, for messages
	Offsets  []int     // [n+1]
	Outputs  []int     // [n+1] where each gold output begins in Labels; nil means Offsets, one number per position
	Labels   []int32   // gold outputs, [ΣT] labels for chains; nil if the data has none
	Alphabet *Alphabet // the label names

	// What the parts of a wrong output cost, one number per row of the table CostRows; nil without (see Gold).
	Costs    []float32
	CostRows string

	// A label that is not known for certain is −1−k in Labels, and LabelSets[k] lists the possible labels in order; nil
	// allows any.
	LabelSets [][]int32

	// What each gold output reads, where only that is known of it, and a structure has outputs that read the same
	// (Gold.Reading) [n]; nil without.
	Readings [][]int32

	Features []float32     // dense inputs [ΣT×Dim], or nil
	Source   FeatureSource // of dense inputs that are not in Features, or nil
	Stored   bool          // Source has the numbers that Features would have, in a file: data with either are the same
	Dim      int
	Encoder  string // what identifies the encoder whose rows are the last of the dense inputs; empty: none are

	Columns     [][]string // the columns of a text file: Columns[c][t]
	ColumnNames []string   // what each column holds ("word", "label"), "" if unknown
	Layout      *Layout    // what the text file has beside its columns, or nil
	// [ΣT] where each token begins and ends in its text, in characters (code points) from 0, or −1 in examples where
	// that is unknown; or nil
	Ranges [][2]int64
	Ids    []int32     // discrete inputs [ΣT×len(Vocab)], or nil
	Vocab  []*Alphabet // the vocabulary of each discrete input; Ids are 0 (unknown) for names that it lacks

	Tables []*Table // inputs of rows other than positions
	Graphs []*Graph // [n] for structures that read them, or nil

	Characters *Segments // the characters of each position's word, or nil

	Pieces *Pieces // of the positions' words, for a text encoder, or nil

	Attributes     *Sparse     // sparse inputs, or nil
	EdgeAttributes *Sparse     // sparse inputs of the step into each position (empty where a chain starts), or nil
	Dictionary     *Dictionary // the attribute numbers of Attributes and EdgeAttributes

	Looks []ImageLook // [n] of the images that examples are made of, as far as somebody has looked at them; or nil

	TaskData TaskData // what the task keeps of its examples beside all this, or nil

	// the file that the arrays are mapped from, if they are; copies of them belong into files beside it, not into
	// memory
	Mapped string

	IDs     []string  // [n] names of the examples, or nil
	Lines   []int     // [n] first line of each example in its file, or nil
	Files   []string  // [n] the file of each example, where they come from several; nil: Name
	Weights []float64 // [n] weight of f_i in the objective; nil means 1 for all
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

// Gold returns the gold output of example i (for a chain its labels), or nil if the data has none.
func (d *Dataset) Gold(i int) []int32 {
	if d.Labels == nil {
		return nil
	}
	at := d.outputs()
	return d.Labels[at[i]:at[i+1]]
}

// GoldOf returns the gold output of example i with its sets of possible numbers and its costs.
func (d *Dataset) GoldOf(i int) Gold {
	g := Gold{Output: d.Gold(i), Sets: d.LabelSets}
	if d.Costs != nil {
		at := d.Rows(d.CostRows)
		g.Costs = d.Costs[at[i]:at[i+1]]
	}
	if d.Readings != nil {
		g.Reading = d.Readings[i]
	}
	return g
}

// Partial reports whether some number of example i's gold output is not known for certain.
func (d *Dataset) Partial(i int) bool { return d.GoldOf(i).Partial() }

// OutputLength returns the length of example i's output.
func (d *Dataset) OutputLength(i int) int {
	at := d.outputs()
	return at[i+1] - at[i]
}

func (d *Dataset) outputs() []int {
	if d.Outputs != nil {
		return d.Outputs
	}
	return d.Offsets
}

// Column returns the column of that name, or nil.
func (d *Dataset) Column(name string) []string {
	if c := slices.Index(d.ColumnNames, name); c >= 0 && c < len(d.Columns) {
		return d.Columns[c]
	}
	return nil
}

// ForgetText drops the columns and the layout of a text file. The names of the columns stay.
func (d *Dataset) ForgetText() {
	d.Columns, d.Layout, d.Ranges = nil, nil, nil
}

// The range of an example's weight that is not 0. Gradients are scaled by weights in float32, which has no room for
// those far beyond.
const (
	LeastWeight = 1e-30
	MostWeight  = 1e30
)

// ValidWeight reports whether x can be the weight of an example: 0, or a number from LeastWeight to MostWeight.
func ValidWeight(x float64) bool { return x == 0 || x >= LeastWeight && x <= MostWeight }

// Weight returns the weight of example i in the objective. Weights count as float32, like inputs: gradients are scaled
// by them in float32, on the host and on devices, and a certificate holds only if objective and gradient have the same.
func (d *Dataset) Weight(i int) float64 {
	if d.Weights == nil {
		return 1
	}
	return float64(float32(d.Weights[i]))
}

// ClassWeights returns the examples' weights, each multiplied by the mean of weights [Y] over its gold labels. Labels
// that are not known for certain do not count. An example without any known label keeps its weight.
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

// ID returns the name of example i, or its index if the data has no names.
func (d *Dataset) ID(i int) string {
	if d.IDs == nil {
		return strconv.Itoa(i)
	}
	return d.IDs[i]
}

// WholeLines is what TaskData implements of text whose tokens do not stand on lines of their own.
type WholeLines interface{ WholeLines() }

// WhereToken returns the place of position t of example i in its file, for messages.
func (d *Dataset) WhereToken(i, t int) string {
	if _, whole := d.TaskData.(WholeLines); whole || d.Lines == nil {
		return d.Where(i) + ", position " + strconv.Itoa(t)
	}
	line := d.Lines[i] + t
	for p := d.Offsets[i] + 1; p <= d.Offsets[i]+t; p++ {
		line += strings.Count(d.LinesBefore(p, false), "\n")
	}
	return d.File(i) + ":" + strconv.Itoa(line)
}

// File returns the name of the file that example i came from.
func (d *Dataset) File(i int) string {
	if d.Files == nil {
		return d.Name
	}
	return d.Files[i]
}

// Where returns the place of example i in its file ("train.conll:93114"), for messages.
func (d *Dataset) Where(i int) string {
	if d.Lines == nil {
		return d.File(i) + ", example " + strconv.Itoa(i)
	}
	return d.File(i) + ":" + strconv.Itoa(d.Lines[i])
}

// ImageLook is what an image looks like as a whole, before it is scaled or cut. An image that nobody has looked at has
// Size 0.
type ImageLook struct {
	Colour   [3]float32 // mean of red, green and blue, from 0 to 1
	Contrast float32    // standard deviation of the brightness of pixels, which is from 0 to 1
	Size     float32    // in pixels: the height of a line of text, and of other images the root of their area
}
