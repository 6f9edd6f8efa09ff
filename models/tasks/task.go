// Package tasks is the registry of what models learn. A task is one value in its own file, which registers it: how its
// outputs are read, drawn, scored, compared, written and pictured, and which settings go with it. Everything else asks
// the task, and compares no names. A program may register tasks of its own (Register).
package tasks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/formats"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// Task is what a model learns to predict. Functions that may be nil say what that means; the others are in every entry.
type Task struct {
	Name    string // as --task has it
	Outputs string // what is predicted, in the plural: labels, trees
	Summary string // what is learned, in a line

	// MostWords is how long a sentence is at most where settings leave it open: of structures whose memory grows with
	// the square of the length. 0: they are none.
	MostWords int

	// Formats are those of other tasks, by their names, that have data for this one, too; a format may name the task
	// itself (Format.Tasks).
	Formats []string
	// Takes are the settings of a training that have an effect on the task, of those that have none on some others.
	Takes []string
	// Settings is a struct of settings that only this task has, with their defaults and the tags yaml and help. A user
	// gives them as --task-settings NAME=VALUE,... (Own). Nil: there are none.
	Settings any
	// Check refuses settings that do not go with each other in this task, as bad input. Nil accepts all.
	Check func(c config.Config) error
	// Complete fills in settings that are the task's choice where they are open. Nil: there are none.
	Complete func(c *config.Config)
	// Labels says that outputs are one label for each position, as text in columns has them: labels that are numbered,
	// renumbered for other data, converted to another scheme of tags, known in part, or kept in prediction. Other
	// outputs are numbered by their reader.
	Labels bool
	// Known sets the gold outputs of data, which were read with them, to what predictions are to keep of them
	// (--force), whole or in part. Nil: nothing is kept, unless outputs are Labels.
	Known func(d *structured.Dataset, labels *structured.Alphabet) error
	// Whole says why predictions keep nothing of an output, where they do not and the reason is not that nobody has
	// written it.
	Whole string
	// FileFormat is the format of files for a model that was trained on built-in data; empty: they are recognised.
	FileFormat string
	// Nameless says that outputs are numbers of positions or items, which have no names.
	Nameless bool
	// Reading sets what formats have to know to read the task's data. Nil: they read labels of positions.
	Reading func(o *formats.Options)
	// Draw draws the built-in data. Nil: the task has none, and needs a training file.
	Draw func(c *config.Config) (train, dev, test *structured.Dataset, err error)
	// DrawTest draws the test data alone, for a model with such inputs; nil if the settings ask for none. Nil: Draw
	// draws them.
	DrawTest func(c *config.Config, in inputs.Inputs) (*structured.Dataset, error)
	// Examples returns how many examples are drawn where the settings do not give that. Nil: as many as config.Default
	// says.
	Examples func() settings.Sizes
	// ReadAll reads training, development and test data at once, where the settings ask for what files cannot be read
	// one by one for; ok says whether they do. Nil: they never do.
	ReadAll func(c *config.Config, say *remarks.Remarks) (train, dev, test *structured.Dataset, ok bool, err error)
	// Prepare changes the training data before anything is fitted to it; the change is nil if there was none to make.
	// Nil: never.
	Prepare func(c *config.Config, train *structured.Dataset) (*Change, error)
	// Decide fills in settings that the training data decide, after Prepare, where they are open. Nil: there are none.
	Decide func(c *config.Config, train *structured.Dataset)
	// Look fills in settings that files of training data decide before they are read, where they are open. Nil: there
	// are none.
	Look func(c *config.Config) error
	// Choose chooses other settings, of those that are open, where the data need them; nil if they need none. Nil:
	// never.
	Choose func(c *config.Config, sets []*structured.Dataset) *Choice
	// Memory refuses training data that do not fit into memory: d is the beginning of a text file, with inputs, and the
	// file is times as long; so many processes divide its text and attributes. Nil: text is not checked.
	Memory func(c *config.Config, d *structured.Dataset, times float64, processes int) error

	// Read reads a data set in place of the reader of its format. Nil: that reads it.
	Read func(c *config.Config, s Source) (*structured.Dataset, error)
	// CheckData refuses data that models with these settings and that many labels cannot be trained on or applied to.
	// Nil: never.
	CheckData func(c *config.Config, d *structured.Dataset, labels int) error

	// Fit fits the inputs that c asks for to the training data, and makes them for Training.Own. Inputs.Apply makes
	// them in other data. A task whose files have a token per line and a label per token counts what it numbers with
	// Training.Share.Peers; of others each process reads all.
	Fit func(c *config.Config, train inputs.Training) (inputs.Inputs, error)
	// Words are the columns that are read as words; nil: all.
	Words []string
	// Load takes the task's own inputs from a model file, and returns how many tensors held them; own is nil for a
	// model without them. template is empty where the file has none, and hashBits is 0 where attributes are not hashed.
	// Nil: the task has no inputs of its own, and a template is one of attributes of positions.
	Load func(f *safetensors.File, template string, hashBits int) (own inputs.Maker, tensors int, err error)

	// Output is what the network scores.
	Output func(c config.Config, in inputs.Inputs, labels int) nets.Output
	// Net is the network of --net auto, for inputs without attributes.
	Net func(in graph.Input) string
	// CheckNet refuses a network that does not score such outputs. Nil: Resolve of nets.Config alone decides.
	CheckNet func(net string) error
	// LogLikelihood reports whether --loss auto is crf instead of the hinge.
	LogLikelihood func(c config.Config, in inputs.Inputs) bool
	// Loss is the task loss that the settings ask for. Nil: the structure's own.
	Loss func(c *config.Config, labels *structured.Alphabet) (structured.TaskLoss, error)
	// Reg is the regulariser where the settings leave it open. 0: it is 1.
	Reg settings.Strength
	// Untrained returns a baseline that predicts without training, and its name, for runs on built-in data; predict is
	// nil where the inputs do not allow it. Untrained is nil for a task without such a baseline.
	Untrained func(in inputs.Inputs) (name string, predict func(d *structured.Dataset, i int) []int32)
	// Baselines says that runs on built-in data train baselines too.
	Baselines bool

	// Links are the outputs that stand for links, of a task whose requests are Pairs. Nil otherwise.
	Links *alignments.Outputs
	// Request is what a request to a server holds for an example, and Tensors lists what an answer may have beside its
	// line and its score.
	Request Request
	Tensors []string

	// Printing sets what layouts have to know of the settings. Nil: nothing.
	Printing func(c *config.Config, o *predictions.Options)
	// Layout returns how predictions are written: as objects of JSON, one per line, or as text.
	Layout func(labels *structured.Alphabet, o predictions.Options, asJSON bool) predictions.Layout
	// Files says that a file may hold predicted outputs as it holds gold ones, so that two files can be compared.
	Files bool
	// CompareFiles compares files of outputs that are no data sets with the same tokens. Nil: Files says whether there
	// are any.
	CompareFiles func(f OutputFiles) (Report, error)
	// Compare starts a comparison of outputs with the gold ones of d. strict is about entities.
	Compare func(labels *structured.Alphabet, d *structured.Dataset, strict bool) Comparison
	// Review returns what looks at outputs beside the gold ones and at how sure the model was of them.
	Review func(labels *structured.Alphabet) review.Reviewer
	// Describe says what a data set with gold outputs holds, for the log. Nil: nothing beside its size.
	Describe func(d *structured.Dataset) *Change
	// Picture draws the predicted outputs of a few examples of d to a .svg, .png or .pdf file. Nil: there are no
	// pictures.
	Picture func(d *structured.Dataset, labels *structured.Alphabet, path string, predict PredictSome) error
	// Write writes the predicted outputs for d to an npz archive, or to a folder if WritesFolder (--to). Nil: they are
	// only printed.
	Write func(c *config.Config, d *structured.Dataset, labels *structured.Alphabet, o predictions.Options, path string,
		predict PredictSome) error

	WritesFolder bool
	// Contrasts are the trainings that a run on built-in data, whose data sets these are, is compared with. Nil:
	// another method, and no edges.
	Contrasts func(c config.Config, sets []*structured.Dataset, labels int) []Contrast
	// Metrics are the measures that settings are compared by (--metric).
	Metrics []Metric
	// Metric chooses the one for --metric auto, and refuses one that the data do not have; the name is one of Metrics
	// or auto. Nil: auto is the first.
	Metric func(name string, labels *structured.Alphabet, dev *structured.Dataset) (string, error)
	// Result says how the table of a run's results is read, and Columns are those of its errors.
	Result  string
	Columns []Column
}

// Request is what a request to a server holds for an example.
type Request int

// The kinds of requests.
const (
	Positions Request = iota // words, attributes or rows of features, as the model's data had them
	Sentences                // words of a sentence whose pairs of words are scored
	Pairs                    // the words of two sentences, or features of pairs of items
	Graphs                   // features of nodes and edges
	Regions                  // an image, whose pixels are labelled
	Scenes                   // an image, to find an object in
	Lines                    // an image of a line of text, or features of its frames
)

// Change says what Prepare changed, as an entry of the log: a message with names and values.
type Change struct {
	Message string
	Values  []any
}

// Choice is a change of settings that data need, as an entry of the log, too. Make makes it.
type Choice struct {
	Change
	Make func(c *config.Config)
}

// Source is a data set that a task reads itself.
type Source struct {
	Path, Format string
	Masks        string               // folder of masks; empty for none
	Labels       *structured.Alphabet // that the training data have; nil for the training data themselves
	Dim          int                  // features of a position, as the training data have them, or 0
	Edges        inputs.Edges         // likewise
	Unlabeled    bool                 // gold outputs may be missing
	Remarks      *remarks.Remarks     // on examples; nil refuses bad ones
	Threads      int
}

// Column is a column of the table of results, for each data set.
type Column struct {
	Head    string // follows the name of the data set
	Measure string // of structured.Metrics
}

// PredictSome is Predict of a model, which hands its predictions for some examples to yield.
type PredictSome func(d *structured.Dataset, o predictions.Options,
	yield func(i int, p *predictions.Prediction) error) error

var registry settings.Registry[Task]

// builtin registers a task of dsp itself, in the file that describes it.
func builtin(t Task) Task { return registry.Builtin(t.Name, t) }

func init() { // after all of them
	for _, t := range All() {
		config.AddTask(t.Name, t.Settings != nil)
	}
}

// All returns the tasks of dsp in the order of their names, and then those that the program registered.
func All() []Task { return registry.All() }

// Named returns the task of that name; false for auto, and for a name that is none.
func Named(name string) (Task, bool) {
	for _, t := range All() {
		if t.Name == name {
			return t, true
		}
	}
	return Task{}, false
}

// Of returns the task of a resolved configuration. Without one it is tag.
func Of(c *config.Config) Task {
	if t, ok := Named(c.Task); ok {
		return t
	}
	return tag
}

// ChooseReg returns the regulariser C, which is the task's choice where c leaves it open.
func ChooseReg(c *config.Config) settings.Strength {
	if c.Reg != settings.AutoStrength {
		return c.Reg
	}
	return cmp.Or(Of(c).Reg, 1)
}

// ChooseExamples returns how many examples are drawn for training, development and test, which is the task's choice
// where c gives none.
func ChooseExamples(c *config.Config) settings.Sizes {
	if own := Of(c).Examples; own != nil && !c.Gives("examples") {
		return own()
	}
	return c.Examples
}

// Pictured names the outputs that can be drawn, as a list for messages.
func Pictured() string {
	var all []string
	for _, t := range All() {
		if t.Picture != nil {
			all = append(all, t.Outputs)
		}
	}
	return list(all, "and")
}

// names returns the names of some tasks.
func names(of func(t Task) bool) []string {
	var all []string
	for _, t := range All() {
		if of(t) {
			all = append(all, t.Name)
		}
	}
	return all
}

// Reading returns the names of the tasks that files of a format can hold data for: first those that the format names.
func Reading(f formats.Format) []string {
	return append(slices.Clone(f.Tasks), names(func(t Task) bool {
		return slices.Contains(t.Formats, f.Name) && !slices.Contains(f.Tasks, t.Name)
	})...)
}

// list joins names as in "a, b and c".
func list(names []string, last string) string {
	k := len(names) - 1
	if k < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:k], ", ") + " " + last + " " + names[k]
}

// Loading says how inputs of the task are read from files.
func (t Task) Loading(c *config.Config) inputs.Loading {
	return inputs.Loading{Words: t.Words, Vectors: c.Vectors != "", Frozen: c.Freeze, Encoder: c.Encoder != "",
		Rows: inputs.EncoderSettings(c), Own: t.Load, Longest: c.MaxLength}
}
