package treebank

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
	"github.com/dsp-go/dsp/structured/trees/treestest"
)

// sample has every feature of CoNLL-U: comments before and inside a sentence, multiword tokens (first, inside), empty
// nodes (before the first word, inside, at the end), enhanced dependencies, features, subtypes, several blank lines in
// a row, and no blank line at the end.
const sample = `# newdoc id = d1
# sent_id = a
# text = Vámonos al mar
0.1	_	_	PRON	_	_	_	_	1:nsubj	CopyOf=2
1-2	Vámonos	_	_	_	_	_	_	_	_
1	Vamos	ir	VERB	V	Number=Plur	0	root	0:root	_
2	nos	nosotros	PRON	P	_	1	expl:pv	1:expl:pv	_
# a comment inside
3-4	al	_	_	_	_	_	_	_	_
3	a	a	ADP	A	_	5	case	5:case	_
4	el	el	DET	D	_	5	det	5:det	Gloss=the
5	mar	mar	NOUN	N	_	1	obl	1:obl:a	SpaceAfter=No
6	.	.	PUNCT	F	_	1	punct	1:punct	_
6.1	_	_	VERB	_	_	_	_	1:conj	_


# sent_id = b
1	Hearing	hearing	NOUN	N	_	2	nsubj	2:nsubj	_
2	scheduled	schedule	VERB	V	_	0	root	0:root	_
3	on	on	ADP	A	_	4	case	4:case	_
4	issues	issue	NOUN	N	_	1	nmod	1:nmod:on	ArcProb=0.5|X=1
`

func readSample(t *testing.T) *Treebank {
	t.Helper()
	b, err := Reader{}.Read(strings.NewReader(sample), "s.conllu")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unchanged predicts nothing, so that Write reproduces the file.
func unchanged(int) Prediction { return Prediction{} }

func written(t interface{ Fatal(...any) }, b *Treebank, predict func(int) Prediction) string {
	var out bytes.Buffer
	if err := b.Write(&out, predict); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestRead(t *testing.T) {
	b := readSample(t)
	if got := b.Names.Names(); !slices.Equal(got, strings.Fields("case det expl:pv nmod nsubj obl punct root")) {
		t.Errorf("relations %q", got)
	}
	if first := b.Tree(0); !slices.Equal(first.Heads, []int32{0, 1, 5, 5, 1, 1}) ||
		!slices.Equal(first.Relations, []int32{7, 2, 0, 1, 5, 6}) {
		t.Errorf("first tree %v", first)
	}
	if second := b.Tree(1); !slices.Equal(second.Heads, []int32{2, 0, 4, 1}) ||
		!slices.Equal(second.Relations, []int32{4, 7, 0, 3}) {
		t.Errorf("second tree %v", second)
	}
	if !slices.Equal(b.Data.IDs, []string{"a", "b"}) ||
		!slices.Equal(b.Column(1, Form), []string{"Hearing", "scheduled", "on", "issues"}) {
		t.Errorf("%v %v", b.Data.IDs, b.Column(1, Form))
	}
	for c, name := range columnNames {
		if &b.Data.Column(name)[0] != &b.Data.Columns[c][0] {
			t.Errorf("column %d is not %s", c, name)
		}
	}
	if !slices.Equal(b.Punctuation(0), []bool{false, false, false, false, false, true}) {
		t.Error(b.Punctuation(0))
	}
	if got, want := b.Crossing(), (CrossingCount{Sentences: 1, Arcs: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := b.Projectivise(), (CrossingCount{Sentences: 1, Arcs: 1, Lifts: 1}); got != want || b.Heads[9] != 2 {
		t.Errorf("%+v, want %+v; heads %v", got, want, b.Heads)
	}
	if got := b.Crossing(); got != (CrossingCount{}) {
		t.Errorf("%+v after projectivising", got)
	}
}

// Known relations keep their numbers; others follow.
func TestReadKnownNames(t *testing.T) {
	known := structured.NewAlphabet("root", "obl", "zzz")
	b, err := Reader{Names: known}.Read(strings.NewReader(sample), "s")
	if err != nil || strings.Join(b.Names.Names(), " ") != "root obl zzz case det expl:pv nmod nsubj punct" ||
		known.Len() != 3 {
		t.Fatalf("%v %v", b, err)
	}
	if !slices.Equal(b.Tree(1).Relations, []int32{7, 0, 3, 6}) {
		t.Error(b.Tree(1))
	}
	if b, err = (Reader{Names: b.Names}).Read(strings.NewReader(sample), "s"); err != nil || b.Names.Len() != 9 {
		t.Error(b.Names.Names(), err)
	}
}

func TestReadErrors(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{"\t5\tcase", "\t7\tcase",
			`s.conllu:10: head "7" of word 3, expected 0 for the root or the number of a word, 1 to 6`},
		{"\t5\tcase", "\t-1\tcase", `s.conllu:10: head "-1" of word 3`},
		{"\t5\tcase", "\t05\tcase", `s.conllu:10: head "05" of word 3`},
		{"\t5\tcase", "\t3\tcase", "s.conllu:10: word 3 is its own head"},
		{"\t5\tcase", "\t0\tcase", "s.conllu:10: word 3 is a second root beside word 1, expected " +
			"exactly one word with head 0"},
		{"\t0\troot", "\t2\troot", "s.conllu:6: no word has head 0"},
		{"\t1\tobl", "\t3\tobl", "s.conllu:10: the heads form a cycle 3 → 5 → 3, expected a tree"},
		{"\t1\tnmod", "\t_\tnmod", `s.conllu:21: head "_" of word 4, expected 0`},
		{"\t1\tnmod", "\t1\t_", `s.conllu:21: relation "_" of word 4, expected the name`},
		{"\t1\tnmod", "\t4\tnmod", "s.conllu:21: word 4 is its own head"},
		{"1\tHearing", "x\tHearing", `s.conllu:18: id "x"`},
	} {
		text := strings.Replace(sample, test.from, test.to, 1)
		_, err := Reader{}.Read(strings.NewReader(text), "s.conllu")
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v\nwant %s", test.to, err, test.want)
		}
		b, err := Reader{Unlabeled: true}.Read(strings.NewReader(text), "s.conllu")
		if strings.Contains(test.want, " id ") {
			if !structured.IsBadInput(err) {
				t.Errorf("%s: %v", test.to, err)
			}
			continue
		}
		if err != nil || b.Heads != nil || b.Relations != nil || b.Tree(0).Heads != nil || written(t, b, unchanged) != text {
			t.Errorf("%s: unlabeled: %+v, %v", test.to, b, err)
		}
	}
}

// Errors in a part of a file give lines of the whole file.
func TestReadLine(t *testing.T) {
	_, err := Reader{Line: 100}.Read(strings.NewReader(strings.Replace(sample, "\t1\tnmod", "\t9\tnmod", 1)), "s")
	if err == nil || !strings.HasPrefix(err.Error(), "s:120: head") {
		t.Error(err)
	}
}

// A file without HEAD and DEPREL can be read unlabeled and written with predictions.
func TestReadUnlabeled(t *testing.T) {
	full := readSample(t)
	bare := blankTrees(sample)
	if _, err := (Reader{}).Read(strings.NewReader(bare), "s"); !structured.IsBadInput(err) {
		t.Errorf("got %v", err)
	}
	b, err := Reader{Unlabeled: true, Names: full.Names}.Read(strings.NewReader(bare), "s")
	if err != nil || b.Heads != nil || b.Names != full.Names {
		t.Fatal(b, err)
	}
	if got := written(t, b, unchanged); got != bare {
		t.Errorf("got\n%swant\n%s", got, bare)
	}
	if got := written(t, b, func(i int) Prediction { return Prediction{Tree: full.Tree(i)} }); got != sample {
		t.Errorf("got\n%swant\n%s", got, sample)
	}
	if b, err = (Reader{Unlabeled: true}).Read(strings.NewReader(sample), "s"); err != nil ||
		!slices.Equal(b.Heads, full.Heads) {
		t.Errorf("valid trees in an unlabeled file: %v, %v", b.Heads, err)
	}
}

// blankTrees replaces HEAD and DEPREL of every word with "_".
func blankTrees(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if fields := strings.Split(line, "\t"); len(fields) == ColumnCount {
			fields[Head], fields[Deprel] = "_", "_"
			line = strings.Join(fields, "\t")
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestWriteProbabilities(t *testing.T) {
	b := readSample(t)
	got := written(t, b, func(i int) Prediction {
		p := Prediction{Probabilities: make([]float32, b.Data.Length(i))}
		for t := range p.Probabilities {
			p.Probabilities[t] = 1 - 0.125*float32(t+i)
		}
		return p
	})
	want := sample
	for _, change := range [][2]string{
		{"0:root\t_\n2\tnos", "0:root\tArcProb=1.0000\n2\tnos"}, {"1:expl:pv\t_", "1:expl:pv\tArcProb=0.8750"},
		{"5:case\t_", "5:case\tArcProb=0.7500"},
		{"Gloss=the", "Gloss=the|ArcProb=0.6250"}, {"SpaceAfter=No", "SpaceAfter=No|ArcProb=0.5000"},
		{"1:punct\t_", "1:punct\tArcProb=0.3750"},
		{"2:nsubj\t_", "2:nsubj\tArcProb=0.8750"}, {"0:root\t_\n3\ton", "0:root\tArcProb=0.7500\n3\ton"},
		{"4:case\t_", "4:case\tArcProb=0.6250"},
		{"ArcProb=0.5|X=1", "X=1|ArcProb=0.5000"},
	} {
		if strings.Count(want, change[0]) != 1 {
			t.Fatal(change)
		}
		want = strings.Replace(want, change[0], change[1], 1)
	}
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// treebankText draws a file with trees.
func treebankText(t *rapid.T) string {
	var text strings.Builder
	flip := func(label string) bool { return rapid.Bool().Draw(t, label) }
	line := func(fields ...string) { text.WriteString(strings.Join(fields, "\t") + "\n") }
	for range rapid.IntRange(1, 5).Draw(t, "sentences") {
		if flip("comment") {
			text.WriteString(rapid.SampledFrom([]string{"# sent_id = q\n", "# text\n#\n", "# x\n\n# sent_id = y\n"}).Draw(t,
				"comment text"))
		}
		for k, h := range treestest.DrawHeads(t, 5) {
			id := string(rune('1' + k))
			if flip("multiword") {
				line(id+"-"+id, "mm", "_", "_", "_", "_", "_", "_", "_", "SpaceAfter=No")
			}
			relation := rapid.SampledFrom([]string{"a", "a:b", "root", "ü"}).Draw(t, "relation")
			line(id, "w", "w w", "X", "x", "_", string(rune('0'+h)), relation, "0:root|1:x",
				rapid.SampledFrom([]string{"_", "A=1"}).Draw(t, "misc"))
			if flip("empty") {
				line(id+".1", "e", "_", "_", "_", "_", "_", "_", "1:a", "_")
			}
		}
		text.WriteString(strings.Repeat("\n", rapid.IntRange(1, 2).Draw(t, "blank lines")))
	}
	return text.String()
}

// A file does not change when it is read and written, also if its trees are removed and then predicted.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := treebankText(t)
		b, err := Reader{Threads: rapid.IntRange(1, 3).Draw(t, "threads")}.Read(strings.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		if got := written(t, b, unchanged); got != text {
			t.Fatalf("got\n%swant\n%s", got, text)
		}
		bare, err := Reader{Unlabeled: true, Names: b.Names}.Read(strings.NewReader(blankTrees(text)), "x")
		if err != nil {
			t.Fatal(err)
		}
		if got := written(t, bare, func(i int) Prediction { return Prediction{Tree: b.Tree(i)} }); got != text {
			t.Fatalf("filled: got\n%swant\n%s", got, text)
		}
	})
}

// A real treebank, if available, is written back with the same bytes.
func TestRoundTripTreebank(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/data/ewt/*.conllu")
	if len(files) == 0 {
		t.Skip("no treebank at ../shared/data/ewt")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Reader{}.Read(bytes.NewReader(text), file)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d sentences, %d words, %d relations, not projective: %+v", file, b.Len(), b.Data.Positions(),
			b.Names.Len(), b.Crossing())
		for name, predict := range map[string]func(int) Prediction{
			"unchanged": unchanged, "gold": func(i int) Prediction { return Prediction{Tree: b.Tree(i)} },
		} {
			if written(t, b, predict) != string(text) {
				t.Errorf("%s: %s: different bytes", file, name)
			}
		}
	}
}

// Any input is either read or refused as bad input; what is read can be written back, and its trees are trees.
func FuzzRead(f *testing.F) {
	f.Add(sample)
	f.Add(blankTrees(sample))
	f.Add("1\ta\ta\tX\tX\t_\t2\ta\t_\t_\n2\ta\ta\tX\tX\t_\t1\ta\t_\t_\n")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := Reader{Threads: 1}.Read(strings.NewReader(text), "x")
		if err != nil {
			if !structured.IsBadInput(err) {
				t.Fatal(err)
			}
			return
		}
		for i := range b.Len() {
			if heads := b.Tree(i).Heads; trees.Check(heads) != nil || len(heads) == 0 {
				t.Fatal(heads)
			}
		}
		out := written(t, b, unchanged)
		again, err := Reader{Threads: 1}.Read(strings.NewReader(out), "x")
		if err != nil || written(t, again, unchanged) != out || !slices.Equal(again.Heads, b.Heads) {
			t.Fatalf("%q became %q: %v", text, out, err)
		}
	})
}

func BenchmarkReadWrite(b *testing.B) {
	text := strings.Repeat(sample+"\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		bank, err := Reader{}.Read(strings.NewReader(text), "x")
		if err != nil {
			b.Fatal(err)
		}
		written(b, bank, unchanged)
	}
}

// Sentences without a tree are left out, and the lines of the file stay; the others are read as from a file without
// them.
func TestTreesLeftOut(t *testing.T) {
	for _, test := range []struct{ from, to, want string }{
		{"\t1\tobl", "\t0\tobl", "s.conllu:12: word 5 is a second root"},
		{"\t1\tobl", "\t3\tobl", "s.conllu:10: the heads form a cycle"},
		{"\t1\tobl", "\t7\tobl", `s.conllu:12: head "7"`}, {"\t1\tobl", "\t1\t_", `s.conllu:12: relation "_"`},
		{"1\tVamos", "7\tVamos", "s.conllu:6: id 7"},
	} {
		say := remarks.New(true)
		text := strings.Replace(sample, test.from, test.to, 1)
		b, err := Reader{Remarks: say}.Read(strings.NewReader(text), "s.conllu")
		if left := say.Reasons(); err != nil || b.Len() != 1 || !slices.Equal(b.Tree(0).Heads, []int32{2, 0, 4, 1}) ||
			len(left) != 1 || !strings.HasPrefix(left[0], test.want) {
			t.Errorf("%s: %v, %+v, %q", test.to, err, b, left)
			continue
		}
		if got := written(t, b, unchanged); got != text {
			t.Errorf("%s: the file is\n%s", test.to, got)
		}
	}
	if _, err := (Reader{Remarks: remarks.New(true)}).Read(strings.NewReader(strings.ReplaceAll(sample, "root", "_")),
		"s"); !structured.IsBadInput(err) {
		t.Errorf("no sentence is left: %v", err)
	}
}
