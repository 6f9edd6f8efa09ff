package pipelines

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/features"
	"github.com/dsp-go/dsp/models/data/features/arcs"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

const sample = `# newpar
1	Il	il	PRON	Cl	Number=Sing	2	nsubj	_	_
2	parle	parler	VERB	V	_	0	root	_	_
3-4	du	_	_	_	_	_	_	_	_
3	de	de	ADP	P	_	5	case	_	_
4	le	le	DET	D	_	5	det	_	_
5	pain	pain	NOUN	N	_	2	obl	_	SpaceAfter=No
6	.	.	PUNCT	Z	_	2	punct	_	_

1	Chats	chat	NOUN	N	Number=Plur	0	root	_	_
2	parle	parler	VERB	V	_	1	acl	_	_

`

func read(t *testing.T, text string) []conllu.Sentence {
	t.Helper()
	all, err := conllu.ReadChunk([]byte(text), "x", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every template of a stage reads columns that the stage's table has, and no others.
func TestTemplates(t *testing.T) {
	gold := read(t, sample)
	rules := rulesOf(gold)
	tables := map[string]*table{charactersStage: characterTable(gold), wordsStage: multiwordTable(gold, rules)}
	for _, s := range tagStages {
		tables[s.name] = s.table(gold, gold)
	}
	if _, err := arcs.Parse(arcs.Builtin()+template(treesStage), treesStage); err != nil {
		t.Error(err)
	}
	for name, table := range tables {
		parsed, err := features.Parse(template(name), name)
		if err != nil {
			t.Fatal(err)
		}
		d := table.dataset(name)
		if err := parsed.Fit(d, templates.Options{MinCount: 1, Threads: 1}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if k := slices.Index(parsed.Reads(d), false); k >= 0 {
			t.Errorf("%s: nothing reads the column %s", name, table.names[k])
		}
		if len(table.labels) != len(table.columns[0]) || table.offsets[table.sequences()] != len(table.labels) {
			t.Errorf("%s: %d labels, %d positions", name, len(table.labels), len(table.columns[0]))
		}
	}
}

// Labels that are filled in give the treebank back.
func TestFill(t *testing.T) {
	gold := read(t, sample)
	for _, s := range tagStages {
		emptied := copyOf(gold)
		fillField(s.field)(emptied, repeated(conllu.Empty, emptied))
		table := s.table(emptied, gold)
		s.fill(emptied, table.labels)
		for i := range gold {
			for k := range gold[i].Words {
				if got, want := emptied[i].Words[k].Fields[s.field], gold[i].Words[k].Fields[s.field]; got != want {
					t.Errorf("%s: %q, expected %q", s.name, got, want)
				}
			}
		}
	}
	if gold[0].Words[0].Fields[conllu.UPOS] != "PRON" {
		t.Error("the copy shares its words")
	}
}

// A stage learns no rare scripts of lemmas.
func TestRareScripts(t *testing.T) {
	gold := read(t, sample)
	table := lemmaTable(gold, gold)
	whole := slices.Clone(table.labels)
	dropRareScripts(table, lemmaTable(nil, nil))
	for k, label := range whole {
		word := table.columns[0][k]
		if want := word != "Chats"; (table.labels[k] == label) != want { // the only one that loses a letter
			t.Errorf("%s: %s instead of %s", word, table.labels[k], label)
		}
	}
}

// A script that one form alone has, however often, makes the lemma of that form and is no rule for others; one that
// keeps most of the form, or that two forms have, stays.
func TestScriptOfOneForm(t *testing.T) {
	word := func(form, lemma string) string {
		return fmt.Sprintf("1\t%s\t%s\tNOUN\t_\t_\t0\troot\t_\t_\n\n", form, lemma)
	}
	gold := read(t, strings.Repeat(word("M.", "monsieur"), 3)+word("chats", "chat")+word("quais", "quai")+
		strings.Repeat(word("parle", "parler"), 2))
	dev := read(t, word("M.", "monsieur")+word("rares", "rare"))
	table, compared := lemmaTable(gold, gold), lemmaTable(dev, dev)
	before, beforeDev := slices.Clone(table.labels), slices.Clone(compared.labels)
	dropRareScripts(table, compared)
	if table.labels[0] != "=monsieur" || table.labels[2] != "=monsieur" || !slices.Equal(table.labels[3:], before[3:]) {
		t.Errorf("labels %v become %v", before, table.labels)
	}
	if compared.labels[0] != "=monsieur" || compared.labels[1] != beforeDev[1] {
		t.Errorf("labels to compare with, %v, become %v", beforeDev, compared.labels)
	}
}

// What is predicted from has the forms and what is known of the text, and nothing of the annotation.
func TestAppendBare(t *testing.T) {
	bare := read(t, string(appendBare(nil, &read(t, sample)[0])))
	for k, w := range bare[0].Words {
		for f, field := range w.Fields {
			want := conllu.Empty
			if f == conllu.Form || f == conllu.Misc {
				want = read(t, sample)[0].Words[k].Fields[f]
			}
			if field != want && f != 0 {
				t.Errorf("word %d, column %d: %q, want %q", k+1, f+1, field, want)
			}
		}
	}
	if bare[0].Words[4].Fields[conllu.Misc] != "SpaceAfter=No" || bare[0].Text() != "Il parle du pain." {
		t.Errorf("%q", bare[0].Text())
	}
}

// A word whose predicted script does not fit has its form as its lemma, whatever stood there.
func TestLemmaOfNoScript(t *testing.T) {
	all := read(t, sample)[1:]
	fillLemma(all, []string{"no script", asWritten})
	if a, b := all[0].Words[0].Fields[conllu.Lemma], all[0].Words[1].Fields[conllu.Lemma]; a != "Chats" || b != "parle" {
		t.Errorf("lemmas %q and %q", a, b)
	}
}

func TestExpand(t *testing.T) {
	gold := read(t, sample)
	rules := multiwordTable(gold, rulesOf(gold)).labels
	var tokens []characters.Token
	for _, token := range gold[0].Tokens {
		tokens = append(tokens, characters.Token{Form: token.Form, Multiword: token.Multi, SpaceAfter: token.SpaceAfter()})
	}
	s := newSentence(tokens)
	expand(&s, rules)
	if len(s.Words) != 6 || s.Words[2].Fields[conllu.Form] != "de" || s.Words[3].Fields[conllu.Form] != "le" ||
		s.Tokens[2].First != 2 || s.Tokens[2].Last != 3 || !s.Tokens[2].Multi {
		t.Errorf("%+v", s)
	}
	for _, bad := range []string{"nonsense", "keep:5:-0::|=x"} { // a rule that does not fit leaves the token whole
		s := newSentence(tokens)
		if expand(&s, []string{bad}); len(s.Words) != 5 || s.Tokens[2].Multi || s.Words[2].Fields[conllu.Form] != "du" {
			t.Errorf("%s: %+v", bad, s)
		}
	}
}

func TestCut(t *testing.T) {
	long := make([]characters.Token, 2*longest+1)
	all := cut([][]characters.Token{long[:longest], long, nil})
	lengths := []int{}
	for _, s := range all {
		lengths = append(lengths, len(s))
	}
	if !slices.Equal(lengths, []int{longest, longest, longest, 1, 0}) {
		t.Errorf("%v", lengths)
	}
}

func TestParseFill(t *testing.T) {
	f, err := ParseFill("lemma,head")
	if err != nil || !f[conllu.Lemma] || !f[conllu.Head] || f[conllu.UPOS] || f[conllu.Deprel] {
		t.Errorf("%v %v", f, err)
	}
	for _, bad := range []string{"", "form", "upos,", "UPOS"} {
		if _, err := ParseFill(bad); err == nil || !structured.IsBadInput(err) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The parts of a table have all of its sequences, each once.
func TestParts(t *testing.T) {
	whole := fieldTable(conllu.UPOS)(read(t, sample), read(t, sample))
	even, odd := whole.part(func(i int) bool { return i%2 == 0 }), whole.part(func(i int) bool { return i%2 == 1 })
	if even.sequences() != 1 || odd.sequences() != 1 ||
		!slices.Equal(slices.Concat(even.labels, odd.labels), whole.labels) ||
		!slices.Equal(slices.Concat(even.columns[0], odd.columns[0]), whole.columns[0]) {
		t.Errorf("%+v %+v", even, odd)
	}
}

// Lists of stages that are not a pipeline's are bad input, whatever they hold.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"stages": [{"name": "upos", "model": "../x"}]}`))
	f.Add([]byte(`{"stages": [{"name": "trees", "constant": "x"}], "fingerprint": "x"}`))
	f.Add([]byte(`[`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, listFile), text, 0o666); err != nil {
			t.Fatal(err)
		}
		p, err := Load(dir, "")
		if err != nil {
			if !structured.IsBadInput(err) {
				t.Fatal(err)
			}
			return
		}
		if len(p.Stages()) == 0 {
			t.Fatalf("%q is a pipeline without stages", text)
		}
	})
}
