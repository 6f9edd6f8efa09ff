package arcs

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/features/templates"
)

// table parses tokens "word/upos/feats", separated by spaces.
func table(text string) Columns {
	c := Columns{Name: "a.conllu", Names: []string{"word", "upos", "feats"}, Cells: make([][]string, 3)}
	for _, token := range strings.Fields(text) {
		for k, cell := range strings.Split(token, "/") {
			c.Cells[k] = append(c.Cells[k], cell)
		}
	}
	return c
}

func TestNamesOfAnArc(t *testing.T) {
	data := table("She/PRON/Case=Nom|Number=Sing Gave/VERB/_ _/X/_ him/PRON/Case=Acc and/CCONJ/_ me/PRON/Case=Acc")
	for _, test := range []struct {
		line string
		d, h int // counted from 0; h = d is the root
		want string
	}{
		{"%x[h,upos],%x[d,upos]", 0, 1, "VERB,PRON"},
		{"%x[h-1,upos],%lower[h,word],%x[d+1,upos]", 3, 1, "PRON,gave,CCONJ"},
		{"%x[h,word] %x[h-1,upos] %x[h+1,upos] %shape[h-2,upos]", 1, 1, "_B-1 _B-2 PRON _B-3"},
		{"%x[d+2,upos]%x[h-2,upos]", 5, 0, "_B+2_B-2"},
		{"%suffix2[d,word]", 3, 1, "im"},
		{"%suffix4[d,word]", 3, 1, ""},
		{"%suffix2[h,word]", 1, 1, ""}, // the root has no spelling
		{"%key:Case[d,feats]", 0, 1, "Nom"},
		{"%lower.key:Case[d,feats]", 0, 1, ""}, // then the key is "case"
		{"%key:Gender[d,feats]", 0, 1, ""},
		{"%key:Number[d,feats]", 0, 0, "Sing"},
		{"%x[d,word]", 2, 1, "_"},
		{"%x[d,feats]", 1, 1, ""},
		{"b=%x[between,upos]", 5, 0, "b=VERB b=X b=PRON b=CCONJ"},
		{"b=%x[between,upos]", 0, 5, "b=VERB b=X b=PRON b=CCONJ"},
		{"b=%x[between,upos]", 1, 1, "b=PRON"},
		{"b=%x[between,upos]", 1, 0, ""},
		{"b=%x[between,feats]", 5, 1, "b=Case=Acc"},
		{"s=%set[between,upos]", 5, 0, "s=CCONJ+PRON+VERB+X"},
		{"s=%set[between,upos]", 1, 2, "s="},
		{"%count:PRON[between,upos]%count:VERB[between,upos]%lower.count:gave[between,word]", 4, 4, "211"},
		{"%prefix1.count:_[between,word]", 3, 1, "1"},
		{"%dir %dist", 0, 1, "left 1"},
		{"%dir %dist", 5, 5, "right 5-6"},
		{"%dir %dist", 0, 0, "right 1"},
		{"%%%dist%%", 5, 1, "%4%"},
	} {
		_, e := fitted(t, mustParse(t, "A %dir.\nAL "+test.line), data, []int{0, 6}, []int32{1, 1, 3, 1, 5, 3},
			templates.Options{HashBits: 8})
		arc, label := e.Names(0, 6, test.d, test.h)
		var names []string
		for _, a := range label {
			names = append(names, a.Name)
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("%s: %q, expected %q", test.line, got, test.want)
		}
		if len(arc) != len(label)+1 {
			t.Errorf("%s: %d attributes for the arc, %d for its label", test.line, len(arc), len(label))
		}
	}
}

func TestStar(t *testing.T) {
	data := table("a/A/_ b/B/_")
	_, e := fitted(t, mustParse(t, "A* %x[d,word]"), data, []int{0, 2}, []int32{1, 1}, templates.Options{})
	arc, _ := e.Names(0, 2, 0, 1)
	if len(arc) != 2 || arc[0].Name != "a" || arc[1].Name != "a/left1" {
		t.Errorf("%v", arc)
	}
	if arc, _ = e.Names(0, 2, 0, 0); len(arc) != 1 || arc[0].Name != "a" { // right1 is on no gold arc
		t.Errorf("%v", arc)
	}
}
