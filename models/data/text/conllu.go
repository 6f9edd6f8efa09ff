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

// Conllu reads CoNLL-U, the format of Universal Dependencies: ten columns separated by tabs, one line per word, with
// blank lines between sentences. Comments (#…), multiword tokens (1-2) and empty nodes (1.1) are not tokens. A comment
// "# sent_id = x" names its sentence.
type Conllu struct {
	// column of the labels: upos (also ""), xpos, feats, deprel, misc:KEY for KEY=label in the last column, or misc for
	// what has no key there
	Label     string
	Alphabet  *structured.Alphabet // the known labels; nil means those of the file, sorted
	Unlabeled bool                 // ignore gold labels: any value is accepted, including "_"
	Survey    *Survey              // of the whole file, for labels in the last column, which words may lack; nil: none may
	Threads   int                  // 0: all cores; the result does not depend on it
	Line      int                  // number of the first line, if only a part of a file is read; 0 means 1

	Remarks *remarks.Remarks // on sequences; nil refuses bad ones

	// CheckTree returns what is wrong with the heads and relations of a sentence, and its word. Nil checks no trees.
	CheckTree func(heads, relations []string) (word int, err error)

	// Each gets the sequences of one block after the other, each as a data set with its own alphabet, and Read returns
	// a data set without sequences. Nil: Read returns all sequences.
	Each func(d *structured.Dataset) error
}

// CheckConlluLabel returns an error if Conllu has no column of labels of that name.
func CheckConlluLabel(label string) error {
	if _, ok := miscKey(label); ok && label != misc+":" ||
		slices.Contains([]string{"", "upos", "xpos", "feats", "deprel"}, label) {
		return nil
	}
	return structured.BadInput("%q, expected upos, xpos, feats, deprel, misc or misc:KEY", label)
}

// IsConllu reports whether columns are the fields of CoNLL-U, one of which may be the label.
func IsConllu(names []string) bool {
	if len(names) < len(conlluColumns) {
		return false
	}
	for k, name := range conlluColumns {
		if names[k] != name && names[k] != LabelColumn {
			return false
		}
	}
	return true
}

// ConlluColumns returns the names of the columns of a file whose labels are in the given column (see Conllu.Label),
// without those in misc.
func ConlluColumns(label string) []string {
	columns := slices.Clone(conlluColumns)
	if k := slices.Index(columns, cmp.Or(label, "upos")); k >= 0 && label != misc {
		columns[k] = LabelColumn
	}
	return columns
}

// ConlluWidth is how many columns a file has.
const ConlluWidth = 10

var conlluColumns = []string{"id", "word", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"}

// Read reads a data set: the ten Columns of the file (the label's is named LabelColumn), Lines, Layout, IDs if a
// sentence has one, and, unless Unlabeled, Labels. Labels in misc form an eleventh column, which is absent if Unlabeled
// and no token has one. Errors name the line.
func (c Conllu) Read(r io.Reader, name string) (*structured.Dataset, error) {
	columns := slices.Clone(conlluColumns)
	if c.Label == "" {
		c.Label = "upos"
	}
	if err := CheckConlluLabel(c.Label); err != nil {
		return nil, structured.BadInput("%s: label %w", name, err)
	}
	key, inMisc := miscKey(c.Label)
	if inMisc {
		columns = append(columns, LabelColumn)
	} else {
		columns[slices.Index(columns, c.Label)] = LabelColumn
	}
	layout := &structured.Layout{Separator: '\t', Filler: "_"}
	if inMisc {
		layout.Item = &key
	}
	j := newColumnJoin(name, columns, layout)
	parser := func() func(block) (*columnPart, error) {
		p := &conlluParser{
			Conllu: c, columnParser: columnParser{place: place{file: name}},
			fields: make([]string, len(columns)), label: slices.Index(columns, LabelColumn), misc: inMisc, key: key,
		}
		return p.parse
	}
	add, some := j.add, false
	if c.Each != nil {
		add = func(p *columnPart) error {
			some = some || len(p.ends) > 0
			return eachColumns(p, name, columns, j.d.Layout, c.Unlabeled, c.Each)
		}
	}
	err := parseBlocks(newBlocks(r, name).from(c.Line), c.Threads, c.Remarks, parser, func(p *columnPart) error {
		c.Remarks.Add(p.remarks...)
		return add(p)
	})
	if err != nil {
		return nil, err
	}
	if c.Each != nil && some {
		return j.d, nil
	}
	if j.d.Positions() == 0 {
		return nil, structured.BadInput("%s: %w, expected lines of the %d columns %s", name, host.ErrNoTokens,
			len(conlluColumns), strings.Join(conlluColumns, " "))
	}
	d := j.finish(c.Alphabet, c.Unlabeled)
	if c.Unlabeled && inMisc && !slices.ContainsFunc(d.Column(LabelColumn), func(label string) bool {
		return label != noLabel
	}) {
		d.Columns, d.ColumnNames = d.Columns[:len(conlluColumns)], d.ColumnNames[:len(conlluColumns)]
	}
	return d, nil
}

// conlluParser parses blocks.
type conlluParser struct {
	Conllu
	columnParser
	fields []string // of the current line, followed by the label in misc
	label  int      // the label's column
	misc   bool     // the label is in misc
	key    string   // there, or ""
	words  int      // in the current sentence so far

	wordLines []int // the line of each

	covered   int // the last word of the multiword tokens so far
	tokenLine int // of the last one
}

func (p *conlluParser) parse(b block) (*columnPart, error) {
	p.begin(len(p.fields))
	p.words, p.covered = 0, 0
	for number, line := range b.lines() {
		p.line = number
		var err error
		switch {
		case b.leftOut[number]:
			p.endSequence()
			p.words, p.covered = 0, 0
			p.skip(line)
		case IsBlank(line):
			if err = p.endSentence(); err != nil {
				break
			}
			p.endSequence()
			p.words, p.covered = 0, 0
			p.skip("")
		case line[0] == '#':
			p.comment(line)
			p.skip(line)
		default:
			err = p.add(line)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := p.endSentence(); err != nil {
		return nil, err
	}
	return p.end(), nil
}

// endSentence checks the tokens and the tree of the sentence that ends here.
func (p *conlluParser) endSentence() error {
	if p.covered > p.words {
		at := place{p.file, p.tokenLine}
		return at.bad("a multiword token of the words up to %d, expected at most %d, the last word of the sentence",
			p.covered, p.words)
	}
	if p.CheckTree == nil || p.words == 0 {
		return nil
	}
	column := func(name string) []string {
		cells := make([]string, p.words)
		for t, k := range p.part.cells[slices.Index(conlluColumns, name)][p.tokens-p.words:] {
			cells[t] = p.names.Name(k)
		}
		return cells
	}
	word, err := p.CheckTree(column("head"), column("deprel"))
	if err == nil {
		return nil
	}
	at := place{p.file, p.wordLines[word]}
	return at.bad("%w", err)
}

// comment reads a sentence's name from its comment.
func (p *conlluParser) comment(line string) {
	if key, id, ok := strings.Cut(line[1:], "="); ok && strings.TrimSpace(key) == "sent_id" {
		p.id = strings.TrimSpace(id)
	}
}

// add parses the line of a word, a multiword token or an empty node.
func (p *conlluParser) add(line string) error {
	rest, more := line, true
	columns := 0
	for ; more; columns++ {
		var field string
		field, rest, more = strings.Cut(rest, "\t")
		if columns < len(conlluColumns) {
			p.fields[columns] = field
		}
	}
	if columns != len(conlluColumns) {
		return p.bad("%s, expected the %d of CoNLL-U, separated by tabs: %s",
			columnCount(columns), len(conlluColumns), strings.Join(conlluColumns, " "))
	}
	if c := slices.Index(p.fields[:columns], ""); c >= 0 {
		return p.bad("column %d (%s) is empty, expected _ for nothing", c+1, conlluColumns[c])
	}
	word, err := p.word(p.fields[0])
	if !word || err != nil {
		p.skip(line)
		return err
	}
	if p.words == 0 {
		p.wordLines = p.wordLines[:0]
	}
	p.words++
	p.wordLines = append(p.wordLines, p.line)
	if p.misc {
		p.fields[p.label] = valueIn(p.fields[columns-1], p.key)
		if p.fields[p.label] == noLabel && !p.Unlabeled {
			if p.Survey == nil || !p.Survey.outside {
				return p.bad("no label in MISC (%s), expected one (--label %s); --partial takes it for unknown",
					p.fields[columns-1], p.Label)
			}
			p.fields[p.label] = outside
			p.remark(&p.part.remarks, slog.LevelInfo, remarks.Outside, p.fields[1])
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

// word reports whether the id is a word's; a multiword token ("3-4") and an empty node ("3.1") are not words.
func (p *conlluParser) word(id string) (bool, error) {
	next := p.words + 1
	switch n, err := strconv.Atoi(id); {
	case err == nil && n == next:
		return true, nil
	case err == nil:
		return false, p.bad("id %s, expected %d", id, next)
	}
	if from, to, ok := strings.Cut(id, "-"); ok && from == strconv.Itoa(next) {
		if n, err := strconv.Atoi(to); err == nil && n >= next {
			if p.covered >= next {
				return false, p.bad("multiword token %s overlaps the one before, which has the words up to %d", id, p.covered)
			}
			p.covered, p.tokenLine = n, p.line
			return false, nil
		}
	}
	if after, number, ok := strings.Cut(id, "."); ok && after == strconv.Itoa(p.words) {
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			return false, nil
		}
	}
	return false, p.bad("id %q, expected %d, a multiword token such as %d-%d or an empty node such as %d.1", id,
		next, next, next+1, p.words)
}
