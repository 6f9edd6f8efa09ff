package brackets

import (
	"bytes"
	"io"
	"slices"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

// Reader reads trees as data.
type Reader struct {
	// Names are the known labels; they keep their numbers, and new ones get the numbers after them. nil means the
	// labels of the file, sorted.
	Names *structured.Alphabet
	Line  int // number of the first line

	// Failed gets which trees are those of parses that failed, counted among all. Nil: they are bad, as others without
	// words.
	Failed *[]int

	Remarks *remarks.Remarks // on trees; nil refuses bad ones
}

// columnNames are those of treebanks that inputs may be made from. Only words and tags hold something.
var columnNames = []string{"word", "lemma", "upos", "xpos", "feats"}

// Read reads the trees of a file, made plain (Node.Plain). Labels without words are refused.
func (r Reader) Read(in io.Reader, path string) (*structured.Dataset, error) {
	var trees []*Node
	var lines []int
	count := 0
	read := Read
	if r.Remarks.Skips() {
		read = r.readGood
	}
	err := read(in, path, r.Line, func(tree *Node, line int) error {
		if count++; r.Failed != nil && tree.Failed() {
			*r.Failed = append(*r.Failed, count-1)
			return nil
		}
		if tree = tree.Plain(); tree == nil {
			return r.Remarks.Bad(structured.BadInput("%s:%d: a tree without words, expected at least one", path, line))
		}
		trees, lines = append(trees, tree), append(lines, line)
		return nil
	})
	if err != nil {
		return nil, err
	}
	d := Dataset(trees, r.Names)
	d.Name, d.Lines = path, lines
	return d, nil
}

// readGood is Read that leaves bad trees out. It goes on at the first line after the one where a bad tree begins that
// begins with a bracket.
func (r Reader) readGood(in io.Reader, path string, line int, yield func(tree *Node, line int) error) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return structured.BadInput("%s: %w", path, err)
	}
	for line = max(1, line); ; {
		begin, err := newParser(bytes.NewReader(text), path, line).trees(yield)
		if err == nil {
			return nil
		}
		if err := r.Remarks.Bad(err); err != nil {
			return err
		}
		for ; line <= begin || text[0] != '('; line++ {
			end := bytes.IndexByte(text, '\n') + 1
			if end == 0 || end == len(text) {
				return nil
			}
			text = text[end:]
		}
	}
}

// Dataset returns trees as data. Names are as for a Reader.
func Dataset(trees []*Node, names *structured.Alphabet) *structured.Dataset {
	occur := structured.NewAlphabet()
	d := Sentences(func(yield func(words, tags []string) bool) {
		for _, tree := range trees {
			words, tags := tree.Words(nil, nil)
			tree.Output(len(words), occur.Add)
			if !yield(words, tags) {
				return
			}
		}
	})
	all := slices.Sorted(slices.Values(occur.Names()))
	d.Alphabet = structured.NewAlphabet(all...)
	if names != nil {
		d.Alphabet = structured.NewAlphabet(names.Names()...)
		for _, name := range all {
			d.Alphabet.Add(name)
		}
		if d.Alphabet.Len() == names.Len() {
			d.Alphabet = names
		}
	}
	d.Labels = []int32{}
	for i, tree := range trees {
		d.Labels = append(d.Labels, tree.Output(d.Length(i), d.Alphabet.Index)...)
	}
	return d
}

// Sentences returns words with their tags as data without trees.
func Sentences(all func(yield func(words, tags []string) bool)) *structured.Dataset {
	d := &structured.Dataset{Offsets: []int{0}, Outputs: []int{0}, ColumnNames: columnNames,
		Columns: make([][]string, len(columnNames)), TaskData: Kind{}}
	all(func(words, tags []string) bool {
		n := len(words)
		for c, name := range columnNames {
			switch name {
			case "word":
				d.Columns[c] = append(d.Columns[c], words...)
			case "upos":
				d.Columns[c] = append(d.Columns[c], tags...)
			default:
				d.Columns[c] = append(d.Columns[c], slices.Repeat([]string{"_"}, n)...)
			}
		}
		d.Offsets = append(d.Offsets, d.Positions()+n)
		d.Outputs = append(d.Outputs, d.Outputs[len(d.Outputs)-1]+n*n)
		return true
	})
	d.Tables = []*structured.Table{{Name: constituents.SpanRows, Offsets: d.Outputs},
		{Name: constituents.LabelRows, Offsets: d.Outputs}}
	return d
}

// Kind marks data of trees of constituents: the TaskData of what this package reads.
type Kind struct{}

func (Kind) Subset(*structured.Dataset, []int) structured.TaskData { return Kind{} }

// WholeLines implements structured.WholeLines: a line may have a whole tree.
func (Kind) WholeLines() {}

// Join lets data of several files be joined.
func (Kind) Join([]structured.TaskData) (structured.TaskData, error) { return Kind{}, nil }

// Is reports whether data are trees of constituents.
func Is(d *structured.Dataset) bool {
	_, is := d.TaskData.(Kind)
	return is
}

// Renumber numbers the labels of data by an alphabet that has all of them.
func Renumber(d *structured.Dataset, by *structured.Alphabet) {
	if d.Alphabet == by {
		return
	}
	d.Labels = slices.Clone(d.Labels)
	for k, l := range d.Labels {
		if l > 0 {
			d.Labels[k] = 1 + by.Index(d.Alphabet.Name(l-1))
		}
	}
	d.Alphabet = by
}

// WordsOf returns the words of sentence i and their tags.
func WordsOf(d *structured.Dataset, i int) (words, tags []string) {
	lo, hi := d.Offsets[i], d.Offsets[i+1]
	return d.Column("word")[lo:hi], d.Column("upos")[lo:hi]
}

// ColumnNames returns the names of the columns of such data.
func ColumnNames() []string { return slices.Clone(columnNames) }
