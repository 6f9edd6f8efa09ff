package features

import (
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

const longestAffix = 100 // letters

// The kinds of lines.
const (
	ofPositions = "U"
	ofSteps     = "B"
	ofSegments  = "S"
)

// What rows are relative to in lines about whole segments, and their property.
const (
	ofFirst  = "first"  // the first position of the segment, or one that is so many rows from it
	ofLast   = "last"   // the last position
	ofAll    = "all"    // all of its positions; Last is how many there are at most, 0 for any number
	ofLength = "length" // how many positions it has
)

var (
	rowsOfPositions = &templates.Cells{
		Place:    "row",
		Expected: fmt.Sprintf("a number from -%d to %[1]d, or a range like -4..-1", templates.Farthest),
		Anchors:  []templates.Anchor{{Rows: templates.Number}},
	}
	rowsOfSegments = &templates.Cells{
		Place: "row",
		Expected: fmt.Sprintf("first or last, such as first-1 and last+2, up to %d rows away, "+
			"or all, such as all..3 for segments of at most 3 positions", templates.Farthest),
		Anchors: []templates.Anchor{
			{Name: ofFirst, Rows: templates.Near}, {Name: ofLast, Rows: templates.Near}, {Name: ofAll, Rows: templates.UpTo},
		},
		Properties: []string{ofLength},
		Of:         "segment",
		Prefixes:   true,
	}
	language = &templates.Language{
		Kinds: []templates.Kind{
			{Letters: ofPositions, Cells: rowsOfPositions}, {Letters: ofSteps, Cells: rowsOfPositions},
			{Letters: ofSegments, Cells: rowsOfSegments},
		},
		Joined: true,
		Cell:   "[row,column]",
		Macros: "%x[0,word]",
		Column: "the name of a column, or a number from 0",
		Wrong:  wrongFunction,
	}
)

// Parse parses a template; name is the file's name for messages. Errors are bad input, with file:line, and the
// column where one is to blame.
func Parse(text, name string) (*Template, error) {
	parsed, err := language.Parse(text, name)
	if err != nil {
		return nil, err
	}
	t := &Template{Template: parsed}
	features := 0
	for _, l := range t.Lines {
		if l.Kind != "" {
			features++
		}
		if err := t.checkMacros(l); err != nil {
			return nil, err
		}
	}
	if features == 0 {
		return nil, structured.BadInput("%s: no features, expected lines that begin with U, B or S, like U00:%%x[0,word]",
			name)
	}
	return t, nil
}

// wrongFunction says what is wrong with function k of a macro.
func wrongFunction(m templates.Macro, k int) string {
	name := m.Functions[k]
	if _, ok := findFunction(name); ok {
		return ""
	}
	if base := strings.TrimRight(name, "0123456789"); functions[base].counted {
		return fmt.Sprintf("function %q, expected %s and a number of letters, from 1 to %d", name, base, longestAffix)
	}
	return fmt.Sprintf("function %q, expected one of %s", name, functionNames(true))
}

// checkMacros refuses lines whose macros have several values at once in more than one way.
func (t *Template) checkMacros(l templates.Line) error {
	ranges := 0
	for _, m := range l.Macros {
		all := m.Place.Of == ofAll
		if !all && m.Place.Last != m.Place.Row {
			ranges++
		}
		for k, name := range m.Functions {
			f, _ := findFunction(name)
			switch several := f.f.several != nil; {
			case several && k < len(m.Functions)-1:
				return t.Bad(l, "%s has several values, expected no function after it, found %s", name, m.Functions[k+1])
			case several && len(l.Macros) > 1:
				return t.Bad(l, "%s has several values, expected a line without other macros", name)
			case all && m.Column.Name == gazetteerColumn && (len(m.Functions) > 1 || name != "each"):
				return t.Bad(l, "%s of a whole segment's types in the gazetteer, expected x or each", name)
			case several && all && m.Column.Name != gazetteerColumn:
				return t.Bad(l, "%s has several values, expected a row first or last, not all", name)
			case f.f.outside && all:
				return t.Bad(l, "%s has no value inside a segment, expected a row first or last", name)
			}
		}
	}
	if ranges > 1 {
		return t.Bad(l, "%d ranges of rows, expected at most one per line", ranges)
	}
	return nil
}
