package conllu_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
)

const sample = `# newpar id = p1
# sent_id = s1
0.1	et	et	CCONJ	_	_	_	_	0:x	_
1-2	du	_	_	_	_	_	_	_	SpaceAfter=No
1	de	de	ADP	_	_	3	case	_	_
2	le	le	DET	_	_	3	det	_	_
3	pain	pain	NOUN	_	Number=Sing	0	root	_	SpaceAfter=No
3.1	il	il	PRON	_	_	_	_	3:nsubj	_
4	!	!	PUNCT	_	_	3	punct	_	_

# sent_id = s2
1	Oui	oui	INTJ	_	_	0	root	_	_

`

func TestReadAndWrite(t *testing.T) {
	all, err := conllu.ReadAll(strings.NewReader(sample), "x.conllu")
	if err != nil || len(all) != 2 {
		t.Fatal(len(all), err)
	}
	var to []byte
	for k := range all {
		to = all[k].Append(to)
	}
	if string(to) != sample {
		t.Errorf("%s", to)
	}
	s := all[0]
	if s.Text() != "dupain!" || !s.Begins() || all[1].Begins() || len(s.Tokens) != 3 || s.Tokens[0].Last != 1 {
		t.Errorf("%q %+v", s.Text(), s.Tokens)
	}
	if id, ok := all[1].Comment("sent_id"); !ok || id != "s2" {
		t.Errorf("%q %v", id, ok)
	}
}

// A paragraph and a document begin where a comment says so, with a name or without.
func TestBegins(t *testing.T) {
	for comment, want := range map[string]bool{
		"# newdoc": true, "# newdoc id = d1": true, "# newpar": true, "#newpar id = p": true, "# newdocument": false,
		"# sent_id = newdoc": false, "# text = newpar": false,
	} {
		all, err := conllu.ReadAll(strings.NewReader(comment+"\n1\tx\tx\tX\t_\t_\t0\troot\t_\t_\n\n"), "x")
		if err != nil || all[0].Begins() != want {
			t.Errorf("%s: %v, %v", comment, !want, err)
		}
	}
}

func TestBadLines(t *testing.T) {
	word := "\tx\tx\tX\t_\t_\t0\troot\t_\t_\n"
	for text, want := range map[string]string{
		"1 x\n":                                    "x:1: 1 column, expected the 10",
		"2" + word:                                 `x:1: id "2", expected 1`,
		"1" + word + "3" + word:                    `x:2: id "3", expected 2, a multiword token such as 2-3 or an empty node such as 1.1`,
		"1-3" + word + "1" + word + "\n":           "x:3: the sentence ends after word 1, expected the words up to 3",
		"1-2" + word + "1" + word + "2-3" + word:   "x:3: multiword token 2-3 overlaps",
		"1" + strings.Replace(word, "root", "", 1): "x:1: column 8 (deprel) is empty",
		"1" + word + "# late\n":                    "x:2: comment",
		"# only comments\n":                        "x: no tokens",
		"1-1025" + word + "1" + word + "\n":        "x:3: the sentence ends after word 1, expected the words up to 1025",
		"1-1026" + word:                            `x:1: id "1-1026", expected 1-2 or a larger last word`,
		"1-0" + word:                               `x:1: id "1-0", expected 1-2`,
		"1-02" + word:                              `x:1: id "1-02", expected 1-2`,
		"1-x" + word:                               `x:1: id "1-x", expected 1-2`,
		"2-3" + word:                               `x:1: id "2-3", expected 1, a multiword token such as 1-2 or an empty node such as 0.1`,
		"1" + word + "1.0" + word:                  `x:2: id "1.0", expected 2`,
		"1" + word + "1.a" + word:                  `x:2: id "1.a", expected 2`,
		"1" + word + "2.1" + word:                  `x:2: id "2.1", expected 2`,
		"1-2" + word + "# late\n": "x:2: comment \"# late\" between the words of a sentence, " +
			"expected it before them",
		"0.1" + word + "# late\n":                  "x:2: comment",
		"1\txx\xff" + word[2:]:                     "x:1: the line is not UTF-8",
		strings.Repeat("y", 61):                    "x:1: 1 column, expected the 10",
		"1" + word + "#" + strings.Repeat("é", 60): "x:2: comment \"#" + strings.Repeat("é", 59) + "…\" between",
	} {
		_, err := conllu.ReadAll(strings.NewReader(text), "x")
		if err == nil || !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}

// A token may be one word with a line of its own, and have up to 1025 words.
func TestWideTokens(t *testing.T) {
	var text strings.Builder
	text.WriteString("1-1025\tx\t_\t_\t_\t_\t_\t_\t_\t_\n")
	for k := range 1025 {
		fmt.Fprintf(&text, "%d\tx\tx\tX\t_\t_\t0\troot\t_\t_\n", k+1)
	}
	all, err := conllu.ReadAll(strings.NewReader(text.String()+"\n1-1"+sampleWord+"1"+sampleWord+"\n"), "x")
	if err != nil || len(all) != 2 || len(all[0].Tokens) != 1 || all[0].Tokens[0].Last != 1024 ||
		len(all[1].Tokens) != 1 || !all[1].Tokens[0].Multi {
		t.Errorf("%v", err)
	}
	if all[0].Line != 1 || all[1].Line != 1028 {
		t.Errorf("sentences begin at %d and %d", all[0].Line, all[1].Line)
	}
}

const sampleWord = "\tx\tx\tX\t_\t_\t0\troot\t_\t_\n"

// A bad sentence is left out as a whole, with its reason, and the others are read; pieces of a file say where they are
// in it.
func TestBadSentencesAreLeftOut(t *testing.T) {
	good := "1" + sampleWord + "\n"
	text := "# one\n" + good + "1" + sampleWord + "3" + sampleWord + "4" + sampleWord + "\n# two\n" + good + "1" +
		sampleWord + "# late\n2" + sampleWord + "\n\n" + good + "1-2" + sampleWord + "1" + sampleWord
	say := remarks.New(true)
	all, err := conllu.ReadChunk([]byte(text), "x", 11, say)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d sentences, %v", len(all), err)
	}
	for k, want := range []int{12, 19, 26} {
		if all[k].Line != want || len(all[k].Words) != 1 {
			t.Errorf("sentence %d is of line %d, with %d words, expected line %d", k, all[k].Line, len(all[k].Words), want)
		}
	}
	reasons := say.Reasons()
	for k, want := range []string{`x:15: id "3", expected 2`, `x:22: comment "# late"`,
		"x:29: the sentence ends after word 1"} {
		if len(reasons) != 3 || !strings.HasPrefix(reasons[k], want) {
			t.Errorf("%q, expected %s", reasons, want)
		}
	}
	if _, err := conllu.ReadChunk([]byte(text), "x", 1, remarks.New(false)); !structured.IsBadInput(err) {
		t.Errorf("refused: %v", err)
	}
	if none, err := conllu.ReadChunk(nil, "x", 1, nil); err != nil || len(none) != 0 {
		t.Errorf("nothing: %v, %v", none, err)
	}
}

// Values are those of whole keys, spaces follow tokens unless they say No, and comments are found by their key.
func TestFieldsOfSentences(t *testing.T) {
	for list, want := range map[string]string{"_": "", "A=b": "b", "B=c|A=b": "b", "AB=x|A=b|A=c": "b",
		"A": "", "A=": "", "Aa=b": ""} {
		if got := conllu.Value(list, "A"); got != want {
			t.Errorf("%q: %q, expected %q", list, got, want)
		}
	}
	s := conllu.Sentence{Comments: []string{"# text", "# key = value = more", "#other=x"},
		Tokens: []conllu.Token{{Form: "a", Misc: "_"}, {Form: "b", Misc: "SpaceAfter=No"},
			{Form: "c", Misc: "SpaceAfter=Yes"}, {Form: "d"}}}
	if s.Text() != "a bc d" {
		t.Errorf("%q", s.Text())
	}
	for key, want := range map[string]string{"key": "value = more", "other": "x", "text": "", "ke": ""} {
		if got, ok := s.Comment(key); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", key, got, ok)
		}
	}
}

func FuzzReadAll(f *testing.F) {
	f.Add([]byte(sample))
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := conllu.ReadAll(strings.NewReader(string(text)), "x")
		if err != nil {
			if !structured.IsBadInput(err) {
				t.Fatal(err)
			}
			return
		}
		var first []byte
		for k := range all {
			first = all[k].Append(first)
		}
		again, err := conllu.ReadAll(strings.NewReader(string(first)), "x")
		if err != nil {
			t.Fatalf("%q does not read what it wrote: %v", first, err)
		}
		var second []byte
		for k := range again {
			second = again[k].Append(second)
		}
		if string(first) != string(second) {
			t.Fatalf("%q and %q", first, second)
		}
	})
}
