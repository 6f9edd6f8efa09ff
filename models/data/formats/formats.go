// Package formats is the registry of data file formats. Each is one value, a Format, in its own file, which registers
// it: how it is recognised and read, for which tasks it has data, and which settings have an effect on it. Everything
// else asks the Format, and compares no names. A program may register formats of its own (Register).
package formats

import (
	"cmp"
	"io"
	"slices"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// Format is one layout of data files.
type Format struct {
	Name       string   // as --format has it
	Holds      string   // what its files hold, in a line
	Extensions []string // of file names, such as ".npz"
	Prefix     string   // of file names, or empty

	// Tasks are the names of those that it has data for. The first is the task of such data where the settings leave it
	// open.
	Tasks []string
	// Takes are the settings of a training that have an effect on how it is read, or on the inputs that are made of its
	// columns.
	Takes []string
	// Settings is a struct of settings that only this format has, with their defaults and the tags yaml and help. A
	// user gives them as --format-settings NAME=VALUE,... and Read gets the struct with these values, as Options.Own.
	// Nil: there are none.
	Settings any

	// Starts recognises a file by its first bytes. It is nil for the format of text that no other format recognises.
	Starts func(start []byte) bool

	Images bool // letters of words
	Tokens bool // text with a token per line, which can be read piece by piece
	Lines  bool // text with an example per line, which can be read piece by piece
	// a range of its bytes that begins and ends after blank lines can be read on its own, by Options.Line, Start and
	// Each
	Ranges   bool
	Columns  bool // inputs are still to be made from columns after reading, which ColumnNames names
	Arrays   bool // holds numbers only, which are inputs as they are
	Numbered bool // attributes are numbered during reading, so MinCount and HashBits are settings of the reader
	Trees    bool // holds dependency trees

	// DefaultColumns names the columns where the settings do not; DefaultField is the field that holds the label. They
	// are empty in formats without such a choice.
	DefaultColumns, DefaultField string

	// ColumnNames names the columns of data without labels, as Read makes them: columns and field are the settings of
	// that name, and width counts the columns of the training file, 0 if unknown. It is nil for a format without
	// columns.
	ColumnNames func(columns, field string, width int) ([]string, error)

	// Recognise returns names of the columns of a file by what they hold; empty where they are those of DefaultColumns.
	// It is nil for a format whose columns are always the same, or that has none.
	Recognise func(r io.Reader, path string, o Options) string

	// LookThrough surveys a whole file, which open opens again and again, before it is read, and perhaps read in parts.
	// It is nil for a format whose lines mean the same anywhere.
	LookThrough func(open func() (io.ReadCloser, error), path string, o Options) (*text.Survey, error)

	// ByTask says that its tasks read it themselves, as their own settings say; it then needs no reader.
	ByTask bool
	// Read reads a whole file; path is for messages. It is nil for a format of folders.
	Read func(r io.Reader, path string, o Options) (*structured.Dataset, error)
	// ReadFolder reads a folder of files, such as images and what is in them, and IsFolder recognises it by its files.
	// Both are nil for a format of files, and ReadFolder for one that only ReadBoxes reads.
	ReadFolder func(path string, o Options) (*structured.Dataset, error)
	IsFolder   func(path string) bool
	// the file in its folders that says what the others hold, and is no data file itself; empty: there is none
	Listing string
	// ReadBoxes reads images with boxes of objects, for --task localise. It is nil for formats without boxes.
	ReadBoxes func(path string, o localisation.Options) (*structured.Dataset, error)
}

// Options say how a file is read. A format ignores what it has no use for.
type Options struct {
	Labels    *structured.Alphabet // known labels, or nil
	OwnLabels bool                 // number labels in the order of the file, whatever Labels says
	Unlabeled bool                 // labels may be missing
	Threads   int
	Line      int // number of the first line, where r holds only a part of a text file
	// where r holds a later part of a text file: the file from its beginning, which may determine its columns
	Start io.Reader

	Columns  string       // names of conll columns, as in --columns
	Width    int          // number of conll columns; 0 if unknown
	Comments string       // of conll (text.Conll); empty: the file decides
	Survey   *text.Survey // of the whole file, where it decides, or nil
	Field    string       // of conllu, that holds the label
	Trees    bool         // of conllu: outputs are trees
	// of npz and pairs: the outputs that stand for links; of npz, features belong to pairs of items. Nil: there are no
	// links
	Pairs      *alignments.Outputs
	Links      string                 // of pairs: the file of the links; empty: they are a field of each line
	Dictionary *structured.Dictionary // of crfsuite attributes; nil numbers them anew
	MinCount   int                    // least count of a crfsuite attribute that is numbered anew
	HashBits   int                    // of crfsuite attributes; 0 does not hash
	Dim        int                    // dense features per position; 0 if unknown
	Failed     *[]int                 // of brackets: gets the parses that failed, (()), or nil: they are bad
	Partial    bool                   // of npz: labels that are strings may be partial
	OnDisk     bool                   // of npz: features stay in their file, where they can
	Remarks    *remarks.Remarks       // on examples; nil refuses bad ones

	Given settings.Texts // --format-settings, as they were given
	Own   any            // points to the format's own struct, Format.Settings with the values that were given

	// Each gets the sequences of a text with a token per line block by block, in place of the data set (text.Conll).
	// Nil: they come at once.
	Each func(d *structured.Dataset) error
}

// Numbering returns the alphabet that labels are numbered by, or nil for that of the file (text.NumberLabels).
func (o Options) Numbering() *structured.Alphabet {
	if o.OwnLabels {
		return nil
	}
	return o.Labels
}

var registry settings.Registry[Format]

// builtin registers a format of dsp itself, in the file that describes it.
func builtin(f Format) Format { return registry.Builtin(f.Name, f.withOwn()) }

// Register adds a format of a program's own: every verb then reads it by its name, or recognises its files. A program
// registers its formats before it uses any.
//
// A name that is empty or taken, a missing Holds, no tasks, settings without help, and a format that reads nothing or
// that is not recognised by anything are errors, which every later use of a format reports.
func Register(f Format) {
	registry.Add(f.withOwn(), checkRegistration(f))
}

// withOwn returns the format with readers that get its own settings.
func (f Format) withOwn() Format {
	if f.Settings == nil {
		return f
	}
	if read := f.Read; read != nil {
		f.Read = func(r io.Reader, path string, o Options) (*structured.Dataset, error) {
			var err error
			if o.Own, err = f.own(o.Given); err != nil {
				return nil, err
			}
			return read(r, path, o)
		}
	}
	if read := f.ReadFolder; read != nil {
		f.ReadFolder = func(path string, o Options) (*structured.Dataset, error) {
			var err error
			if o.Own, err = f.own(o.Given); err != nil {
				return nil, err
			}
			return read(path, o)
		}
	}
	return f
}

// own returns the format's own settings with the given values.
func (f Format) own(given settings.Texts) (any, error) {
	return settings.Fill(f.Settings, given, OwnSettingsName, "--format "+f.Name)
}

// CheckOwn refuses own settings that the format does not have, and values out of range.
func (f Format) CheckOwn(given settings.Texts) error {
	_, err := f.own(given)
	return err
}

// OwnSettingsName is the name of the setting that holds those that only one format has.
const OwnSettingsName = "format-settings"

func checkRegistration(f Format) error {
	err := settings.CheckName(f.Name, append(Names(), Builtin))
	switch {
	case err != nil:
	case f.Holds == "":
		err = structured.BadInput("it does not say what its files hold")
	case len(f.Tasks) == 0:
		err = structured.BadInput("it has no tasks")
	case f.Read == nil && f.ReadFolder == nil && f.ReadBoxes == nil && !f.ByTask:
		err = structured.BadInput("it has no function that reads it")
	case f.Read != nil && f.Starts == nil:
		err = structured.BadInput("it has no function Starts that recognises it; one may recognise nothing")
	case f.Columns && f.ColumnNames == nil:
		err = structured.BadInput("it has columns, and no function ColumnNames")
	case f.ReadFolder != nil && f.IsFolder == nil:
		err = structured.BadInput("it has no function IsFolder that recognises it")
	default:
		err = settings.CheckOwn(f.Settings)
	}
	if err != nil {
		return structured.BadInput("own format %q: %w", f.Name, err)
	}
	return nil
}

// Failed returns the first error of a registration.
func Failed() error { return registry.Failed() }

// All returns the formats of dsp in the order of their names, and then those that the program registered.
func All() []Format { return registry.All() }

// HasOwnSettings reports whether a format has settings that only it has.
func HasOwnSettings() bool {
	return slices.ContainsFunc(All(), func(f Format) bool { return f.Settings != nil })
}

// TakesSetting reports whether a setting has an effect on how the format is read, or on the inputs that are made of it.
func (f Format) TakesSetting(name string) bool { return slices.Contains(f.Takes, name) }

// TakersOf returns the names of the formats that take a setting, and of data that are drawn.
func TakersOf(setting string) []string {
	var names []string
	add := func(f *Format) {
		if slices.Contains(f.Takes, setting) {
			names = append(names, f.Name)
		}
	}
	registry.Each(add)
	add(&drawn)
	return names
}

// Builtin stands for data that is drawn instead of read. It is no entry of the registry.
const Builtin = "builtin"

var drawn = Format{
	Name: Builtin, Tasks: []string{"ocr"},
	Takes: []string{"examples", "difficulty", "candidate-pixels", "candidates", "bitext", "classes", "shape", "features",
		"template", "hash-bits", "min-count"},
}

// TextSettings are those that have an effect on text in columns of which inputs are made.
var TextSettings = []string{"dense", "encoder", "scheme", "partial", "features", "template", "clusters",
	"gazetteer", "hash-bits", "min-count"}

// Names returns the names of all formats.
func Names() []string {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
	}
	return names
}

// Find returns the format of that name, or a zero Format, which has no capability and no Read. Builtin has tasks and
// settings only.
func Find(name string) Format {
	if name == Builtin {
		return drawn
	}
	for _, f := range All() {
		if f.Name == name {
			return f
		}
	}
	return Format{}
}

// Fields returns the names of the columns and the field of the label that a file is read with: the given ones, or where
// they are empty the format's own. Outputs that are trees have no such field.
func (f Format) Fields(columns, field string, trees bool) (string, string) {
	if !trees {
		field = cmp.Or(field, f.DefaultField)
	}
	return cmp.Or(columns, f.DefaultColumns), field
}

// Treebank is the format of files with trees.
func Treebank() string {
	for _, f := range All() {
		if f.Trees {
			return f.Name
		}
	}
	return ""
}
