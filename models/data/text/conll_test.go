package text

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

func columns(t interface{ Fatalf(string, ...any) }, spec string) Columns {
	c, err := ParseColumns(spec)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return c
}

func TestParseColumns(t *testing.T) {
	c := columns(t, "label=-1, pos=1,lemma=-2,word=0")
	if c.String() != "word=0,pos=1,lemma=-2,label=-1" || c.minWidth() != 4 {
		t.Errorf("%v, width %d", c, c.minWidth())
	}
	if got := c.names(5); !reflect.DeepEqual(got, []string{"word", "pos", "", "lemma", "label"}) {
		t.Errorf("names %q", got)
	}
	for _, spec := range []string{"", "word", "word=", "word=x", "=1", "word=0,word=1", "word=0,label=0",
		"word=0,,label=1", "word=99999"} {
		if _, err := ParseColumns(spec); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "columns") {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

func TestConll(t *testing.T) {
	text := "\xef\xbb\xbf-DOCSTART- -X- O\n\n\nEU NNP  B-ORG\r\n# # O\n \t \n\n-DOCSTART-\nx y B-LOC\nz y O"
	d, err := Conll{Columns: columns(t, "word=0,pos=1,label=-1")}.Read(strings.NewReader(text), "a.conll")
	if err != nil {
		t.Fatal(err)
	}
	want := &structured.Dataset{
		Name: "a.conll", Offsets: []int{0, 2, 4}, Labels: []int32{1, 2, 0, 2},
		Alphabet:    structured.NewAlphabet("B-LOC", "B-ORG", "O"),
		Columns:     [][]string{{"EU", "#", "x", "z"}, {"NNP", "#", "y", "y"}, {"B-ORG", "O", "B-LOC", "O"}},
		ColumnNames: []string{"word", "pos", "label"}, Lines: []int{4, 9},
		Layout: &structured.Layout{Separator: ' ', Filler: "O",
			Before: map[int]string{0: "-DOCSTART- -X- O\n\n\n", 2: "\n\n-DOCSTART-\n", 4: ""}},
	}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got  %+v\nwant %+v", d, want)
	}
	if d.Where(1) != "a.conll:9" || d.Column("pos")[0] != "NNP" || d.Column("lemma") != nil {
		t.Errorf("%s, %v", d.Where(1), d.Column("pos"))
	}
}

func TestConllSeparators(t *testing.T) {
	d, err := Conll{}.Read(strings.NewReader("New York\tB\n  \n10 000 \t O \n"), "x")
	if err != nil || !reflect.DeepEqual(d.Columns, [][]string{{"New York", "10 000"}, {"B", "O"}}) || d.Len() != 2 {
		t.Errorf("tabs: %+v, %v", d, err)
	}
	d, err = Conll{}.Read(strings.NewReader("  a   O\nb \t O\n"), "x")
	if err != nil || d.Positions() != 2 {
		t.Errorf("spaces: %+v, %v", d, err)
	}
	d, err = Conll{}.Read(strings.NewReader("a b c O"), "x")
	if err != nil || !reflect.DeepEqual(d.ColumnNames, []string{"word", "", "", "label"}) {
		t.Errorf("columns between: %+v, %v", d, err)
	}
}

func TestConllWithoutLabels(t *testing.T) {
	three := columns(t, "word=0,pos=1,label=-1")
	middle := columns(t, "word=0,label=1,pos=2")
	for _, test := range []struct {
		columns     Columns
		width       int
		text, names string
	}{
		{three, 0, "a b", "word pos"}, {three, 3, "a b", "word pos"}, {three, 3, "a b O", "word pos label"},
		{three, 4, "a b c", "word pos "}, {three, 0, "a b c O", "word pos  label"}, {middle, 3, "a b", "word pos"},
		{columns(t, "word=0"), 0, "a", "word"}, {Columns{}, 2, "a", "word"}, {Columns{}, 4, "a", "word"},
		{three, 6, "a b", "word pos"},
	} {
		c := Conll{Columns: test.columns, Width: test.width, Unlabeled: true, Alphabet: structured.NewAlphabet("Q")}
		d, err := c.Read(strings.NewReader(test.text), "x")
		if err != nil || strings.Join(d.ColumnNames, " ") != test.names || d.Labels != nil || d.Alphabet != c.Alphabet {
			t.Errorf("%v, %d, %q: %+v, %v", test.columns, test.width, test.text, d, err)
		}
	}
}

func TestConllErrors(t *testing.T) {
	three := columns(t, "word=0,pos=1,label=-1")
	three.Origin = "--columns"
	known := structured.NewAlphabet("B", "O")
	for _, test := range []struct {
		c          Conll
		text, want string
	}{
		{Conll{}, "", "x: no tokens, expected lines of at least 2 columns (word label)"},
		{Conll{}, "\n \n-DOCSTART- O\n", "x: no tokens"},
		{Conll{Columns: three}, "a b O\n\nc O\n", "x:3: 2 columns, expected 3 (word pos label, from --columns)"},
		{Conll{Columns: three}, "\nc O\n", "x:2: 2 columns, expected at least 3 (word pos label, from --columns)"},
		{Conll{}, "a O\nb\n", "x:2: 1 column, expected 2 (word label)"},
		{Conll{}, "a b O\nb O\n", "x:2: 2 columns, expected 3, as in line 1"},
		{Conll{Width: 3}, "a O\n", "x:1: 2 columns, expected 3, as in the training data"},
		{Conll{Width: 4, Unlabeled: true}, "a O\n", "x:1: 2 columns, expected 4 as in the training data, or 3 without the " +
			"label, or 1 with the inputs alone"},
		{Conll{}, "a\t\tO\n", "x:1: column 2 is empty"},
		{Conll{}, "\na\tO\nNew York  O\n", "x:3: 1 column, expected 2 (word label); tabs separate columns, as in line 2"},
		{Conll{}, "a\tb c\tO\nd e\n", "x:2: 1 column, expected 3, as in line 1; tabs separate columns, as in line 1"},
		{Conll{}, "a,b,O\n", "x:1: 1 column, expected at least 2 (word label); columns are separated by tabs or blanks"},
		{Conll{Width: 3}, "a;b;O\n", "x:1: 1 column, expected 3, as in the training data; columns are " +
			"separated by tabs or blanks"},
		{Conll{Alphabet: known}, "a O\n\nb I\n", `x:3: label "I" is not one of the known ones: B, O`},
		{Conll{Columns: columns(t, "word=0")}, "a\n", "x: columns word=0 names no label column"},
	} {
		_, err := test.c.Read(strings.NewReader(test.text), "x")
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: got %v\nwant %s", test.text, err, test.want)
		}
	}
}

func TestConllVeryLongSequence(t *testing.T) {
	const n = 200_000
	long := strings.Repeat("w", 100_000)
	d, err := Conll{}.Read(strings.NewReader(strings.Repeat("a O\n", n)+long+" O\n"), "x")
	if err != nil || d.Len() != 1 || d.Length(0) != n+1 || d.Columns[0][n] != long {
		t.Errorf("%v", err)
	}
}

// The tokens of any data set, separated by tabs or spaces, read back unchanged.
func TestConllRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		separator := rapid.SampledFrom([]string{"\t", " ", "   "}).Draw(t, "separator")
		token := rapid.StringMatching(`[a-c#é,"\\-]{1,4}`)
		var text strings.Builder
		var want []string
		offsets := []int{0}
		for range rapid.IntRange(1, 5).Draw(t, "sentences") {
			for range rapid.IntRange(1, 4).Draw(t, "tokens") {
				w, l := token.Draw(t, "word"), token.Draw(t, "label")
				want = append(want, w+" "+l)
				text.WriteString(w + separator + l + "\n")
			}
			offsets = append(offsets, len(want))
			text.WriteString(rapid.SampledFrom([]string{"\n", "\n\n", "\t\n", "-DOCSTART- O\n"}).Draw(t, "end"))
		}
		d, err := Conll{Threads: 1}.Read(strings.NewReader(text.String()), "x")
		if err != nil {
			t.Fatal(err)
		}
		withBlocks(rapid.IntRange(1, 30).Draw(t, "block"), func() {
			again, err := Conll{Threads: 3}.Read(strings.NewReader(text.String()), "x")
			if err != nil {
				t.Fatal(err)
			}
			sameDataset(t, again, d)
		})
		var got []string
		for i := range d.Positions() {
			got = append(got, d.Columns[0][i]+" "+d.Alphabet.Name(d.Labels[i]))
		}
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(d.Offsets, offsets) {
			t.Fatalf("got %q at %v\nwant %q at %v", got, d.Offsets, want, offsets)
		}
	})
}

func FuzzConll(f *testing.F) {
	f.Add("word=0,pos=1,label=-1", "a b O\n\n# # B\n", false, 3)
	f.Add("word=0", "-DOCSTART-\na\tb\n", true, 100)
	f.Fuzz(func(t *testing.T, spec, text string, unlabeled bool, size int) {
		c, err := ParseColumns(spec)
		if err != nil {
			return
		}
		d := readTwice(t, Conll{Columns: c, Unlabeled: unlabeled}, text, size)
		if d == nil {
			return
		}
		if len(d.Columns) != len(d.ColumnNames) || len(d.Lines) != d.Len() || (d.Labels == nil) != unlabeled {
			t.Fatalf("inconsistent: %+v", d)
		}
		for _, column := range d.Columns {
			if len(column) != d.Positions() {
				t.Fatalf("a column of %d tokens, want %d", len(column), d.Positions())
			}
		}
		for i := range d.Len() {
			if d.Length(i) == 0 {
				t.Fatal("an empty sentence")
			}
		}
	})
}
