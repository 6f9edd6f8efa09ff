package text

import (
	"cmp"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Conll reads text in columns: one line per token, with blank lines between sentences. Columns are separated by tabs if
// the line of the first token has one, else by spaces. A line of white space is blank, and several blank lines count as
// one. A -DOCSTART- line ends a sentence and is not a token, and a first line that names the columns (word pos ner) is
// none, either.
//
// A line that starts with # may be a token or a comment, which Comments says. Where it does not, such a line is a
// comment if it stands in front of a sentence or behind it and does not have the columns of other lines, reads "# key =
// value", or has a label that no token has (Survey).
type Conll struct {
	Columns  Columns              // names of the columns; the zero value means DefaultColumns
	Width    int                  // number of columns, including the label's, if the training data determines it, else 0
	Alphabet *structured.Alphabet // the known labels; nil means those of the file, sorted
	// ignore gold labels: their column may be missing, and so may all columns but the inputs
	Unlabeled bool
	Threads   int     // 0: all cores; the result does not depend on it
	Line      int     // number of the first line, if only a part of a file is read; 0 means 1
	Comments  string  // what comments start with, wherever they stand, or NoComments; empty: the file decides
	Survey    *Survey // of the whole file, if it decides; nil: labels say nothing
	// the file from its beginning, if a later part is read; nil: that is where the part begins
	Start io.Reader

	Remarks *remarks.Remarks // on sequences; nil refuses bad ones

	// Each gets the sequences of one block after the other, each as a data set with its own alphabet, and Read returns
	// a data set without sequences. Nil: Read returns all sequences.
	Each func(d *structured.Dataset) error
}

// Read reads a data set: Columns, ColumnNames, Lines, Layout and, unless Unlabeled, Labels. All lines must have the
// same number of columns. Errors name the line.
func (c Conll) Read(r io.Reader, name string) (*structured.Dataset, error) {
	c = c.withColumns()
	if !c.Unlabeled && !c.Columns.Has(LabelColumn) {
		return nil, structured.BadInput("%s: %s %s names no %s column", name, cmp.Or(c.Columns.Origin, "columns"), c.Columns,
			LabelColumn)
	}
	in := newBlocks(r, name).from(c.Line)
	head := &conllHead{Conll: c}
	start := in
	if c.Start != nil {
		start = newBlocks(c.Start, name)
	}
	switch ok, err := head.read(start); {
	case err != nil:
		return nil, err
	case !ok:
		return nil, head.noTokens(name)
	}
	// conlleval expects the same number of columns in -DOCSTART- lines
	layout := &structured.Layout{Separator: ' ', Filler: "O"}
	if head.tabs || head.single {
		layout.Separator = '\t'
	}
	j := newColumnJoin(name, head.roles, layout)
	parser := func() func(block) (*columnPart, error) {
		p := &conllParser{conllHead: head, columnParser: columnParser{place: place{file: name}}}
		return p.parse
	}
	add, some := j.add, false
	if c.Each != nil {
		add = func(p *columnPart) error { return eachColumns(p, name, head.roles, layout, c.Unlabeled, c.Each) }
	}
	err := parseBlocks(in, c.Threads, c.Remarks, parser, func(p *columnPart) error {
		some = some || len(p.ends) > 0
		c.Remarks.Add(p.remarks...)
		return add(p)
	})
	switch {
	case err != nil:
		return nil, err
	case !some && c.Start == nil: // comments alone
		return nil, head.noTokens(name)
	case c.Each != nil:
		return j.d, nil
	}
	return j.finish(c.Alphabet, c.Unlabeled), nil
}

// withColumns returns c with names of columns.
func (c Conll) withColumns() Conll {
	if len(c.Columns.fields) == 0 {
		origin := c.Columns.Origin
		c.Columns, _ = ParseColumns(DefaultColumns)
		c.Columns.Origin = origin
	}
	return c
}

// conllHead is the format of a file, which the line of its first token determines.
type conllHead struct {
	Conll
	first  int      // number of the first token's line
	tabs   bool     // columns are separated by tabs
	header bool     // that line names the columns, and is no token
	single bool     // there is one column, so that nothing separates columns
	roles  []string // name of each column
	label  int      // the column of the labels
}

// read finds the first token and its columns. It returns false if there is none. A line that may be a comment counts
// where there is no other, and it has the columns of a token.
func (h *conllHead) read(in *blocks) (bool, error) {
	var looked []block
	first, number := "", 0
	defer func() {
		for _, b := range slices.Backward(looked) {
			in.unread(b)
		}
	}()
	for {
		b, more, err := in.next()
		switch {
		case err != nil:
			return false, err
		case !more && number > 0:
			return h.setFirst(in.name, first, number) == nil, nil // without its columns it is a comment
		case !more:
			return false, nil
		}
		looked = append(looked, b)
		for n, line := range b.lines() {
			said, comment := h.byHand(line)
			if comment || IsBlank(line) || docStart(line) {
				continue
			}
			if said || line[0] != hash[0] {
				if h.Remarks.Skips() {
					return true, h.setGood(in, looked, line, n)
				}
				return true, h.setFirst(in.name, line, n)
			}
			if number == 0 {
				first, number = line, n
			}
		}
	}
}

// setFirst takes the format from the line of the first token.
func (h *conllHead) setFirst(file, line string, number int) error {
	h.first = number
	h.tabs = strings.IndexByte(strings.TrimRight(line, blanks), '\t') >= 0
	fields := h.split(nil, line)
	h.single = len(fields) == 1
	h.header = h.Comments != NoComments && namesColumns(fields)
	err := h.setColumns(file, len(fields))
	if prose := h.prose(fields); err != nil && prose != "" {
		return structured.BadInput("%v%s", err, prose) // which is no matter of columns
	}
	if err != nil && h.single && strings.ContainsAny(line, ",;") {
		return structured.BadInput("%w; columns are separated by tabs or blanks", err)
	}
	return err
}

// setGood takes the format from the first sentence all of whose lines have the same columns, where these are enough.
// Where there is none, it is that of the first line.
func (h *conllHead) setGood(in *blocks, looked []block, line string, number int) error {
	for k := 0; ; k++ {
		if k == len(looked) {
			b, more, err := in.next()
			if err != nil {
				return err
			}
			if !more {
				break
			}
			looked = append(looked, b)
			defer in.unread(b)
		}
		first, at, alike := "", 0, true // of the sentence
		ends := func() bool {
			good := first != "" && alike && h.setFirst(in.name, first, at) == nil
			first, alike = "", true
			return good
		}
		for n, line := range looked[k].lines() {
			if _, comment := h.byHand(line); comment {
				continue
			}
			switch {
			case IsBlank(line) || docStart(line):
				if ends() {
					return nil
				}
			case first == "":
				first, at = line, n
			default:
				head := *h
				head.tabs = strings.IndexByte(strings.TrimRight(first, blanks), '\t') >= 0
				alike = alike && len(head.split(nil, line)) == len(head.split(nil, first))
			}
		}
		if ends() {
			return nil
		}
	}
	return h.setFirst(in.name, line, number)
}

// setColumns names the columns, given how many the first token has.
func (h *conllHead) setColumns(file string, found int) error {
	width, narrowest := found, h.Columns.minWidth()
	labeled := h.Columns.Has(LabelColumn)
	inputsOnly := h.Unlabeled && labeled && width == narrowest-1 // the inputs and nothing else
	if inputsOnly || h.Unlabeled && labeled && width == h.Width-1 {
		labeled = false
		width++ // counts the missing label
	}
	if width < narrowest || h.Width > 0 && width != h.Width && !inputsOnly {
		return &NarrowError{found, narrowest,
			structured.BadInput("%s:%d: %s, expected %s", file, h.first, columnCount(found), h.expected())}
	}
	h.roles = h.Columns.names(width)
	h.label = slices.Index(h.roles, LabelColumn)
	if !labeled && h.label >= 0 {
		h.roles = slices.Delete(h.roles, h.label, h.label+1)
	}
	return nil
}

// A NarrowError is about a file with other columns than those that are read.
type NarrowError struct {
	Found int
	Least int // that hold what is named
	error
}

func (e *NarrowError) Unwrap() error { return e.error }

// split appends the columns of a line to fields.
func (h *conllHead) split(fields []string, line string) []string {
	line = strings.TrimRight(line, blanks)
	if h.tabs {
		for more := true; more; {
			var field string
			field, line, more = strings.Cut(line, "\t")
			fields = append(fields, strings.Trim(field, blanks))
		}
		return fields
	}
	for {
		line = strings.TrimLeft(line, blanks)
		if line == "" {
			return fields
		}
		end := 0
		for end < len(line) && strings.IndexByte(blanks, line[end]) < 0 {
			end++
		}
		fields = append(fields, line[:end])
		line = line[end:]
	}
}

// noTokens is the error of a file without tokens.
func (h *conllHead) noTokens(file string) error {
	return structured.BadInput("%s: %w, expected lines of at least %s (%s)", file, host.ErrNoTokens,
		columnCount(h.Columns.minWidth()), h.namedAs())
}

// prose returns an addition to the error that a line has a wrong number of columns: that it looks like raw text, or
// nothing.
func (h *conllHead) prose(fields []string) string {
	if !h.tabs && opensTree(fields) {
		return "; it opens a tree in brackets, which --format brackets reads for --task constituency"
	}
	words := 0
	for _, field := range fields {
		if wordLike(field) {
			words++
		}
	}
	if h.tabs || len(fields) < 3 || 2*words <= len(fields) && !shouted([][]string{fields}) {
		return ""
	}
	return "; it looks like raw text, and should be one token per line"
}

// blanksAreText returns an addition to the error that a line has a wrong number of columns: that its blanks separate
// none, or nothing.
func (h *conllHead) blanksAreText(line string) string {
	if !h.tabs || !strings.Contains(strings.Trim(line, blanks), " ") {
		return ""
	}
	return "; tabs separate columns, as in line " + strconv.Itoa(h.first)
}

// expected returns how many columns a line should have, and why.
func (h *conllHead) expected() string {
	switch n := len(h.roles); {
	case n == h.Columns.minWidth():
		return h.named()
	case n > 0:
		return strconv.Itoa(n) + ", as in line " + strconv.Itoa(h.first)
	case h.Width > 0 && h.Unlabeled && h.Columns.Has(LabelColumn):
		expected := strconv.Itoa(h.Width) + " as in the training data, or " + strconv.Itoa(h.Width-1) + " without the label"
		if inputsOnly := h.Columns.minWidth() - 1; inputsOnly < h.Width-1 {
			expected += ", or " + strconv.Itoa(inputsOnly) + " with the inputs alone"
		}
		return expected
	case h.Width > 0:
		return strconv.Itoa(h.Width) + ", as in the training data"
	}
	return "at least " + h.named()
}

// named returns the columns that there must be: "3 (word pos label, from --columns)", with the origin that Columns
// names.
func (h *conllHead) named() string {
	return strconv.Itoa(h.Columns.minWidth()) + " (" + h.namedAs() + ")"
}

// namedAs returns the names of those columns and their origin: "word pos label, from --columns".
func (h *conllHead) namedAs() string {
	if h.Columns.Origin == "" {
		return h.Columns.list()
	}
	return h.Columns.list() + ", from " + h.Columns.Origin
}

func columnCount(n int) string {
	if n == 1 {
		return "1 column"
	}
	return strconv.Itoa(n) + " columns"
}

// docStart reports whether the first column is -DOCSTART-, the document separator of CoNLL-2003.
func docStart(line string) bool {
	rest, ok := strings.CutPrefix(line, "-DOCSTART-")
	return ok && (rest == "" || strings.IndexByte(blanks, rest[0]) >= 0)
}

// conllParser parses blocks.
type conllParser struct {
	*conllHead
	columnParser
	fields []string   // of the current line
	held   []heldLine // inside of a sentence, which are comments if it ends there
}

// heldLine is a line that may be a comment.
type heldLine struct {
	number int
	text   string
	is     verdict
}

func (p *conllParser) parse(b block) (*columnPart, error) {
	p.begin(len(p.roles))
	p.held = p.held[:0]
	for number, line := range b.lines() {
		p.line = number
		switch said, comment := p.byHand(line); {
		case b.leftOut[number]:
			p.endSentence()
			p.skip(line)
		case IsBlank(line):
			p.endSentence()
			p.skip("")
		case docStart(line):
			p.endSentence()
			p.skip(strings.TrimRight(line, blanks))
		case comment:
			p.skip(strings.TrimRight(line, blanks))
		case p.isHeader(number):
			p.skip(strings.TrimRight(line, blanks))
			p.remark(&p.part.remarks, slog.LevelInfo, remarks.Header, line)
		case said || line[0] != hash[0]:
			if err := p.add(line); err != nil {
				return nil, err
			}
		default:
			p.fields = p.split(p.fields[:0], line)
			x := heldLine{number, line, p.judge(line, p.fields)}
			switch {
			case x.is <= isDoubtful:
				if err := p.add(line); err != nil {
					return nil, err
				}
				if x.is == isDoubtful {
					p.remark(&p.part.remarks, slog.LevelWarn, remarks.Doubtful, line)
				}
			case p.inSequence():
				p.held = append(p.held, x)
			default:
				p.comment(x)
			}
		}
	}
	p.endSentence()
	return p.end(), nil
}

// endSentence ends a sentence, and lines that were held are comments.
func (p *conllParser) endSentence() {
	at := p.line
	for _, x := range p.held {
		p.line = x.number
		p.comment(x)
	}
	p.held, p.line = p.held[:0], at
	p.endSequence()
}

func (p *conllParser) comment(x heldLine) {
	p.skip(strings.TrimRight(x.text, blanks))
	if x.is == isGuessed {
		p.remark(&p.part.remarks, slog.LevelWarn, remarks.Guessed, x.text)
	} else {
		p.remark(&p.part.remarks, slog.LevelInfo, remarks.Comments, x.text)
	}
}

// add parses the line of a token. Lines that were held before it are tokens, too.
func (p *conllParser) add(line string) error {
	at := p.line
	for _, x := range p.held {
		p.line = x.number
		if err := p.addToken(x.text); err != nil {
			return structured.BadInput("%w; --comments %s makes lines that start with it comments", err, hash)
		}
	}
	p.held, p.line = p.held[:0], at
	return p.addToken(line)
}

func (p *conllParser) addToken(line string) error {
	p.fields = p.split(p.fields[:0], line)
	if n := len(p.fields); n != len(p.roles) {
		return p.bad("%s, expected %s%s", columnCount(n), p.expected(), p.prose(p.fields)+p.blanksAreText(line))
	}
	for c, field := range p.fields {
		if field == "" {
			return p.bad("column %d is empty", c+1)
		}
	}
	if !p.Unlabeled {
		if err := p.checkLabel(p.fields[p.label], p.Alphabet); err != nil {
			return err
		}
	}
	p.token(p.fields)
	return nil
}
