// Package formats is the registry of data file formats: how each is recognised and read. A new format is one file with one
// entry, and one line in All.
package formats

import (
	"cmp"
	"io"

	"github.com/dsp-go/dsp/models/data/localisation"
	"github.com/dsp-go/dsp/structured"
)

// Format is one layout of data files.
type Format struct {
	Name       string
	Extensions []string // of file names, such as ".npz"
	Prefix     string   // of file names, or empty

	// Starts recognises a file by its first bytes. It is nil for the format of text that no other format recognises.
	Starts func(start []byte) bool

	Images   bool // letters of words, for --task ocr
	Tokens   bool // text with a token per line, which can be read piece by piece
	Lines    bool // text with an example per line, which can be read piece by piece
	Columns  bool // inputs are still to be made from columns after reading
	Numbered bool // attributes are numbered during reading, so MinCount and HashBits are settings of the reader
	Trees    bool // holds dependency trees

	// DefaultColumns names the columns where the settings do not; DefaultField is the field that holds the label. They are empty in
	// formats without such a choice.
	DefaultColumns, DefaultField string

	// Read reads a whole file; path is for messages. It is nil for a format of folders.
	Read func(r io.Reader, path string, o Options) (*structured.Dataset, error)
	// ReadFolder reads a folder of files, such as images and what is in them, and IsFolder recognises it by its files. Both are nil for
	// a format of files, and ReadFolder for one that only ReadBoxes reads.
	ReadFolder func(path string, o Options) (*structured.Dataset, error)
	IsFolder   func(path string) bool
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

	Columns    string                 // names of conll columns, as in --columns
	Width      int                    // number of conll columns; 0 if unknown
	Field      string                 // of conllu, that holds the label
	Trees      bool                   // of conllu: outputs are trees
	Matchings  bool                   // of npz: outputs are matchings, and features belong to pairs of items
	Links      string                 // of pairs: the file of the links; empty: they are a field of each line
	Dictionary *structured.Dictionary // of crfsuite attributes; nil numbers them anew
	MinCount   int                    // least count of a crfsuite attribute that is numbered anew
	HashBits   int                    // of crfsuite attributes; 0 does not hash
	Dim        int                    // dense features per position; 0 if unknown

	// Each gets the sequences of a text with a token per line block by block, in place of the data set (text.Conll). Nil: they come at once.
	Each func(d *structured.Dataset) error
}

// numbering returns the alphabet that labels are numbered by, or nil for that of the file.
func (o Options) numbering() *structured.Alphabet {
	if o.OwnLabels {
		return nil
	}
	return o.Labels
}

// All lists the formats, in the order that help texts and messages name them.
var All = []Format{letters, conll, conllu, sentencePairs, crfsuite, npz, coco, voc, imageFolder}

// The names of the formats.
const (
	Letters  = "letters"
	Conll    = "conll"
	Conllu   = "conllu"
	Pairs    = "pairs"
	CRFsuite = "crfsuite"
	NPZ      = "npz"
	COCO     = "coco"
	VOC      = "voc"
	Images   = "images"
)

// Builtin stands for data that is drawn instead of read. It is no entry of the registry.
const Builtin = "builtin"

// Names returns the names of all formats.
func Names() []string {
	var names []string
	for _, f := range All {
		names = append(names, f.Name)
	}
	return names
}

// Find returns the format of that name, or a zero Format, which has no capability and no Read.
func Find(name string) Format {
	for _, f := range All {
		if f.Name == name {
			return f
		}
	}
	return Format{}
}

// Fields returns the names of the columns and the field of the label that a file is read with: the given ones, or where they are empty
// the format's own. Outputs that are trees have no such field.
func (f Format) Fields(columns, field string, trees bool) (string, string) {
	if !trees {
		field = cmp.Or(field, f.DefaultField)
	}
	return cmp.Or(columns, f.DefaultColumns), field
}

// Treebank is the format of files with trees.
func Treebank() string {
	for _, f := range All {
		if f.Trees {
			return f.Name
		}
	}
	return ""
}
