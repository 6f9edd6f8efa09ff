package pipelines

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/dsp-go/dsp/models/data/conllu"
)

const quoted = `1	Il	il	PRON	_	_	2	nsubj	_	_
2	dit	dire	VERB	_	_	0	root	_	_
3	:	:	PUNCT	_	_	2	punct	_	_
4	"	"	PUNCT	_	_	6	punct	_	SpaceAfter=No
5	l'	le	DET	_	_	6	det	_	SpaceAfter=No
6	eau	eau	NOUN	_	_	2	obj	_	SpaceAfter=No
7	"	"	PUNCT	_	_	6	punct	_	SpaceAfter=No|Note=x
8	,	,	PUNCT	_	_	2	punct	_	_
9-10	don't	_	_	_	_	_	_	_	SpaceAfter=No
9	do	do	AUX	_	_	2	dep	_	_
10	n't	not	PART	_	_	9	advmod	_	_
11	?	?	PUNCT	_	_	2	punct	_	_

`

// Each manner of writing changes spaces or signs, and nothing else.
func TestVariations(t *testing.T) {
	for _, c := range []struct {
		by   variation
		want string
	}{
		{spaced, `Il dit : "l'eau", don't ?`},
		{unspaced, `Il dit: "l'eau", don't?`},
		{joined, `Il dit : "l'eau", don't?`}, // no sign is between letters
	} {
		s := read(t, quoted)[0]
		c.by(&s, nil)
		if got := s.Text(); c.want != got {
			t.Errorf("%s, expected %s", got, c.want)
		}
	}
	s := read(t, strings.ReplaceAll(quoted, "\"\t\"", "x\tx"))[0]
	if joined(&s, nil); s.Text() != `Il dit :xl'eaux,don't?` {
		t.Errorf("%s", s.Text())
	}
	seen := map[string]bool{}
	for seed := range uint64(40) {
		s := read(t, quoted)[0]
		requoted(&s, rand.New(rand.NewPCG(seed, 1)))
		seen[s.Text()] = true
		if w := s.Words[3].Fields; w[conllu.Form] != s.Tokens[3].Form || w[conllu.Lemma] != w[conllu.Form] {
			t.Errorf("%v, expected the form and lemma %s", w, s.Tokens[3].Form)
		}
		if lemma := s.Words[4].Fields[conllu.Lemma]; lemma != "le" || s.Words[4].Fields[conllu.Form] != s.Tokens[4].Form {
			t.Errorf("lemma %s of %s", lemma, s.Words[4].Fields[conllu.Form])
		}
		if do, not := s.Words[8].Fields, s.Words[9].Fields; do[conllu.Form]+not[conllu.Form] != s.Tokens[8].Form ||
			not[conllu.Lemma] != "not" {
			t.Errorf("%s: %v %v", s.Tokens[8].Form, do, not)
		}
	}
	for _, want := range []string{`Il dit : «l’eau», don’t?`, `Il dit : “l´eau”, don´t?`, `Il dit : „lʼeau“, donʼt?`} {
		if !seen[want] {
			t.Errorf("never %s: %v", want, seen)
		}
	}
	back := read(t, strings.ReplaceAll(quoted, "'", "’"))[0]
	if requoted(&back, rand.New(rand.NewPCG(1, 1))); back.Words[4].Fields[conllu.Form] != "l'" {
		t.Errorf("%q", back.Text())
	}
}

// The seed says which sentences vary; a share of 0 leaves all as they are, and the sentences given stay in any case.
func TestVary(t *testing.T) {
	many := read(t, strings.Repeat(quoted, 400))
	texts := func(all []conllu.Sentence) (text []string) {
		for i := range all {
			text = append(text, all[i].Text())
		}
		return text
	}
	plain := texts(many)
	one, again, other := texts(vary(many, .5, 1)), texts(vary(many, .5, 1)), texts(vary(many, .5, 2))
	if !reflect.DeepEqual(one, again) || reflect.DeepEqual(one, other) ||
		!reflect.DeepEqual(texts(vary(many, 0, 1)), plain) || !reflect.DeepEqual(texts(many), plain) {
		t.Error("the seed does not decide, a share of 0 varies, or what was given changed")
	}
	changed := 0
	for i, text := range one {
		if text != plain[i] {
			changed++
		}
		letters := func(text string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) && r != 'ʼ' {
					return r
				}
				return -1
			}, text)
		}
		if letters(text) != letters(plain[i]) {
			t.Fatalf("%s became %s", plain[i], text)
		}
	}
	if changed < 100 || changed > 220 { // 200 are chosen, of which those that get what they have stay
		t.Errorf("%d of 400 changed", changed)
	}
}
