package templates

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

// words has lines whose letters stand apart, and places of all sorts but numbers alone; it refuses the function bad.
var words = &Language{
	Kinds: []Kind{{"W", places}, {"W*", places}},
	Text:  "text", Cell: "[place,column]", Macros: "%x[a,b]", Column: "a name",
	Wrong: func(m Macro, k int) string {
		if m.Functions[k] == "bad" {
			return "bad at " + m.Place.Of
		}
		return ""
	},
}

// joined has lines whose letters begin a name, and numbers of rows.
var joined = &Language{
	Kinds: []Kind{{"U", &Cells{Place: "row", Expected: "a number", Anchors: []Anchor{{Rows: Number}}}}}, Joined: true,
	Cell: "[row,column]", Wrong: words.Wrong,
}

var places = &Cells{
	Place: "place", Expected: "a place", Of: "word", Properties: []string{"size"},
	Anchors: []Anchor{{"near", Near}, {"upto", UpTo}, {"alone", Alone}},
}

// What is read is what was drawn, and prints as what was read.
func TestParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(-Farthest, Farthest)
		g := rapid.SampledFrom([]*Language{words, joined}).Draw(t, "language")
		macro := rapid.Custom(func(t *rapid.T) (m Macro) {
			if g == words && rapid.Bool().Draw(t, "property") {
				return Macro{Place: Place{Of: "size"}, Property: true}
			}
			m.Functions = rapid.SliceOfN(rapid.SampledFrom([]string{"f", "g:G", "sizes"}), 0, 2).Draw(t, "functions")
			m.Column.Name = rapid.SampledFrom([]string{"word", "é", "0"}).Draw(t, "column")
			m.Column.Optional = rapid.Bool().Draw(t, "optional")
			m.Place.Row = number.Draw(t, "row")
			m.Place.Last = m.Place.Row
			if g == joined {
				m.Place.Last = rapid.IntRange(m.Place.Row, Farthest).Draw(t, "last")
				return m
			}
			switch m.Place.Of = rapid.SampledFrom([]string{"near", "upto", "alone"}).Draw(t, "anchor"); m.Place.Of {
			case "upto":
				m.Place = Place{m.Place.Of, 0, rapid.IntRange(0, Farthest).Draw(t, "most")}
			case "alone":
				m.Place = Place{Of: m.Place.Of}
			}
			return m
		})
		drawn := Template{Name: "x", language: g}
		for n := rapid.IntRange(1, 4).Draw(t, "lines"); n > 0; n-- {
			l := Line{Number: len(drawn.Lines) + 1}
			if rapid.Bool().Draw(t, "comment") {
				l.Literals = []string{rapid.SampledFrom([]string{"", "#", "# %x é"}).Draw(t, "text")}
			} else {
				l.Kind = rapid.SampledFrom(g.Kinds).Draw(t, "kind").Letters
				l.Macros = rapid.SliceOfN(macro, 0, 3).Draw(t, "macros")
				for range len(l.Macros) + 1 {
					l.Literals = append(l.Literals, rapid.StringOf(rapid.SampledFrom([]rune("%É].?"))).Draw(t, "literal"))
				}
				if l.Literals[0] = "É" + l.Literals[0]; g == joined {
					l.Literals[0] = "U" + l.Literals[0]
				}
			}
			drawn.Lines = append(drawn.Lines, l)
		}
		read, err := g.Parse("\ufeff"+strings.ReplaceAll(drawn.String(), "\n", " \r\n"), "x")
		if err != nil {
			t.Fatalf("%q: %v", drawn.String(), err)
		}
		if got := read.String(); got != drawn.String() {
			t.Errorf("%q is printed as %q", drawn.String(), got)
		}
		for _, l := range read.Lines {
			for k, m := range l.Macros {
				if rest := []rune(strings.Split(drawn.String(), "\n")[l.Number-1]); !m.Property &&
					!strings.HasPrefix(string(rest[m.At-1:]), m.Column.Name) {
					t.Errorf("%q: column %s at %d", string(rest), m.Column.Name, m.At)
				}
				l.Macros[k].At = 0
			}
		}
		for _, all := range []Template{read, drawn} {
			for k, l := range all.Lines {
				all.Lines[k].Macros = append([]Macro{}, l.Macros...)
				for i, m := range l.Macros {
					all.Lines[k].Macros[i].Functions = append([]string{}, m.Functions...)
				}
			}
		}
		if !reflect.DeepEqual(read, drawn) {
			t.Errorf("%q is read as %#v", drawn.String(), read.Lines)
		}
	})
}

// Errors name the file, the line and, in characters, the place in it.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"# a\n\n  V x":          `x.template:3:3: a line that begins with "V", expected W, W* and a blank, or #`,
		"W* \t":                 "x.template:1:3: W* without an attribute, expected text",
		"W é%":                  `x.template:1:4: "%" without [place,column], expected a macro like %x[a,b], or %% for a percent sign`,
		"W é%x[near,b":          `x.template:1:6: "[near,b" without ], expected [place,column]`,
		"W %x[near]":            `x.template:1:5: "[near]", expected [place,column]`,
		"W %size[near,b]":       "x.template:1:8: %size with a place, expected none: it is a property of the word",
		"W %x[near1,b]":         `x.template:1:6: place "near1", expected a place`,
		"W %x[near+101,b]":      `x.template:1:6: place "near+101"`,
		"W %x[near-,b]":         `x.template:1:6: place "near-"`,
		"W %x[upto..0,b]":       `x.template:1:6: place "upto..0"`,
		"W %x[upto..101,b]":     `x.template:1:6: place "upto..101"`,
		"W %x[upto+1,b]":        `x.template:1:6: place "upto+1"`,
		"W %x[alone+1,b]":       `x.template:1:6: place "alone+1"`,
		"W %x[near, b]":         `x.template:1:11: column " b", expected a name`,
		"W é%x.bad[near,b]":     "x.template:1:7: bad at near",
		"W\n":                   "x.template:1:2: W without an attribute",
		"W a\nW %sizes[near,b":  `x.template:2:9: "[near,b" without ]`,
		"W %x[a?b,c]":           `x.template:1:6: place "a?b"`,
		"W %x[near,b]%x[x,b,c]": `x.template:1:16: place "x"`,
	} {
		if _, err := words.Parse(text, "x.template"); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A fixed template has no optional columns, and the lines whose columns are there.
func TestFix(t *testing.T) {
	read, err := words.Parse("# %x\nW %size\nW %f[near,a?]%x[near,b]\nW %x[near,b]%x[near,c?]\n", "x")
	if err != nil {
		t.Fatal(err)
	}
	fixed := read.Fix(func(column string) bool { return column == "a" })
	if got, want := fixed.String(), "# %x\nW %size\nW %f[near,a]%x[near,b]\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !fixed.ReadsColumn("a") || fixed.ReadsColumn("c") || !read.ReadsColumn("c") ||
		!read.Lines[2].Macros[0].Column.Optional {
		t.Error("columns that are read")
	}
}
