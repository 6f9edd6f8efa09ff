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
	text             string
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

// Parse parses a template. name is its file, for messages. Errors are structured.BadInput and name the line.
func Parse(text, name string) (*Template, error) {
	t := &Template{text: text}
	for row := range templates.Lines(text, name) {
		if row.Text = strings.TrimSpace(row.Text); row.Comment() {
			continue
		}
		letter, list, _ := strings.Cut(row.Text, " ")
		list = strings.TrimSpace(list)
		var to *[]line
		var of scope
		switch letter {
		case "P":
			to, of = &t.pairs, pairs
		case "U":
			to, of = &t.unmatched, unmatched
		default:
			return nil, row.Wrong("line %.80q, expected P or U, a space, and properties joined by commas", row.Text)
		}
		l := line{text: list, cells: 1}
		for _, word := range strings.Split(list, ",") {
			k := slices.IndexFunc(properties, func(p property) bool { return p.name == word && p.of&of != 0 })
			if k < 0 {
				return nil, row.Wrong("property %.80q, expected one of %s", word, strings.Join(namesOf(of), ", "))
			}
			if slices.Contains(l.properties, k) {
				return nil, row.Wrong("property %s twice, expected each once", word)
			}
			l.properties = append(l.properties, k)
			l.cells *= len(properties[k].classes)
			t.needs |= properties[k].needs
			if l.cells > mostCells {
				return nil, row.Wrong("%s have too many values together, expected at most %d", list, mostCells)
			}
		}
		if slices.ContainsFunc(*to, func(other line) bool { return other.text == l.text }) {
			return nil, row.Wrong("%s %s is here twice", letter, list)
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

// String returns the text of the template, comments included.
func (t *Template) String() string { return t.text }
