package text

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/structured"
)

func wordLine(id, word, upos, misc string) string {
	return strings.Join([]string{id, word, "l", upos, "x", "f", "0", "dep", "_", misc}, "\t") + "\n"
}

func TestConllu(t *testing.T) {
	range2 := wordLine("1-2", "ab", "_", "_")
	empty := wordLine("2.1", "e", "_", "_")
	text := "# newdoc\n# sent_id = s-1\n" + range2 + wordLine("1", "a", "X", "NER=B|K=1") +
		wordLine("2", "b c", "Y", "_") + empty +
		"\r\n\n# text = d\n" + wordLine("1", "d", "X", "XNER=Q|NER=O")
	d, err := Conllu{}.Read(strings.NewReader(text), "a.conllu")
	if err != nil {
		t.Fatal(err)
	}
	same := func(cells ...string) []string { return cells }
	want := &structured.Dataset{
		Name: "a.conllu", Offsets: []int{0, 2, 3}, Labels: []int32{0, 1, 0}, Alphabet: structured.NewAlphabet("X", "Y"),
		Columns: [][]string{same("1", "2", "1"), same("a", "b c", "d"), same("l", "l", "l"),
			same("X", "Y", "X"), same("x", "x", "x"), same("f", "f", "f"), same("0", "0", "0"), same("dep", "dep", "dep"),
			same("_", "_", "_"),
			same("NER=B|K=1", "_", "XNER=Q|NER=O")},
		ColumnNames: strings.Fields("id word lemma label xpos feats head deprel deps misc"),
		Lines:       []int{4, 10}, IDs: []string{"s-1", "1"},
		Layout: &structured.Layout{Separator: '\t', Filler: "_", Before: map[int]string{
			0: "# newdoc\n# sent_id = s-1\n" + range2, 2: empty + "\n\n# text = d\n", 3: "",
		}},
	}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got  %+v %+v\nwant %+v %+v", d, d.Layout, want, want.Layout)
	}
}

func TestConlluLabels(t *testing.T) {
	text := wordLine("1", "a", "_", "_")
	for label, names := range map[string]string{
		"xpos":   "id word lemma upos label feats head deprel deps misc",
		"feats":  "id word lemma upos xpos label head deprel deps misc",
		"deprel": "id word lemma upos xpos feats head label deps misc", "misc:K": strings.Join(conlluColumns, " "),
		"upos": "id word lemma label xpos feats head deprel deps misc",
	} {
		known := structured.NewAlphabet("A", "B")
		d, err := Conllu{Label: label, Unlabeled: true, Alphabet: known}.Read(strings.NewReader(text), "x")
		if err != nil || strings.Join(d.ColumnNames, " ") != names || d.Labels != nil || d.Alphabet != known || d.IDs != nil {
			t.Errorf("%s: %+v, %v", label, d, err)
		}
	}
}

func TestConlluErrors(t *testing.T) {
	a := wordLine("1", "a", "X", "_")
	for _, test := range []struct {
		c          Conllu
		text, want string
	}{
		{Conllu{}, "# only\n", "x: no tokens, expected lines of the 10 columns id word"},
		{Conllu{Label: "head"}, a, `x: label "head", expected upos, xpos, feats, deprel, misc or misc:KEY`},
		{Conllu{Label: "misc:"}, a, `x: label "misc:"`},
		{Conllu{Label: "upos:K"}, a, `x: label "upos:K"`},
		{Conllu{}, a + "\n" + "1\ta b\n", "x:3: 2 columns, expected the 10 of CoNLL-U, separated by tabs"},
		{Conllu{}, wordLine("1", "", "X", "_"), "x:1: column 2 (word) is empty, expected _ for nothing"},
		{Conllu{}, a + a, "x:2: id 1, expected 2"},
		{Conllu{}, a + wordLine("3-4", "a", "X", "_"), `x:2: id "3-4", expected 2, a multiword token such as 2-3 or an empty node such as 1.1`},
		{Conllu{}, wordLine("1-3", "aa", "_", "_") + a + wordLine("2", "a", "X", "_") + "\n" + a,
			"x:1: a multiword token of the words up to 3, expected at most 2, the last word of the sentence"},
		{Conllu{Unlabeled: true}, a + "\n" + wordLine("1-2", "aa", "_", "_") + a, "x:3: a multiword token of the words up to 2"},
		{Conllu{}, wordLine("1-2", "aa", "_", "_") + a + wordLine("2-3", "aa", "_", "_"), "x:3: multiword token 2-3 overlaps the one before"},
		{Conllu{}, wordLine("2.1", "a", "X", "_"), `x:1: id "2.1", expected 1`},
		{Conllu{}, wordLine("x", "a", "X", "_"), `x:1: id "x", expected 1`},
		{Conllu{Alphabet: structured.NewAlphabet("Y", "Z")}, a, `x:1: label "X" is not one of the known ones: Y, Z`},
	} {
		_, err := test.c.Read(strings.NewReader(test.text), "x")
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// conlluText draws a file.
func conlluText(t *rapid.T) string {
	var text strings.Builder
	flip := func(label string) bool { return rapid.Bool().Draw(t, label) }
	for range rapid.IntRange(1, 6).Draw(t, "sentences") {
		if flip("comment") {
			text.WriteString(rapid.SampledFrom([]string{"# sent_id = q\n", "# text\n", "# x\n\n# sent_id = y\n"}).Draw(t,
				"comment text"))
		}
		for k := range rapid.IntRange(1, 3).Draw(t, "words") {
			id := string(rune('1' + k))
			if flip("multiword") {
				text.WriteString(wordLine(id+"-"+id, "mm", "_", "_"))
			}
			text.WriteString(wordLine(id, rapid.StringMatching("[ab]").Draw(t, "word"), "X", "_"))
			if flip("empty") {
				text.WriteString(wordLine(id+".1", "e", "_", "_"))
			}
		}
		text.WriteString(strings.Repeat("\n", rapid.IntRange(1, 2).Draw(t, "blank lines")))
	}
	return text.String()
}

// A file written back with its layout has the same bytes, for any block size and number of threads.
func TestConlluRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := conlluText(t)
		d, err := Conllu{Threads: 1}.Read(strings.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		withBlocks(rapid.IntRange(1, 200).Draw(t, "block"), func() {
			again, err := Conllu{Threads: 3}.Read(strings.NewReader(text), "x")
			if err != nil {
				t.Fatal(err)
			}
			sameDataset(t, again, d)
		})
		var back strings.Builder
		for i := range d.Len() {
			for p := d.Offsets[i]; p < d.Offsets[i+1]; p++ {
				back.WriteString(d.LinesBefore(p, p == d.Offsets[i]))
				for c, column := range d.Columns {
					back.WriteString(column[p] + map[bool]string{true: "\n", false: "\t"}[c == len(d.Columns)-1])
				}
			}
		}
		back.WriteString(d.LinesBefore(d.Positions(), true))
		if back.String() != text {
			t.Fatalf("got  %q\nwant %q", back.String(), text)
		}
	})
}

func FuzzConllu(f *testing.F) {
	f.Add("upos", "# sent_id = s\n"+wordLine("1-2", "ab", "_", "_")+wordLine("1", "a", "X", "K=v")+"\n", false, 3)
	f.Add("misc:K", wordLine("1", "a", "X", "K=v"), true, 100)
	f.Fuzz(func(t *testing.T, label, text string, unlabeled bool, size int) {
		d := readTwice(t, Conllu{Label: label, Unlabeled: unlabeled, Threads: 2}, text, size)
		if d == nil {
			return
		}
		if len(d.Lines) != d.Len() || (d.Labels == nil) != unlabeled || d.IDs != nil && len(d.IDs) != d.Len() {
			t.Fatalf("inconsistent: %+v", d)
		}
		for _, column := range d.Columns {
			if len(column) != d.Positions() || len(d.Columns) != len(d.ColumnNames) {
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
