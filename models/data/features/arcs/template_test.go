package arcs

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func TestParseErrors(t *testing.T) {
	const good = "A %x[h,upos]\n"
	for _, test := range []struct{ text, want string }{
		{"", "x.template: no attributes for the score of an arc"},
		{"# nothing\nL %dir", "x.template: no attributes for the score of an arc"},
		{good + "U %x[h,upos]", `x.template:2:1: a line that begins with "U", expected A, L, AL`},
		{good + "A** x", `x.template:2:1: a line that begins with "A**"`},
		{good + "LA x", `x.template:2:1: a line that begins with "LA"`},
		{good + "A", "x.template:2:2: A without an attribute"},
		{good + "A*  ", "x.template:2:3: A* without an attribute"},
		{good + "A é%x", `x.template:2:4: "%x" without [place,column]`},
		{good + "A %", `x.template:2:3: "%" without [place,column]`},
		{good + "A %x[h,upos", `x.template:2:5: "[h,upos" without ]`},
		{good + "A %x[h]", `x.template:2:5: "[h]", expected [place,column]`},
		{good + "A %dist[h,upos]", "x.template:2:8: %dist with a place"},
		{good + "A %x[0,upos]", `x.template:2:6: place "0", expected h, d, a neighbour`},
		{good + "A %x[h1,upos]", `x.template:2:6: place "h1"`},
		{good + "A %x[d+101,upos]", `x.template:2:6: place "d+101"`},
		{good + "A %x[d+,upos]", `x.template:2:6: place "d+"`},
		{good + "A %x[between+1,upos]", `x.template:2:6: place "between+1"`},
		{good + "A %x[h,]", `x.template:2:8: column ""`},
		{good + "A %x[h,a b,c]", `x.template:2:8: column "a b,c"`},
		{good + "A %lower.upper[h,upos]", `x.template:2:10: function "upper", expected one of `},
		{good + "A %suffix0[h,upos]", `x.template:2:4: function "suffix0"`},
		{good + "A %prefix[h,upos]", `x.template:2:4: function "prefix"`},
		{good + "A %key:[h,feats]", "x.template:2:4: key: without a name"},
		{good + "A %set[h,upos]", "x.template:2:4: set of a single token, expected it with place between"},
		{good + "A %count:VERB[d,upos]", "x.template:2:4: count:VERB of a single token"},
		{good + "A %count:[between,upos]", "x.template:2:4: count: without a value"},
		{good + "A %set.lower[between,upos]", "x.template:2:4: set before another function"},
		{good + "A %x[between,upos]%x[between,xpos]", "x.template:2:30: column xpos in a second macro with one " +
			"attribute per value between"},
		{good + "# two\nA* %x[h,upos]", "x.template:3: the attribute repeats line 1 for the score A"},
		{"L %dir\n" + good + "AL %dir", "x.template:3: the attribute repeats line 1 for the score L"},
	} {
		_, err := Parse(test.text, "x.template")
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || !structured.IsBadInput(err) {
			t.Errorf("%q: %v, expected %s", test.text, err, test.want)
		}
	}
}

func TestStringParsesBack(t *testing.T) {
	text := "# arcs\n\nA a%%=%x[h,upos],%lower.suffix3[d+2,word?],%dir\nAL* %key:Case[h-1,feats]%dist!\n" +
		"L* %x[between,upos]%set[between,xpos]%lower.count:and[between,word]\n"
	if got := mustParse(t, text).String(); got != text {
		t.Errorf("%s, expected %s", got, text)
	}
	if got := mustParse(t, "\ufeff"+"AL  \t%x.lower[h+0,word]  \r\n").String(); got != "AL %lower[h,word]\n" {
		t.Errorf("%q", got)
	}
	builtin := mustParse(t, Builtin())
	if again := mustParse(t, builtin.String()); again.String() != builtin.String() {
		t.Errorf("the built-in template changes when it is parsed and printed")
	}
}

func TestForColumns(t *testing.T) {
	template := mustParse(t, "# a\nA %x[h,upos?]\nA %x[h,upos]%x[between,xpos?]\nL %set[between,feats?]%dir\n")
	if got, want := template.ForColumns([]string{"upos", "feats"}).String(),
		"# a\nA %x[h,upos]\nL %set[between,feats]%dir\n"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

func TestOpenNamesTheMissingColumn(t *testing.T) {
	template := mustParse(t, "A %dir\nA %x[h,upos]%x[d,xpos]")
	err := NewExtractor(template,
		nil).Open(Columns{Name: "a.conllu", Names: []string{"word", "upos"}, Cells: make([][]string, 2)})
	if want := "x.template:2:18: column xpos, but a.conllu has columns word, upos"; err == nil || err.Error() != want ||
		!structured.IsBadInput(err) {
		t.Errorf("%v, expected %s", err, want)
	}
}
