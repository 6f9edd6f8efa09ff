package conllu_test

import (
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/conllu"
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
		"# newdoc": true, "# newdoc id = d1": true, "# newpar": true, "#newpar id = p": true, "# newdocument": false, "# sent_id = newdoc": false, "# text = newpar": false,
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
	} {
		_, err := conllu.ReadAll(strings.NewReader(text), "x")
		if err == nil || !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
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
