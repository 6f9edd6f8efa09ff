package features

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/features/templates"
	structuredtext "github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
)

// conll reads text with the given columns, for instance word, pos and label.
func conll(t testing.TB, columns, text string) *structured.Dataset {
	t.Helper()
	c, err := structuredtext.ParseColumns(columns)
	if err != nil {
		t.Fatal(err)
	}
	d, err := structuredtext.Conll{Columns: c}.Read(strings.NewReader(text), "a.conll")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const three = "word=0,pos=1,label=-1"

func parse(t testing.TB, text string) *Template {
	t.Helper()
	template, err := Parse(text, "x.template")
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func fit(t testing.TB, template *Template, d *structured.Dataset, o templates.Options) {
	t.Helper()
	if err := template.Fit(d, o); err != nil {
		t.Fatal(err)
	}
}

// rows returns the attributes of each row by name.
func rows(x *structured.Sparse, names *structured.Alphabet) []string {
	var rows []string
	for t := range x.Offsets[1:] {
		index, _ := x.Row(t)
		var row []string
		for _, i := range index {
			row = append(row, names.Name(i))
		}
		rows = append(rows, strings.Join(row, " "))
	}
	return rows
}

func TestTemplateOfCRFPP(t *testing.T) {
	d := conll(t, three, "He PRP B\nreckons VBZ O\nthe DT B\n\nNo DT O\n")
	template := parse(t, "# Unigram\nU00:%x[-2,0]\nU01:%x[0,0]/%x[1,1]\nU02\n\n# Bigram\nB\nB01:%x[-1,1]>%x[0,0]%%\n")
	fit(t, template, d, templates.Options{})
	if got, want := rows(d.Attributes, d.Dictionary.Node), []string{
		"U00:_B-2 U01:He/VBZ U02", "U00:_B-1 U01:reckons/DT U02", "U00:He U01:the/_B+1 U02", "U00:_B-2 U01:No/_B+1 U02",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("positions: %q", got)
	}
	if got, want := rows(d.EdgeAttributes, d.Dictionary.Edge),
		[]string{"", "B01:PRP>reckons%", "B01:VBZ>the%", ""}; !reflect.DeepEqual(got, want) {
		t.Errorf("steps: %q", got)
	}
	if got := d.Dictionary.Node.Names(); !reflect.DeepEqual(got, []string{
		"U00:_B-2", "U01:He/VBZ", "U02", "U00:_B-1", "U01:reckons/DT", "U00:He", "U01:the/_B+1", "U01:No/_B+1",
	}) {
		t.Errorf("not in order of first occurrence: %q", got)
	}
}

func TestEqualExpansionsShareAnAttribute(t *testing.T) {
	d := conll(t, "word=0,label=1", "a O\nb O\na O\n")
	fit(t, parse(t, "Unear=%x[-1,0]\nUnear=%x[1,0]\nU%x[0,0]/%x[1,0]\nUa/b%x[-9,0]"), d, templates.Options{})
	if got, want := rows(d.Attributes, d.Dictionary.Node), []string{
		"Unear=_B-1 Unear=b Ua/b Ua/b_B-9", "Unear=a Unear=a Ub/a Ua/b_B-8", "Unear=b Unear=_B+1 Ua/_B+1 Ua/b_B-7",
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if d.EdgeAttributes != nil || d.Dictionary.Edge != nil {
		t.Error("attributes of steps without a B line")
	}
}

func TestOnlyPlainTransitions(t *testing.T) {
	d := conll(t, "word=0,label=1", "a O\nb O\n")
	fit(t, parse(t, "B"), d, templates.Options{})
	if got := rows(d.Attributes, d.Dictionary.Node); !reflect.DeepEqual(got, []string{"", ""}) || d.EdgeAttributes != nil {
		t.Errorf("%q, %v", got, d.EdgeAttributes)
	}
}

func TestOptionalColumns(t *testing.T) {
	text := "# what\nUw=%x[0,word]\nUp=%x[0,pos?]\nUwp=%x[0,word]%lower.prefix2[1,pos?]\n"
	template := parse(t, text)
	if template.String() != text {
		t.Errorf("%q", template)
	}
	fit(t, template, conll(t, "word=0,label=1", "a O\n"), templates.Options{})
	if want := "# what\nUw=%x[0,word]\n"; template.String() != want {
		t.Errorf("without: %q", template)
	}
	template = parse(t, text)
	with := conll(t, three, "a DT O\n")
	fit(t, template, with, templates.Options{})
	if want := strings.ReplaceAll(text, "?", ""); template.String() != want {
		t.Errorf("with: %q", template)
	}
	err := template.Apply(conll(t, "word=0,label=1", "a O\n"), with.Dictionary, 1)
	if want := "x.template:3:9: column pos, but a.conll has columns 0 word besides the label; --columns " +
		"says which column it is"; !structured.IsBadInput(err) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestColumnsOfTheData(t *testing.T) {
	d := conll(t, "label=0,word=2", "O x a\n")
	fit(t, parse(t, "U%x[0,0]%x[0,1]%x[0,word]"), d, templates.Options{})
	if got := rows(d.Attributes, d.Dictionary.Node)[0]; got != "Uxaa" {
		t.Errorf("the label is counted: %s", got)
	}
	for text, want := range map[string]string{
		"U%x[0,word]\nU é%x[0,2]": "x.template:2:9: column 2, but a.conll has columns 0, 1 word besides the label",
		"U%x[0,word]\nB%x[0,label]": "x.template:2:7: column label is the gold label, expected one of the inputs: " +
			"a.conll has columns 0, 1 word",
		"U%x[0,word]\nB%x[0,\x00label]": "x.template:2:7: column \x00label, but",
	} {
		if err := parse(t, text).Fit(d, templates.Options{}); !structured.IsBadInput(err) ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "x: no features, expected lines that begin with U, B or S",
		"# U\n\n":               "x: no features",
		"U\nV00:%x[0,0]":        `x:2:1: a line that begins with "V", expected U, B, S or #`,
		" U":                    `x:1:1: a line that begins with " "`,
		"é":                     `x:1:1: a line that begins with "é"`,
		"U%":                    `x:1:2: "%" without [row,column]`,
		"Ué 100%":               `x:1:7: "%" without [row,column], expected a macro like %x[0,word], or %% for a percent sign`,
		"U%x":                   `x:1:2: "%x" without`,
		"U%x[0,0":               `x:1:4: "[0,0" without ]`,
		"U%x[0]":                `x:1:4: "[0]", expected [row,column]`,
		"U%x[,0]":               `x:1:5: row ""`,
		"U%x[a,0]":              `x:1:5: row "a", expected a number from -100 to 100`,
		"U%x[-101,0]":           `x:1:5: row "-101"`,
		"U%x[1..0,0]":           `x:1:5: row "1..0", expected a number from -100 to 100, or a range like -4..-1`,
		"U%x[0..101,0]":         `x:1:5: row "0..101"`,
		"U%x[0..,0]":            `x:1:5: row "0.."`,
		"U%ngrams2.lower[0,0]":  "x:1: ngrams2 has several values, expected no function after it, found lower",
		"U%each[0,0]%x[0,0]":    "x:1: each has several values, expected a line without other macros",
		"U%x[0..1,0]%x[0..1,0]": "x:1: 2 ranges of rows, expected at most one per line",
		"U%x[-1, 0]":            `x:1:8: column " 0"`,
		"U%x[-1,]":              `x:1:8: column "", expected the name of a column, or a number from 0`,
		"U%x[-1,a?b]":           `x:1:8: column "a?b"`,
		"U%y[0,0]":              `x:1:3: function "y", expected one of caps digits each`,
		"U%[0,0]":               `x:1:3: function ""`,
		"U%lower.X[0,0]":        `x:1:9: function "X", expected one of`,
		"U%x2[0,0]":             `x:1:3: function "x2"`,
		"U%prefix[0,0]":         `x:1:3: function "prefix", expected prefix and a number of letters, from 1 to 100`,
		"U%suffix0[0,0]":        `x:1:3: function "suffix0", expected suffix and a number`,
		"U%suffix101[0,0]":      `x:1:3: function "suffix101"`,
		"U\nU%x[0,0]%x[0,]":     `x:2:14: column ""`,
	} {
		if _, err := Parse(text, "x"); !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

func TestFunctions(t *testing.T) {
	for _, test := range []struct{ function, cell, want string }{
		{"x", "McÉ", "McÉ"}, {"lower", "McÉ", "mcé"}, {"zero", "a1-29", "a0-00"},
		{"shape", "McDonald's-2010", "XxXxx'x-dd"}, {"shape", "", ""}, {"short", "McDonald's-2010.", "XxXx'x-d."},
		{"prefix2", "École", "Éc"}, {"prefix2", "É", ""}, {"prefix1", "É", "É"}, {"suffix3", "naïf", "aïf"},
		{"suffix5", "naïf", ""},
		{"lower.prefix2", "École", "éc"}, {"shape.suffix1", "a1", "d"}, {"lower.x.suffix1", "A", "a"},
		{"caps", "US", "upper"}, {"caps", "U.S.", "upper"}, {"caps", "A", "initial"}, {"caps", "Zürich", "initial"},
		{"caps", "'Tis", "initial"},
		{"caps", "iPhone", "mixed"}, {"caps", "McDonald", "mixed"}, {"caps", "the", "lower"},
		{"caps", "12", ""}, {"caps", "東京", ""},
		{"digits", "2010", "all"}, {"digits", "1,000.5", "number"}, {"digits", "10:30", "number"}, {"digits", "B2B", "some"},
		{"digits", "two", ""},
		{"kind", "http://t.co", "url"}, {"kind", "WWW.x", "url"}, {"kind", "amazon.com", "url"}, {"kind", "a@b.com", "email"},
		{"kind", "a@b.org", "email"},
		{"kind", "@x", "mention"}, {"kind", "#x", "hashtag"}, {"kind", "22nd", "ordinal"},
		{"kind", "nd", ""}, {"kind", "1sth", ""},
		{"kind", ":-)", "symbols"}, {"kind", "@", "symbols"}, {"kind", "word", ""},
		{"isupper", "US", "yes"}, {"isupper", "Us", ""}, {"istitle", "Us", "yes"}, {"istitle", "us", ""},
		{"islower", "us", "yes"}, {"islower", "Us", ""},
		{"isdigit", "12", "yes"}, {"isdigit", "1a", ""}, {"isalpha", "aé", "yes"}, {"isalpha", "a1", ""},
		{"isalnum", "a1", "yes"}, {"isalnum", "a-1", ""},
		{"ispunct", "--", "yes"}, {"ispunct", "a-", ""}, {"hasupper", "aB", "yes"}, {"hasupper", "ab", ""},
		{"haslower", "aB", "yes"}, {"haslower", "B", ""},
		{"hasdigit", "a1", "yes"}, {"hasdigit", "a", ""}, {"haspunct", "a.", "yes"}, {"haspunct", "a", ""},
		{"hashyphen", "a-b", "yes"}, {"hashyphen", "ab", ""},
		{"hasdot", "a.b", "yes"}, {"hasdot", "ab", ""}, {"first2", "École", "Éc"}, {"first2", "É", "É"}, {"first1", "", ""},
		{"ifcapital", "aB", "aB"}, {"ifcapital", "ab", ""}, {"ifletters", "aÉ", "aÉ"},
		{"ifletters", "a1", ""}, {"ifletters", "", ""},
	} {
		d := &structured.Dataset{Offsets: []int{0, 1}, Columns: [][]string{{test.cell}}, ColumnNames: []string{"word"}}
		fit(t, parse(t, "U=%"+test.function+"[0,word]"), d, templates.Options{})
		if got := strings.TrimPrefix(rows(d.Attributes, d.Dictionary.Node)[0], "U="); got != test.want {
			t.Errorf("%s of %q is %q, want %q", test.function, test.cell, got, test.want)
		}
	}
	for name, f := range functions {
		if f.several != nil {
			continue
		}
		if f.counted {
			name += "2"
		}
		if !f.total { // beyond the ends
			name = "lower." + name
		}
		d := conll(t, "word=0,label=1", "a O\n")
		fit(t, parse(t, "U%"+name+"[-1,word]%"+name+"[2,word]"), d, templates.Options{})
		want := ""
		if f.total || f.outside {
			want = "U_B-1_B+2"
		}
		if got := rows(d.Attributes, d.Dictionary.Node)[0]; got != want {
			t.Errorf("%s beyond the ends: %q, want %q", name, got, want)
		}
	}
}

func TestFunctionsOfSeveralValues(t *testing.T) {
	for _, test := range []struct{ function, cell, want string }{
		{"ngrams3", "ab", "<a <ab ab ab> b>"}, {"ngrams6", "É", "<É É>"}, {"ngrams2", "aaa", "<a aa a>"}, {"ngrams4", "", ""},
		{"lower.ngrams2", "Ab", "<a ab b>"}, {"each", "Case=Nom|Number=Sing", "Case=Nom Number=Sing"},
		{"each", "a||b|a", "a b"}, {"each", "|", ""},
	} {
		d := &structured.Dataset{Offsets: []int{0, 1}, Columns: [][]string{{test.cell}}, ColumnNames: []string{"word"}}
		fit(t, parse(t, "U%"+test.function+"[0,word]\nU%"+test.function+"[-1,word]"), d, templates.Options{})
		if got := strings.ReplaceAll(rows(d.Attributes, d.Dictionary.Node)[0], "U", ""); got != test.want {
			t.Errorf("%s of %q is %q, want %q", test.function, test.cell, got, test.want)
		}
	}
}

func TestRanges(t *testing.T) {
	d := conll(t, three, "a A O\nb B O\nc C O\n")
	template := parse(t, "Ul%x[-4..-1,word]\nUr%prefix1[1..2,word]/%x[0,pos]")
	fit(t, template, d, templates.Options{})
	if got, want := rows(d.Attributes, d.Dictionary.Node),
		[]string{"Urb/A Urc/A", "Ula Urc/B", "Ula Ulb"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBuiltinSets(t *testing.T) {
	if got := fmt.Sprint(Sets()); got != "[chunk hmm ner pos]" {
		t.Error(got)
	}
	for _, set := range Sets() {
		text, err := Builtin(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, columns := range []string{"word=0,label=1", three} {
			template := parse(t, text)
			if template.String() != text {
				t.Errorf("%s does not print as it is written", set)
			}
			d := conll(t, columns, strings.Repeat("Al NN B\n", 3))
			if columns != three {
				d = conll(t, columns, strings.Repeat("Al B\n", 3))
			}
			if err := template.Learn(d, 2, structured.Peers{}); err != nil {
				t.Fatal(err)
			}
			fit(t, template, d, templates.Options{})
			pos := strings.Contains(strings.Join(d.Dictionary.Node.Names(), " "), "NN")
			if want := columns == three && set != "pos" && set != "hmm"; pos != want {
				t.Errorf("%s with %s: parts of speech are used: %v, want %v", set, columns, pos, want)
			}
		}
	}
	if _, err := Builtin("nre"); !structured.IsBadInput(err) ||
		err.Error() != `features "nre", expected one of chunk hmm ner pos` {
		t.Error(err)
	}
}
