package text

import (
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// CRFsuite reads the attribute files of CRFsuite (Okazaki 2007): one line per item, with blank lines between sequences,
//
//	label<TAB>attribute[:value]<TAB>attribute[:value]…
//
// In an attribute's name, \: stands for a colon and \\ for a backslash; any other backslash stands for itself. Labels
// are not escaped. Values are finite and decimal, and default to 1. Empty attributes are skipped. A line @weight:2
// gives its sequence that weight. A # has no special meaning.
type CRFsuite struct {
	Alphabet   *structured.Alphabet   // the known labels; nil means those of the file, sorted
	Dictionary *structured.Dictionary // the known attributes; others are dropped. nil builds a dictionary from the file
	MinCount   int                    // a new dictionary leaves out attributes that occur fewer times
	HashBits   int                    // > 0: number attributes by HashAttribute instead of building a dictionary
	Unlabeled  bool                   // ignore gold labels: they may be empty or unknown
	Threads    int                    // 0: all cores; the result does not depend on it
	Line       int                    // number of the first line, if only a part of a file is read; 0 means 1

	Remarks *remarks.Remarks // on sequences; nil refuses bad ones

	// Each gets the sequences of one block after the other, each as a data set with its own alphabet, and Read returns
	// a data set without sequences. Nil: Read returns all sequences.
	Each func(d *structured.Dataset) error
}

const crfsuiteLine = "label<TAB>attribute<TAB>attribute…"

// Read reads a data set: Attributes, numbered in order of first occurrence, Dictionary, Lines, Weights if some sequence
// has one, and, unless Unlabeled, Labels. Its only column holds the labels, if there are any. Errors name the line.
func (c CRFsuite) Read(r io.Reader, name string) (*structured.Dataset, error) {
	switch {
	case c.HashBits < 0 || c.HashBits > 31:
		return nil, structured.BadInput("%s: attributes hashed to %d bits, expected 1 to 31, or 0 for a dictionary", name,
			c.HashBits)
	case c.HashBits > 0 && c.MinCount > 1:
		return nil, structured.BadInput("%s: hashed attributes are not counted: a minimum of %d needs a dictionary", name,
			c.MinCount)
	}
	j := &crfsuiteJoin{CRFsuite: c,
		d: &structured.Dataset{Name: name, Alphabet: c.Alphabet, Dictionary: c.Dictionary, Offsets: []int{0}}}
	if c.Dictionary == nil {
		j.d.Dictionary = &structured.Dictionary{HashBits: c.HashBits}
		if c.HashBits == 0 {
			j.d.Dictionary.Node = structured.NewAlphabet()
		}
	}
	parser := func() func(block) (*crfsuitePart, error) {
		p := &crfsuiteParser{CRFsuite: c, place: place{file: name}, hash: j.d.Dictionary.Node == nil,
			bits: j.d.Dictionary.HashBits}
		return p.parse
	}
	add, some := j.add, false
	if c.Each != nil {
		add = func(p *crfsuitePart) error {
			some = some || len(p.ends) > 0
			return c.each(p, name)
		}
	}
	if err := parseBlocks(newBlocks(r, name).from(c.Line), c.Threads, c.Remarks, parser, add); err != nil {
		return nil, err
	}
	if c.Each != nil && some {
		return j.d, nil
	}
	if len(j.labels) == 0 {
		return nil, structured.BadInput("%s: %w, expected lines of %s", name, host.ErrNoTokens, crfsuiteLine)
	}
	j.finish()
	return j.d, nil
}

// crfsuitePart is the content of a block. Attributes and labels are indices into its own names and labels.
type crfsuitePart struct {
	rows    structured.Sparse
	names   []string // nil if rows have their final numbers
	counts  []int32  // how often each name occurs, if a minimum is set
	gold    []int32
	labels  []string
	ends    []int // end of each sequence
	lines   []int // first line of each sequence
	weights []float64
	number  []int32 // of names in the dictionary that crfsuiteJoin makes, -1 for those that it leaves out
}

// crfsuiteParser parses blocks.
type crfsuiteParser struct {
	CRFsuite
	place
	hash   bool // attributes are numbered by their hash
	bits   int
	part   *crfsuitePart
	names  structured.Alphabet // of the current block
	labels structured.Alphabet // of the current block
	weight float64             // of the current sequence, or -1 if the file gives none

	fields []string // of an item

	// What waits to be looked up in a given dictionary, for many items at a time: attributes, their values, of which
	// the last may lack if they are 1, and where each item ends.
	asked    []string
	values   []float32
	askedEnd []int
	numbers  []int32
}

func (p *crfsuiteParser) parse(b block) (*crfsuitePart, error) {
	lines, fields := strings.Count(b.text, "\n")+2, strings.Count(b.text, "\t")
	p.part = &crfsuitePart{rows: structured.Sparse{Offsets: append(make([]int, 0, lines), 0), Index: make([]int32, 0, fields)},
		gold: make([]int32, 0, lines)}
	p.names.Reset()
	p.labels.Reset()
	p.weight = -1
	p.asked, p.values, p.askedEnd = p.asked[:0], p.values[:0], p.askedEnd[:0] // of a block that was bad
	for number, line := range b.lines() {
		p.line = number
		var err error
		switch {
		case b.leftOut[number], IsBlank(line):
			err = p.end()
		case strings.HasPrefix(line, "@weight:"):
			err = p.setWeight(line[len("@weight:"):])
		default:
			err = p.item(line)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	p.find()
	p.part.labels = slices.Clone(p.labels.Names())
	if !p.hash && p.Dictionary == nil {
		p.count()
	}
	return p.part, nil
}

// items returns the number of items read from the block.
func (p *crfsuiteParser) items() int { return len(p.part.gold) }

// begun reports whether the current sequence has an item.
func (p *crfsuiteParser) begun() bool { return len(p.part.lines) > len(p.part.ends) }

// end ends a sequence.
func (p *crfsuiteParser) end() error {
	if p.begun() {
		p.part.ends = append(p.part.ends, p.items())
	} else if p.weight >= 0 {
		return p.bad("@weight of no sequence: expected items before a blank line")
	}
	p.weight = -1
	return nil
}

func (p *crfsuiteParser) setWeight(text string) error {
	weight, ok := host.Decimal(strings.TrimRight(text, blanks), 64)
	switch {
	case !ok || !structured.ValidWeight(weight):
		return p.bad("@weight:%s, expected 0, or a number from %g to %g", text, structured.LeastWeight, structured.MostWeight)
	case p.weight >= 0:
		return p.bad("a second @weight in this sequence, expected one")
	}
	p.weight = weight
	sequence := len(p.part.ends)
	for len(p.part.weights) < sequence {
		p.part.weights = append(p.part.weights, 1)
	}
	p.part.weights = append(p.part.weights, weight)
	return nil
}

func (p *crfsuiteParser) item(line string) error {
	if !p.begun() {
		p.part.lines = append(p.part.lines, p.line)
	}
	label, rest, more := strings.Cut(line, "\t")
	if !more && strings.IndexByte(line, ' ') >= 0 {
		return p.bad("%.80q has blanks and no tab, expected %s; a label that has blanks needs a tab behind it", line,
			crfsuiteLine)
	}
	if err := p.label(label); err != nil {
		return err
	}
	given := !p.hash && p.Dictionary != nil
	if plain := strings.IndexByte(rest, ':') < 0 && strings.IndexByte(rest, '\\') < 0; plain && given {
		p.asked = appendFields(p.asked, rest)
	} else if err := p.attributes(rest, plain); err != nil {
		return err
	}
	if !given {
		p.part.rows.Offsets = append(p.part.rows.Offsets, len(p.part.rows.Index))
		return nil
	}
	const many = 1000
	if p.askedEnd = append(p.askedEnd, len(p.asked)); len(p.asked) >= many {
		p.find()
	}
	return nil
}

// attributes adds the attributes of an item; plain ones have no values and nothing to unescape.
func (p *crfsuiteParser) attributes(text string, plain bool) error {
	p.fields = appendFields(p.fields[:0], text)
	for _, name := range p.fields {
		value := float32(1)
		if !plain {
			var err error
			if name, value, err = p.split(name); err != nil {
				return err
			}
		}
		p.attribute(name, value)
	}
	return nil
}

// appendFields appends the pieces of a text between tabs but for empty ones. It looks at eight bytes at a time: pieces
// are too short for a search of each to pay.
func appendFields(to []string, text string) []string {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	start, at := 0, 0
	for ; at+8 <= len(text); at += 8 {
		s := text[at : at+8]
		x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		x ^= ones * '\t'
		for found := ^((x&low + low) | x | low); found != 0; found &= found - 1 { // a bit for each byte of x that is 0
			end := at + bits.TrailingZeros64(found)/8
			if end > start {
				to = append(to, text[start:end])
			}
			start = end + 1
		}
	}
	for ; at < len(text); at++ {
		if text[at] == '\t' {
			if at > start {
				to = append(to, text[start:at])
			}
			start = at + 1
		}
	}
	if start < len(text) {
		to = append(to, text[start:])
	}
	return to
}

// label parses the label of an item.
func (p *crfsuiteParser) label(label string) error {
	if strings.IndexByte(label, '\\') >= 0 {
		label = unescaped.Replace(label)
	}
	if !p.Unlabeled {
		if label == "" {
			return p.bad("no label before the first tab, expected %s", crfsuiteLine)
		}
		if label == "@weight" { // CRFsuite's own reader treats it as a weight of 0
			return p.bad("@weight without a number, expected @weight:NUMBER")
		}
		if err := p.checkLabel(label, p.Alphabet); err != nil {
			return err
		}
	}
	p.part.gold = append(p.part.gold, p.labels.Add(label))
	return nil
}

// attribute adds an attribute to the row of the current item, or leaves it to find where a dictionary is given. Without
// one, crfsuiteJoin makes it.
func (p *crfsuiteParser) attribute(name string, value float32) {
	switch {
	case p.hash:
		p.add(structured.HashAttribute([]byte(name), p.bits), value)
	case p.Dictionary == nil:
		p.add(p.names.Add(name), value)
	default:
		p.asked = append(p.asked, name)
		if value != 1 || len(p.values) > 0 {
			p.values = append(p.ones(len(p.asked)-1), value)
		}
	}
}

// ones returns the values of n attributes that wait: 1 where none was given.
func (p *crfsuiteParser) ones(n int) []float32 {
	for len(p.values) < n {
		p.values = append(p.values, 1)
	}
	return p.values
}

// find adds the attributes that wait and that a given dictionary has.
func (p *crfsuiteParser) find() {
	if len(p.askedEnd) == 0 {
		return
	}
	p.numbers = vec.Grow(p.numbers, len(p.asked))
	p.Dictionary.Node.IndexAll(p.asked, p.numbers)
	if len(p.values) > 0 {
		p.values = p.ones(len(p.asked))
	}
	rows, k := &p.part.rows, 0
	for _, end := range p.askedEnd {
		for ; k < end; k++ {
			switch number := p.numbers[k]; {
			case number < 0:
			case len(p.values) > 0:
				p.add(number, p.values[k])
			case rows.Value != nil:
				p.add(number, 1)
			default:
				rows.Index = append(rows.Index, number)
			}
		}
		rows.Offsets = append(rows.Offsets, len(rows.Index))
	}
	p.asked, p.values, p.askedEnd = p.asked[:0], p.values[:0], p.askedEnd[:0]
}

// add adds an attribute by its number.
func (p *crfsuiteParser) add(number int32, value float32) {
	rows := &p.part.rows
	if value != 1 && rows.Value == nil {
		rows.Value = structured.Ones(len(rows.Index))
	}
	if rows.Value != nil {
		rows.Value = append(rows.Value, value)
	}
	rows.Index = append(rows.Index, number)
}

var unescaped = strings.NewReplacer(`\\`, `\`, `\:`, `:`)

// split splits an attribute into its name and its value.
func (p *crfsuiteParser) split(field string) (name string, value float32, err error) {
	colon, escapes := -1, false
	for i := 0; i < len(field); i++ {
		switch {
		case field[i] == '\\' && i+1 < len(field) && (field[i+1] == '\\' || field[i+1] == ':'):
			escapes = true
			i++
		case field[i] == ':' && colon >= 0:
			return "", 0, p.bad(`attribute %q has two colons, expected name:value, with \: for a colon in the name`, field)
		case field[i] == ':':
			colon = i
		}
	}
	name, value = field, 1
	if colon >= 0 {
		name = field[:colon]
		if text := field[colon+1:]; text != "" {
			number, ok := host.Decimal(text, 32)
			if !ok {
				return "", 0, p.bad(
					`attribute %q: %q is not a finite decimal number, expected name:value, with \: for a colon in the name`, field,
					text)
			}
			value = float32(number)
		}
	}
	if escapes {
		name = unescaped.Replace(name)
	}
	if name == "" {
		return "", 0, p.bad(`attribute %q has no name, expected name:value, with \: for a colon in the name`, field)
	}
	return name, value, nil
}

// count leaves the block's names, and how often each occurs if that matters, to crfsuiteJoin.
func (p *crfsuiteParser) count() {
	part := p.part
	part.names = slices.Clone(p.names.Names())
	if p.MinCount > 1 {
		part.counts = make([]int32, len(part.names))
		for _, k := range part.rows.Index {
			part.counts[k]++
		}
	}
}
