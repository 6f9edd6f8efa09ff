package pairs

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

//go:embed align.template
var builtin string

// Builtin returns the text of the built-in template.
func Builtin() string { return builtin }

// Template describes the attributes of word pairs and of unmatched source words. It is immutable.
type Template struct {
	templates.Template

	pairs, unmatched []line
	needs            needs
}

// line makes one attribute.
type line struct {
	text       string // the names of the properties, joined by commas
	properties []int  // indices into properties
	cells      int    // how many values it has if all its properties have classes, else 0
}

// worded reports whether some property of the line is a word.
func (l line) worded() bool { return l.cells == 0 }

// mostCells bounds the values of a line without words, of which extractors keep a table.
const mostCells = 1 << 18

// The kinds of lines.
const (
	ofPairs     = "P"
	ofUnmatched = "U"
)

var language = &templates.Language{
	Kinds: []templates.Kind{{Letters: ofPairs}, {Letters: ofUnmatched}},
	Text:  "properties joined by commas, like dice,position",
}

// Parse parses a template. name is its file, for messages. Errors are structured.BadInput and name the line.
func Parse(text, name string) (*Template, error) {
	parsed, err := language.Parse(text, name)
	if err != nil {
		return nil, err
	}
	t := &Template{Template: parsed}
	for _, row := range t.Lines {
		to, of := &t.pairs, pairs
		switch row.Kind {
		case "":
			continue
		case ofUnmatched:
			to, of = &t.unmatched, unmatched
		}
		l := line{text: row.Text(), cells: 1}
		for _, word := range strings.Split(l.text, ",") {
			k := slices.IndexFunc(properties, func(p property) bool { return p.name == word && p.of&of != 0 })
			if k < 0 {
				return nil, t.Bad(row, "property %.80q, expected one of %s", word, strings.Join(namesOf(of), ", "))
			}
			if slices.Contains(l.properties, k) {
				return nil, t.Bad(row, "property %s twice, expected each once", word)
			}
			l.properties = append(l.properties, k)
			l.cells *= len(properties[k].classes)
			t.needs |= properties[k].needs
			if l.cells > mostCells {
				return nil, t.Bad(row, "%s have too many values together, expected at most %d", l.text, mostCells)
			}
		}
		if slices.ContainsFunc(*to, func(other line) bool { return other.text == l.text }) {
			return nil, t.Bad(row, "%s %s is here twice", row.Kind, l.text)
		}
		*to = append(*to, l)
	}
	if len(t.pairs) == 0 {
		return nil, structured.BadInput("%s: no line that begins with P, expected at least one", name)
	}
	return t, nil
}

// namesOf returns the names of the properties that a line may have.
func namesOf(of scope) []string {
	var names []string
	for _, p := range properties {
		if p.of&of != 0 {
			names = append(names, p.name)
		}
	}
	return names
}
