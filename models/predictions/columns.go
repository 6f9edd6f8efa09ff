package predictions

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// columnLayout writes a line with columns for each position.
type columnLayout struct {
	namer
	o Options
}

func Columns(labels *structured.Alphabet, o Options) Layout {
	return &columnLayout{newNamer(labels, o), o}
}

// CopiesLines reports whether a layout copies the lines of a file that are no tokens.
func CopiesLines(l Layout) bool {
	_, columns := l.(*columnLayout)
	return columns
}

// LeftOut returns what takes the place of the lines of an example that is bad, or of lines without examples, so that
// the lines of the output are still those of the input: for text in columns, whose lines are as in, the lines as they
// came, with the filler in the columns that predictions add; for other text as many empty lines. Lists of entities have
// nothing.
func LeftOut(l Layout, lines []byte, in *structured.Layout) []byte {
	text := string(lines)
	columns, ok := l.(*columnLayout)
	switch {
	case in == nil:
		return bytes.Repeat([]byte("\n"), len(strings.Split(strings.TrimSuffix(text, "\n"), "\n")))
	case !ok:
		if _, trees := l.(*treeLayout); !trees {
			return nil
		}
		return lines
	}
	if strings.Contains(text, "\t") {
		in.Separator = '\t'
	}
	widest := 0
	for line := range strings.Lines(text) {
		widest = max(widest, in.Count(strings.TrimRight(line, "\r\n")))
	}
	in.Set(0, strings.ReplaceAll(text, "\r", ""))
	if last := len(text) - 1; text[last] != '\n' {
		in.Set(0, in.Before[0]+"\n")
	}
	return columns.linesBefore(nil, &structured.Dataset{Layout: in, Offsets: []int{0}, Columns: make([][]string, widest)},
		0, true)
}

func (c *columnLayout) Add(text []byte, d *structured.Dataset, i int, p *Prediction) ([]byte, int) {
	shares := c.shares(p)
	if d.Layout != nil {
		text = c.linesBefore(text, d, d.Offsets[i], true)
	}
	text = appendEntropy(text, c.o, p)
	switch {
	case c.o.NBest > 0:
		for rank := range p.NBest {
			if rank > 0 {
				text = append(text, '\n')
			}
			text = append(strconv.AppendInt(append(text, "# "...), int64(rank), 10), ' ')
			text = appendScore(text, &p.NBest[rank])
			text = c.sequence(text, d, i, p.NBest[rank].Labels, shares)
		}
	case c.o.Probability:
		text = appendScore(append(text, "# "...), &p.Output)
		fallthrough
	default:
		text = c.sequence(text, d, i, p.Labels, shares)
	}
	switch {
	case d.Layout == nil:
		text = append(text, '\n')
	case i == d.Len()-1:
		text = c.linesBefore(text, d, d.Positions(), true)
	}
	return text, -1
}

// linesBefore appends the lines of the file that stood before a position, with as many columns as those of tokens have.
func (c *columnLayout) linesBefore(text []byte, d *structured.Dataset, at int, first bool) []byte {
	columns := len(ofFile(d))
	if c.o.Into == "" {
		columns++
	}
	if c.o.Marginals {
		columns += c.written.Len()
	}
	if c.o.Confidence {
		columns++
	}
	for line := range strings.Lines(d.LinesBefore(at, first)) {
		line = strings.TrimSuffix(line, "\n")
		text = append(text, line...)
		if line != "" && line[0] != '#' {
			for range columns - d.Layout.Count(line) {
				text = append(append(text, d.Layout.Separator), d.Layout.Filler...)
			}
		}
		text = append(text, '\n')
	}
	return text
}

// appendScore appends the score of an output and, if it has one, its probability.
func appendScore(text []byte, o *Output) []byte {
	text = strconv.AppendFloat(text, o.Score, 'g', 9, 64)
	if !math.IsNaN(o.Probability) {
		text = strconv.AppendFloat(append(text, ' '), o.Probability, 'g', 6, 64)
	}
	return append(text, '\n')
}

// appendEntropy appends the line of an entropy, if it is asked for.
func appendEntropy(text []byte, o Options, p *Prediction) []byte {
	if !o.Entropy {
		return text
	}
	return append(strconv.AppendFloat(append(text, "# entropy "...), p.Entropy, 'g', 6, 64), '\n')
}

// sequence appends the lines of a sequence.
func (c *columnLayout) sequence(text []byte, d *structured.Dataset, i int, labels []int32, of shares) []byte {
	separator := separator(d)
	names, into := c.names(labels), intoColumn(d, c.o.Into)
	key, isItem := intoItem(d, c.o.Into)
	for t, l := range labels {
		at := d.Offsets[i] + t
		if t > 0 && d.Layout != nil {
			text = c.linesBefore(text, d, at, false)
		}
		if isItem {
			text = c.item(text, d, at, key, names[t])
			continue
		}
		if into >= 0 {
			text = replaced(text, d, at, into, names[t])
			continue
		}
		text = c.position(text, d, i, at)
		if c.o.Marginals {
			for k, q := range of.row(t) {
				text = append(append(text, of.names.Name(int32(k))...), '/')
				text = append(strconv.AppendFloat(text, float64(q), 'f', 6, 32), separator)
			}
		}
		if c.o.Confidence {
			text = append(strconv.AppendFloat(text, float64(of.at(t, l, names[t])), 'f', 6, 32), separator)
		}
		text = append(append(text, names[t]...), '\n')
	}
	return text
}

// item appends the columns of a position with a label as an item of the last one. A tag outside entities replaces
// another, and adds no item.
func (c *columnLayout) item(line []byte, d *structured.Dataset, at int, key, label string) []byte {
	last := len(ofFile(d)) - 1
	list := d.Columns[last][at]
	if label != outside || text.HasValue(list, key) || !chains.EntityTags(c.labels) {
		list = text.WithValue(list, key, label)
	}
	return replaced(line, d, at, last, list)
}

// replaced appends the columns of a position with another cell in one of them.
func replaced(text []byte, d *structured.Dataset, at, into int, by string) []byte {
	for k, column := range ofFile(d) {
		cell := column[at]
		if k == into {
			cell = by
		}
		if k > 0 {
			text = append(text, separator(d))
		}
		text = append(text, cell...)
	}
	return append(text, '\n')
}

// intoColumn returns the place of the column that predictions replace, −1 where there is none. Those of CoNLL-U keep
// their names where one holds labels.
func intoColumn(d *structured.Dataset, name string) int {
	if name == "" {
		return -1
	}
	if k := slices.Index(d.ColumnNames, name); k >= 0 {
		return k
	}
	if text.IsConllu(d.ColumnNames) {
		return slices.Index(text.ConlluColumns("none"), name)
	}
	return -1
}

// outside is the tag outside entities, which an item need not say.
const outside = "O"

// intoItem returns the key of the item in the last column that predictions replace, where the label of that name is
// one.
func intoItem(d *structured.Dataset, name string) (key string, ok bool) {
	if name != text.LabelColumn || d.Layout == nil || d.Layout.Item == nil {
		return "", false
	}
	return *d.Layout.Item, true
}

// CheckInto refuses a column to replace that the data does not have, or of which labels are only a part.
func CheckInto(d *structured.Dataset, o Options) error {
	if _, item := intoItem(d, text.LabelColumn); item && intoColumn(d, o.Into) == text.ConlluWidth-1 {
		return structured.BadInput("--into %s: it would replace all that the column holds, and labels are items of it; "+
			"--into %s replaces these",
			o.Into, text.LabelColumn)
	}
	if _, item := intoItem(d, o.Into); item || o.Into == "" || intoColumn(d, o.Into) >= 0 {
		return nil
	}
	names := slices.DeleteFunc(slices.Clone(d.ColumnNames), func(name string) bool { return name == "" })
	switch {
	case len(d.ColumnNames) == 0:
		return structured.BadInput("--into %s: it replaces a column of text, and %s has none", o.Into, d.Name)
	case len(names) == 0:
		return structured.BadInput("--into %s: the columns of %s have no names; --columns names columns", o.Into, d.Name)
	}
	return structured.BadInput("--into %s: the data has no such column; it has %s. --columns names columns", o.Into,
		strings.Join(names, ", "))
}

// NotationIn returns the notation of the tags in the column of d that labels replace or, where they replace none, that
// of its labels. Its scheme is empty where the column does not tell.
func NotationIn(d *structured.Dataset, o Options) chains.Notation {
	k := intoColumn(d, cmp.Or(o.Into, text.LabelColumn))
	if k < 0 {
		return chains.Notation{}
	}
	return chains.NotationOf(d.Columns[k], d.Offsets)
}

// namer gives labels their names.
type namer struct {
	labels  *structured.Alphabet
	convert *chains.Converter    // to another scheme of tags, or nil
	written *structured.Alphabet // labels, or all tags that convert writes
}

// shares are the probabilities, or margins, of labels at each position.
type shares struct {
	names  *structured.Alphabet
	values []float32 // [T×names]
	tags   bool      // of tags in another scheme than that of the model's labels
}

func (n namer) shares(p *Prediction) shares {
	switch {
	case p.Margins != nil:
		return shares{n.labels, p.Margins, false}
	case p.Tags != nil:
		return shares{n.written, p.Tags, true}
	}
	return shares{n.labels, p.Marginals, false}
}

// row returns those of position t.
func (s shares) row(t int) []float32 { return s.values[t*s.names.Len() : (t+1)*s.names.Len()] }

// at returns that of the label l of position t, which is written as name.
func (s shares) at(t int, l int32, name string) float32 {
	if s.tags {
		l = s.names.Index(name)
	}
	return s.row(t)[l]
}

// ConverterOf returns what writes labels in the scheme of o, nil where that is their own or they have none.
func ConverterOf(labels *structured.Alphabet, o Options) *chains.Converter {
	return newNamer(labels, o).convert
}

// newNamer returns a namer; a scheme that the labels do not have is none.
func newNamer(labels *structured.Alphabet, o Options) namer {
	n := namer{labels: labels, written: labels}
	if o.Scheme != "" {
		n.convert, _ = chains.NewConverter(labels, o.Scheme) // models check it before
		if n.convert != nil && o.Spelling != nil {
			n.convert = n.convert.Spelt(*o.Spelling)
		}
		if n.convert != nil {
			n.written = n.convert.Tags()
		}
	}
	return n
}

// names returns the names of a sequence of labels.
func (n namer) names(labels []int32) []string {
	if n.convert != nil {
		return n.convert.Names(labels)
	}
	names := make([]string, len(labels))
	for t, l := range labels {
		names[t] = n.labels.Name(l)
	}
	return names
}

// position appends the columns of a position of example i.
func (c *columnLayout) position(text []byte, d *structured.Dataset, i, at int) []byte {
	separator := separator(d)
	switch {
	case d.Columns != nil:
		for _, column := range ofFile(d) {
			text = append(append(text, column[at]...), separator)
		}
	case d.Attributes == nil:
		text = append(append(text, d.ID(i)...), separator)
		text = append(strconv.AppendInt(text, int64(at-d.Offsets[i]), 10), separator)
		if d.Labels != nil {
			text = append(append(text, d.Alphabet.Name(d.Labels[at])...), separator)
		}
	}
	return text
}

// ofFile returns the columns of d that its file has: a label that a reader of CoNLL-U found in the last one is there
// already.
func ofFile(d *structured.Dataset) [][]string {
	if len(d.Columns) > text.ConlluWidth && text.IsConllu(d.ColumnNames) {
		return d.Columns[:text.ConlluWidth]
	}
	return d.Columns
}

// separator returns the separator of columns: that of the file, or a tab.
func separator(d *structured.Dataset) byte {
	if d.Layout != nil {
		return d.Layout.Separator
	}
	return '\t'
}
