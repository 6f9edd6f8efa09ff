package text

import (
	"strconv"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

func TestValueIn(t *testing.T) {
	for _, test := range []struct{ list, key, want string }{
		{"name=B-PER", "name", "B-PER"}, {"SpaceAfter=No|name=O", "name", "O"}, {"SpaceAfter=No name=O", "name", "O"},
		{"name=O SpaceAfter=No", "name", "O"},
		{"SpaceAfter=No name=O", "SpaceAfter", "No"}, {"Gloss=to be|name=O", "Gloss", "to be"}, {"xname=A", "name", "_"},
		{"name=", "name", "_"}, {"_", "name", "_"},
		{"a | name=O ", "name", "O"}, {"B-PER", "", "B-PER"}, {"SpaceAfter=No|B-PER", "", "B-PER"},
		{"B-PER SpaceAfter=No", "", "B-PER"}, {"SpaceAfter=No", "", "_"}, {"_", "", "_"},
		{"name=A=B", "name", "A=B"},
	} {
		if got := valueIn(test.list, test.key); got != test.want {
			t.Errorf("%q in %q: %q, expected %q", test.key, test.list, got, test.want)
		}
	}
}

// A word without a label in MISC is outside entities where the others are entity tags, and a mistake elsewhere.
func TestLabelsInMisc(t *testing.T) {
	for _, test := range []struct {
		label, misc, known, want string
		outside                  int
	}{
		{"misc:NER", "NER=B-A|K=1 _ XNER=Q|NER=O SpaceAfter=No|NER=I-A K=2", "", "B-A O O I-A O", 2},
		{"misc:NER", "SpaceAfter=No_NER=O NER=S-A K=1", "", "O S-A O", 1},
		{"misc", "B-A|SpaceAfter=No SpaceAfter=No _", "", "B-A O O", 2},
		{"misc:NER", "_ _", "O B-A", "O O", 2},
		{"misc:NER", "_ _", "", "x:1: no label in MISC (_), expected one (--label misc:NER); --partial takes it for unknown",
			0},
		{"misc:NER", "NER=B-A NER=noun K=1", "", "x:3: no label in MISC (K=1), expected one (--label misc:NER); " +
			"--partial takes it for unknown", 0},
		{"misc:POS", "POS=X POS=Y", "", "X Y", 0},
	} {
		var file strings.Builder
		for k, misc := range strings.Fields(test.misc) {
			file.WriteString(wordLine(strconv.Itoa(k+1), "w", "X", strings.Replace(misc, "No_", "No ", 1)))
		}
		say := remarks.New(false)
		c := Conllu{Label: test.label, Remarks: say}
		var known *structured.Alphabet
		if test.known != "" {
			known = structured.NewAlphabet(strings.Fields(test.known)...)
		}
		survey, err := c.LookThrough(opened(file.String()), "x", known)
		if err != nil {
			t.Fatal(err)
		}
		c.Survey = survey
		d, err := c.Read(strings.NewReader(file.String()), "x")
		if err != nil {
			if err.Error() != test.want {
				t.Errorf("%s: %v", test.misc, err)
			}
			continue
		}
		if got := strings.Join(d.Column(LabelColumn), " "); got != test.want || d.ColumnNames[3] != "upos" ||
			wordsOutside(say) != test.outside {
			t.Errorf("%s: %q, %+v", test.misc, got, say.Made())
		}
	}
}

// wordsOutside returns how many words are said to be outside entities.
func wordsOutside(say *remarks.Remarks) int {
	for _, r := range say.Made() {
		if r.What == remarks.Outside {
			return r.Times
		}
	}
	return 0
}
