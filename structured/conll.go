package structured

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Conll reads text in columns: a line a token, sentences separated by blank lines. Columns are separated by tabs if the
// first token's line has one, else by spaces. A line of white space is blank, repeated blank lines count once, a line
// that starts with # is a token like any other, and a -DOCSTART- line ends a sentence and is no token.
type Conll struct {
	Columns   Columns   // which column is what; the zero value means DefaultColumns
	Width     int       // the number of columns, the label's included, where it is known from the training data
	Alphabet  *Alphabet // the known labels; nil takes those of the file, sorted
	Unlabeled bool      // gold labels are not wanted: their column may be missing, and is ignored if it is there
}

// Read reads a data set: Columns, ColumnNames, Lines and, unless Unlabeled, Labels. All lines must have equally many
// columns. Errors name the line.
func (c Conll) Read(r io.Reader, name string) (*Dataset, error) {
	if len(c.Columns.fields) == 0 {
		c.Columns, _ = ParseColumns(DefaultColumns)
	}
	if !c.Unlabeled && !c.Columns.Has(LabelColumn) {
		return nil, BadInput("%s: --columns %s names no %s column", name, c.Columns, LabelColumn)
	}
	in := &conllReader{
		Conll: c, lines: newLines(r, name), copies: map[string]string{},
		d: &Dataset{Name: name, Alphabet: c.Alphabet, Offsets: []int{0}},
	}
	for {
		line, ok := in.next()
		if !ok {
			break
		}
		if err := in.add(line); err != nil {
			return nil, err
		}
	}
	if err := in.err(); err != nil {
		return nil, err
	}
	if in.tokens == 0 {
		return nil, BadInput("%s: no tokens, expected lines of at least %s", name, in.named())
	}
	in.endSentence()
	if !c.Unlabeled {
		in.setLabels()
	}
	return in.d, nil
}

// conllReader is a Conll at work on a file.
type conllReader struct {
	Conll
	*lines
	d      *Dataset
	tokens int
	first  int               // the line of the first token
	tabs   bool              // columns are separated by tabs
	label  int               // the column of the labels
	fields [][]byte          // of the current line
	copies map[string]string // one copy of every different string
}

// add reads a line.
func (in *conllReader) add(line []byte) error {
	line = bytes.TrimRight(line, blanks)
	if len(line) == 0 || docStart(line) {
		in.endSentence()
		return nil
	}
	if in.tokens == 0 {
		in.tabs = bytes.IndexByte(line, '\t') >= 0
	}
	in.split(line)
	if in.tokens == 0 {
		if err := in.start(); err != nil {
			return err
		}
	}
	if n := len(in.fields); n != len(in.d.Columns) {
		return in.bad("%s, expected %s", columnCount(n), in.expected())
	}
	if in.tokens == in.d.Positions() {
		in.d.Lines = append(in.d.Lines, in.number)
	}
	for c, field := range in.fields {
		if len(field) == 0 {
			return in.bad("column %d is empty", c+1)
		}
		text, ok := in.copies[string(field)]
		if !ok {
			text = string(field)
			in.copies[text] = text
		}
		in.d.Columns[c] = append(in.d.Columns[c], text)
	}
	in.tokens++
	if !in.Unlabeled && in.Alphabet != nil {
		return in.checkLabel(in.d.Columns[in.label][in.tokens-1])
	}
	return nil
}

// docStart reports whether the first column is the mark between documents of CoNLL-2003.
func docStart(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("-DOCSTART-"))
	return ok && (len(rest) == 0 || strings.IndexByte(blanks, rest[0]) >= 0)
}

// split cuts a line into fields.
func (in *conllReader) split(line []byte) {
	in.fields = in.fields[:0]
	if !in.tabs {
		for field := range bytes.FieldsFuncSeq(line, func(r rune) bool { return r < 128 && strings.IndexByte(blanks, byte(r)) >= 0 }) {
			in.fields = append(in.fields, field)
		}
		return
	}
	for field := range bytes.SplitSeq(line, []byte{'\t'}) {
		in.fields = append(in.fields, bytes.Trim(field, blanks))
	}
}

// start settles from the first token's line how many columns there are and which holds the labels.
func (in *conllReader) start() error {
	width, full := len(in.fields), max(in.Width, in.Columns.minWidth())
	labeled := in.Columns.Has(LabelColumn)
	if in.Unlabeled && labeled && (width == in.Width-1 || in.Width == 0 && width < full) {
		labeled = false
		width++ // a place for the label that is not there
	}
	if width < full || in.Width > 0 && width != in.Width {
		return in.bad("%s, expected %s", columnCount(len(in.fields)), in.expected())
	}
	names := in.Columns.names(width)
	in.label = slices.Index(names, LabelColumn)
	if !labeled && in.label >= 0 {
		names = slices.Delete(names, in.label, in.label+1)
	}
	in.d.ColumnNames = names
	in.d.Columns = make([][]string, len(names))
	in.first = in.number
	return nil
}

// expected says how many columns a line should have, and why.
func (in *conllReader) expected() string {
	switch n := len(in.d.Columns); {
	case n == in.Columns.minWidth():
		return in.named()
	case n > 0:
		return strconv.Itoa(n) + ", as in line " + strconv.Itoa(in.first)
	case in.Width > 0 && in.Unlabeled && in.Columns.Has(LabelColumn):
		return strconv.Itoa(in.Width) + " as in the training data, or without the label " + strconv.Itoa(in.Width-1)
	case in.Width > 0:
		return strconv.Itoa(in.Width) + ", as in the training data"
	}
	return "at least " + in.named()
}

// named says which columns --columns needs: "3 (word pos label, from --columns)".
func (in *conllReader) named() string {
	return strconv.Itoa(in.Columns.minWidth()) + " (" + in.Columns.list() + ", from --columns)"
}

func columnCount(n int) string {
	if n == 1 {
		return "1 column"
	}
	return strconv.Itoa(n) + " columns"
}

func (in *conllReader) endSentence() {
	if in.tokens > in.d.Positions() {
		in.d.Offsets = append(in.d.Offsets, in.tokens)
	}
}

func (in *conllReader) checkLabel(label string) error {
	if in.Alphabet.Index(label) >= 0 {
		return nil
	}
	return in.bad("label %q is not one of the known ones: %s", label, someOf(in.Alphabet.Names()))
}

// someOf lists names, not too many.
func someOf(names []string) string {
	const most = 40
	if len(names) > most {
		return strings.Join(names[:most], " ") + " … (" + strconv.Itoa(len(names)) + ")"
	}
	return strings.Join(names, " ")
}

// setLabels numbers the labels, which are all known by now.
func (in *conllReader) setLabels() {
	d := in.d
	if d.Alphabet == nil {
		d.Alphabet = NewAlphabet(slices.Compact(slices.Sorted(slices.Values(d.Columns[in.label])))...)
	}
	d.Labels = make([]int32, in.tokens)
	for t, label := range d.Columns[in.label] {
		d.Labels[t] = d.Alphabet.Index(label)
	}
}
