package templates

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dsp-go/dsp/structured"
)

const (
	rangeMark  = ".."
	cellItself = "x"
)

// Farthest is how many rows a cell is away at most.
const Farthest = 100

// Language is a vocabulary: what the lines of a template may say.
type Language struct {
	Kinds  []Kind
	Joined bool   // the letters of a line begin the name of its attribute; else a blank follows them
	Text   string // what follows the blank, for messages
	Cell   string // what follows the functions of a macro, such as [row,column]; "" if there are no macros
	Macros string // examples
	Column string // what names a column

	// Wrong says what is wrong with function k of a macro; "" if nothing is.
	Wrong func(m Macro, k int) string
}

// Kind is a kind of lines, which begin with the same letters.
type Kind struct {
	Letters string
	*Cells
}

// Cells are the macros that lines of some kinds have.
type Cells struct {
	Place      string // what a place is called
	Expected   string // which places there are, for messages
	Anchors    []Anchor
	Properties []string // macros without a cell
	Of         string   // what has these properties
	Prefixes   bool     // a property ends with its name, whatever letters follow: %lengthw is the length and a w
}

// Anchor is what the rows of a cell are relative to.
type Anchor struct {
	Name string
	Rows Rows
}

// Rows say what may follow an anchor.
type Rows byte

const (
	Alone  Rows = iota // nothing
	Near               // nothing, or a number of rows with a sign: h-1
	UpTo               // nothing, or the most positions of a segment: all..3
	Number             // a number of rows, or a range of them; the anchor has no name
)

// Parse reads a template; name is the file's name for messages. Errors are bad input, with file:line:column.
func (g *Language) Parse(text, name string) (Template, error) {
	t := Template{Name: name, language: g}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i, content := range strings.Split(text, "\n") {
		r := reader{Language: g, file: name, number: i + 1, text: strings.TrimRight(content, " \t\r\v\f")}
		l, err := r.line()
		if err != nil {
			return t, err
		}
		t.Lines = append(t.Lines, l)
	}
	return t, nil
}

// reader reads a line from its beginning to its end.
type reader struct {
	*Language
	file   string
	number int
	text   string // without white space at its end
	at     int    // bytes read so far
}

// bad returns a BadInput error about the text that begins at byte at, with file:line:column.
func (r *reader) bad(at int, format string, args ...any) error {
	return structured.BadInput("%s:%d:%d: "+format, append([]any{r.file, r.number, r.character(at)}, args...)...)
}

// character returns the number of the character that begins at byte at, from 1.
func (r *reader) character(at int) int { return utf8.RuneCountInString(r.text[:at]) + 1 }

func (r *reader) line() (Line, error) {
	l := Line{Number: r.number}
	if !r.Joined {
		r.skip()
	}
	if r.at == len(r.text) || r.text[r.at] == '#' {
		l.Literals = []string{r.text}
		return l, nil
	}
	kind, err := r.kind()
	if err != nil {
		return l, err
	}
	l.Kind = kind.Letters
	if r.Cell == "" {
		l.Literals = []string{r.text[r.at:]}
		return l, nil
	}
	var literal strings.Builder
	for r.at < len(r.text) {
		before, after, isMacro := strings.Cut(r.text[r.at:], "%")
		literal.WriteString(before)
		r.at = len(r.text) - len(after)
		switch {
		case !isMacro:
		case strings.HasPrefix(after, "%"):
			literal.WriteByte('%')
			r.at++
		default:
			m, err := r.macro(kind.Cells)
			if err != nil {
				return l, err
			}
			l.Macros, l.Literals = append(l.Macros, m), append(l.Literals, literal.String())
			literal.Reset()
		}
	}
	l.Literals = append(l.Literals, literal.String())
	return l, nil
}

// skip reads blanks.
func (r *reader) skip() { r.at = len(r.text) - len(strings.TrimLeft(r.text[r.at:], " \t")) }

// kind reads the letters of a line, unless they begin the name of its attribute, and the blank behind them.
func (r *reader) kind() (Kind, error) {
	start := r.at
	letters, _, _ := strings.Cut(r.text[start:], " ")
	if r.Joined {
		_, size := utf8.DecodeRuneInString(r.text[start:])
		letters = r.text[start : start+size]
	}
	k := slices.IndexFunc(r.Kinds, func(k Kind) bool { return k.Letters == letters })
	if k < 0 {
		var known []string
		for _, k := range r.Kinds {
			known = append(known, k.Letters)
		}
		behind := ""
		if !r.Joined {
			behind = " and a blank,"
		}
		return Kind{}, r.bad(start, "a line that begins with %.80q, expected %s%s or #", letters, strings.Join(known, ", "),
			behind)
	}
	if r.Joined {
		return r.Kinds[k], nil
	}
	r.at += len(letters)
	end := r.at
	if r.skip(); r.at == len(r.text) {
		return Kind{}, r.bad(end, "%s without an attribute, expected %s", letters, r.Text)
	}
	return r.Kinds[k], nil
}

// macro reads a macro, whose percent sign is read.
func (r *reader) macro(cells *Cells) (Macro, error) {
	start := r.at
	word := r.text[start:]
	if end := strings.IndexFunc(word, func(c rune) bool { return c < 'a' || c > 'z' }); end >= 0 {
		word = word[:end]
	}
	if cells.Prefixes {
		for _, property := range cells.Properties {
			if rest, begins := strings.CutPrefix(r.text[start:], property); begins && !strings.HasPrefix(rest, "[") {
				word = property
			}
		}
	}
	if slices.Contains(cells.Properties, word) {
		if r.at += len(word); strings.HasPrefix(r.text[r.at:], "[") {
			return Macro{}, r.bad(r.at, "%%%s with a place, expected none: it is a property of the %s", word, cells.Of)
		}
		return Macro{Place: Place{Of: word}, Property: true}, nil
	}
	open := start + strings.IndexByte(r.text[start:], '[')
	if open < start {
		return Macro{}, r.bad(start-len("%"), "%q without %s, expected a macro like %s, or %%%% for a percent sign",
			r.text[start-len("%"):], r.Cell, r.Macros)
	}
	m, err := r.cell(open, cells)
	if err != nil {
		return m, err
	}
	names := strings.Split(r.text[start:open], ".")
	ofText := m
	ofText.Functions = names
	for k, name := range names {
		if wrong := r.Wrong(ofText, k); wrong != "" {
			return m, r.bad(start, "%s", wrong)
		}
		start += len(name) + len(".")
	}
	m.Functions = slices.DeleteFunc(names, func(name string) bool { return name == cellItself })
	return m, nil
}

// cell reads the cell of a macro, which begins at byte open: [place,column].
func (r *reader) cell(open int, cells *Cells) (m Macro, err error) {
	length := strings.IndexByte(r.text[open:], ']')
	if length < 0 {
		return m, r.bad(open, "%q without ], expected %s", r.text[open:], r.Cell)
	}
	r.at = open + length + len("]")
	place, column, ok := strings.Cut(r.text[open+len("["):open+length], ",")
	if !ok {
		return m, r.bad(open, "%q, expected %s", r.text[open:r.at], r.Cell)
	}
	if m.Place, ok = cells.place(place); !ok {
		return m, r.bad(open+len("["), "%s %q, expected %s", cells.Place, place, cells.Expected)
	}
	at := open + len("[") + len(place) + len(",")
	m.At = r.character(at)
	m.Column.Name, m.Column.Optional = strings.CutSuffix(column, "?")
	if name := m.Column.Name; name == "" || strings.TrimSpace(name) != name || strings.ContainsAny(name, ",?%[") {
		return m, r.bad(at, "column %q, expected %s", column, r.Column)
	}
	return m, nil
}

// place reads a place.
func (c *Cells) place(text string) (p Place, ok bool) {
	for _, a := range c.Anchors {
		rest, found := strings.CutPrefix(text, a.Name)
		if !found {
			continue
		}
		p.Of = a.Name
		if rest == "" && a.Rows != Number {
			return p, true
		}
		var err error
		switch {
		case a.Rows == Near && (rest[0] == '+' || rest[0] == '-'):
			p.Row, err = strconv.Atoi(rest)
			p.Last = p.Row
		case a.Rows == UpTo && strings.HasPrefix(rest, rangeMark):
			if p.Last, err = strconv.Atoi(rest[len(rangeMark):]); p.Last < 1 {
				return p, false
			}
		case a.Rows == Number:
			from, to, isRange := strings.Cut(rest, rangeMark)
			p.Row, err = strconv.Atoi(from)
			if p.Last = p.Row; isRange && err == nil {
				p.Last, err = strconv.Atoi(to)
			}
		default:
			return p, false
		}
		return p, err == nil && -Farthest <= p.Row && p.Row <= p.Last && p.Last <= Farthest
	}
	return p, false
}
