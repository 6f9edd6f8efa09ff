package arcs

import (
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

// The places of cells, and the properties of arcs.
const (
	atHead      = "h"
	atDependent = "d"
	between     = "between" // head and dependent
	directionOf = "dir"
	distanceOf  = "dist"
)

// The functions of cells besides those of package features. The last two say what is made of the values between head
// and dependent; without them, each distinct one makes an attribute.
const (
	keyCall   = "key:"
	setCall   = "set"    // the set of the values
	countCall = "count:" // how many tokens have a value
)

// star ends the letters of a line that makes a second attribute, with direction and distance.
const star = "*"

var language = func() *templates.Language {
	cells := &templates.Cells{
		Place:    "place",
		Expected: fmt.Sprintf("h, d, a neighbour like h-1 or d+2 (to %d tokens away), or between", templates.Farthest),
		Anchors: []templates.Anchor{
			{Name: atHead, Rows: templates.Near}, {Name: atDependent, Rows: templates.Near},
			{Name: between, Rows: templates.Alone},
		},
		Properties: []string{directionOf, distanceOf},
		Of:         "arc",
	}
	g := &templates.Language{
		Text:   "text with macros, like hp=%x[h,upos]",
		Cell:   "[place,column]",
		Macros: "%x[h,upos], %dir, %dist",
		Column: "the name of a column",
		Wrong:  wrongFunction,
	}
	for _, letters := range []string{"A", "L", "AL", "A" + star, "L" + star, "AL" + star} {
		g.Kinds = append(g.Kinds, templates.Kind{Letters: letters, Cells: cells})
	}
	return g
}()

// Parse parses a template; name is the file's name for messages. Errors are bad input, with file:line:column.
func Parse(text, name string) (*Template, error) {
	parsed, err := language.Parse(text, name)
	if err != nil {
		return nil, err
	}
	t := &Template{parsed}
	first := map[string]int{} // line where a text first feeds a score
	arcs := false
	for _, l := range t.Lines {
		for score := range strings.SplitSeq(strings.TrimSuffix(l.Kind, star), "") {
			if before, ok := first[score+l.Text()]; ok {
				return nil, t.Bad(l, "the attribute repeats line %d for the score %s, expected each attribute once per score",
					before, score)
			}
			first[score+l.Text()] = l.Number
			arcs = arcs || score == "A"
		}
		spread := false // some macro makes several attributes
		for _, m := range l.Macros {
			if !spreads(m) {
				continue
			}
			if spread {
				return nil, t.BadColumn(l, m, " in a second macro with one attribute per value between, expected at most one")
			}
			spread = true
		}
	}
	if !arcs {
		return nil, structured.BadInput("%s: no attributes for the score of an arc, expected lines that begin with A or AL, "+
			"like A %%x[h,upos],%%x[d,upos]", name)
	}
	return t, nil
}

// wrongFunction says what is wrong with function k of a macro.
func wrongFunction(m templates.Macro, k int) string {
	name := m.Functions[k]
	key, isKey := strings.CutPrefix(name, keyCall)
	value, isCount := strings.CutPrefix(name, countCall)
	_, known := features.NamedFunction(name)
	switch {
	case (isCount || name == setCall) && m.Place.Of != between:
		return name + " of a single token, expected it with place between"
	case (isCount || name == setCall) && k < len(m.Functions)-1:
		return name + " before another function, expected it last"
	case isCount && value == "":
		return name + " without a value, expected one, like count:VERB"
	case isKey && key == "":
		return name + " without a name, expected one, like key:Case"
	case !isCount && name != setCall && !isKey && !known:
		return fmt.Sprintf("function %q, expected one of %s, key:NAME, or, between, set or count:VALUE",
			name, features.FunctionNames())
	}
	return ""
}

// ofCells returns the functions of a macro's cells, and the one of the values between if it has one.
func ofCells(m templates.Macro) (functions []string, aggregate string) {
	if last := len(m.Functions) - 1; last >= 0 &&
		(m.Functions[last] == setCall || strings.HasPrefix(m.Functions[last], countCall)) {
		return m.Functions[:last], m.Functions[last]
	}
	return m.Functions, ""
}

// spreads reports whether a macro makes an attribute for each distinct value between head and dependent.
func spreads(m templates.Macro) bool {
	_, aggregate := ofCells(m)
	return m.Place.Of == between && aggregate == ""
}
