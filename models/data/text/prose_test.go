package text

import (
	"strings"
	"testing"
)

func TestProse(t *testing.T) {
	known := func(label string) bool { return label == "O" || label == "B-PER" || label == "noun" || label == "verb" }
	for _, c := range []struct {
		text, columns string
		width         int
		want          bool
	}{
		{"John Smith lives\n", "word=0,pos=1,label=-1", 3, true},
		{"John Smith lives\n", "word=0,label=-1", 2, true},
		{"John Smith lives\n", "word=0,label=-1", 3, true},
		{"John Smith lives in Rome.\n", "word=0,pos=1,label=-1", 3, true},
		{"John lives\n", "word=0,label=-1", 2, true},
		{"John lives.\n", "word=0,pos=1,label=-1", 3, true},
		{"\n\nOne two three\n\nFour five six\n\nSeven eight nine\n\nTen eleven twelve\n", "word=0,pos=1,label=-1", 3, true},
		{"The dog\nbarks at the man.\n", "word=0,label=-1", 2, true},
		{"我 住 在 罗马\n", "word=0,pos=1,label=-1", 3, true},

		{"THE DOG SEES THE CAT\nHE RUNS FAST TODAY\n", "word=0,pos=1,label=-1", 3, true},
		{"THE DOG SEES THE CAT .\nHE RUNS .\n", "word=0,pos=1,label=-1", 3, true},
		{"THE DOG SEES THE CAT\n", "word=0,label=-1", 2, true},
		{"the dog sees the cat .\nhe runs .\n", "word=0,pos=1,label=-1", 3, true},
		{"EU NNP I-NP I-ORG\nREJECTS VBZ I-VP\n", "word=0,pos=1,label=-1", 3, false},
		{"EU NNP ORG\nREJECTS VBZ\nGERMAN JJ MISC\n", "word=0,pos=1,label=-1", 3, false},

		{"John lives\n", "word=0,pos=1,label=-1", 3, false}, // word and pos
		{"John\nlives\nhere.\n", "word=0,label=-1", 2, false},
		{"Mr.\nSmith\n", "word=0,label=-1", 2, false},
		{"John\tSmith\tlives\n", "word=0,pos=1,label=-1", 3, false},
		{"John NNP _\nSmith NNP _\n", "word=0,pos=1,label=-1", 3, false},
		{"John NNP -\n", "word=0,pos=1,label=-1", 3, false},
		{"John NNP O\n", "word=0,pos=1,label=-1", 3, false},
		{"John NNP B-PER|O\n", "word=0,pos=1,label=-1", 3, false},
		{"gene n B-protein\n", "word=0,pos=1,label=-1", 3, false},
		{"John NNP\n", "word=0,label=-1", 2, false}, // another tag set
		{"John Np:sg\n", "word=0,label=-1", 2, false},
		{"a det\nbig adj\ndog n\nsees v\na det\nbig adj\ncat n\n", "word=0,label=-1", 2, false},
		{"dog noun\nbarks verb\n", "word=0,label=-1", 2, false},
		{"-DOCSTART- -X- O\n\nJohn NNP B-PER\n", "word=0,pos=1,label=-1", 3, false},
		{"", "word=0,label=-1", 2, false},
		{"\n\n", "word=0,label=-1", 2, false},
		{"John NNP I-NP B-PER\n", "word=0,pos=1,label=-1", 3, false}, // a wrong width, but no words
	} {
		columns, err := ParseColumns(c.columns)
		if err != nil {
			t.Fatal(err)
		}
		line, number, found := Prose([]byte(c.text), columns, c.width, "", known)
		if found != c.want {
			t.Errorf("%q in %s: %v", c.text, c.columns, found)
		}
		if found && (!strings.Contains(c.text, line) || strings.Split(c.text, "\n")[number-1] != line) {
			t.Errorf("%q: line %d is %q", c.text, number, line)
		}
	}
}

func TestProseInConllu(t *testing.T) {
	for text, want := range map[string]bool{
		"# text = a b\nJohn Smith lives\n": true, "\nJohn lives.\n": true,
		"# a b\n1\tJohn\t_\t_\t_\t_\t_\t_\t_\t_\n": false, "John\n": false, "\u3000\n": false, "London B-LOC\n": false,
		"EU NNP I-NP I-ORG\n": false, "I work at IBM\n": true, "1 John _ _ _ _ _ _ _ _\n": false, "": false,
	} {
		if _, _, found := ProseInConllu([]byte(text)); found != want {
			t.Errorf("%q: %v", text, found)
		}
	}
}

// Trees in brackets are not called raw text, and columns of brackets are no trees.
func TestOpensTree(t *testing.T) {
	for line, want := range map[string]bool{
		"( (S": true, "((S": true, "(TOP (S (NP (DT The": true, "(S(NP": true,
		"( ( O": false, "( -LRB- O": false, "(see below)": false, "The (S": false, "": false,
	} {
		if got := opensTree(splitBlanks(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	if err := NoProse("x", 3, "( (S"); !strings.HasPrefix(err.Error(),
		`x:3: "( (S" opens a tree in brackets, expected one token per line`) {
		t.Error(err)
	}
	_, err := Conll{}.Read(strings.NewReader("a O\n\n(TOP (S (NP (DT The))))\n"), "x")
	if want := "x:3: 5 columns, expected 2 (word label); it opens a tree in brackets"; err == nil ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, expected %s", err, want)
	}
}
