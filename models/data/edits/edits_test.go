package edits_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/edits"
	"github.com/dsp-go/dsp/structured"
)

func TestLemma(t *testing.T) {
	for _, c := range []struct{ form, lemma, script string }{
		{"forces", "force", "lower:0:-1::"},
		{"Running", "run", "lower:0:-4::"},
		{"Zaman", "Zaman", "keep:0:-0::"},
		{"The", "the", "lower:0:-0::"},
		{"AMERICANS", "American", "title:0:-1::"},
		{"is", "be", "=be"},
		{"gegangen", "gehen", "lower:0:-6::hen"},
		{"nato", "NATO", "upper:0:-0::"},
		{"mangeaient", "manger", "lower:0:-5::r"},
		{"x", "a b:c", "=a%20%b%3a%c"},
	} {
		s := edits.Lemma(c.form, c.lemma)
		if s.String() != c.script {
			t.Errorf("%s → %s: %s, expected %s", c.form, c.lemma, s, c.script)
		}
	}
	s := edits.Lemma("forces", "force")
	if made, ok := s.Apply("Houses"); !ok || made != "house" {
		t.Errorf("%q %v", made, ok)
	}
	if made, ok := s.Apply("s"); ok {
		t.Errorf("nothing is left, but there is %q", made)
	}
}

// Endings that many tokens share make the words of tokens not seen before.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		seen, unseen map[string]string
		as           map[string]string // the token seen whose rule holds for the unseen one
	}{
		{
			map[string]string{
				"don't": "do n't", "haven't": "have n't", "isn't": "is n't", "aren't": "are n't", "its": "it s", "Its": "It s",
				"lets": "let s", "cats": "cat s", "Toms": "Tom s",
			},
			map[string]string{"couldn't": "could n't", "govs": "gov s"}, map[string]string{"couldn't": "don't", "govs": "its"},
		},
		{
			map[string]string{"du": "de le", "aux": "à les", "l'ami": "l' ami", "l'eau": "l' eau",
				"l'or": "l' or", "l'idée": "l' idée"},
			map[string]string{"l'histoire": "l' histoire", "Du": "De le"}, map[string]string{"l'histoire": "l'or", "Du": "du"},
		},
	} {
		rules := &edits.Rules{}
		for _, form := range slices.Sorted(maps.Keys(c.seen)) {
			rules.Add(form, strings.Fields(c.seen[form]))
		}
		for form, words := range c.seen {
			if made, ok := rules.Of(form, strings.Fields(words)).Apply(form); !ok || strings.Join(made, " ") != words {
				t.Errorf("%s: %q %v", form, made, ok)
			}
		}
		for form, words := range c.unseen {
			if made, ok := rules.Of(c.as[form], strings.Fields(c.seen[c.as[form]])).Apply(form); !ok ||
				strings.Join(made, " ") != words {
				t.Errorf("%s: %q %v, expected %s", form, made, ok, words)
			}
		}
	}
}

// Scripts make the word that they were found for, and are read as they are written.
func TestRoundTrip(t *testing.T) {
	word := rapid.StringMatching(`[abcABCéÉİßﬁ:|% =\x{a0}\-0-2]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		form := word.Draw(t, "form")
		words := rapid.SliceOfN(word, 1, 4).Draw(t, "words")
		s := edits.Lemma(form, words[0])
		if made, ok := s.Apply(form); !ok || made != words[0] {
			t.Fatalf("%s: %q %v", s, made, ok)
		}
		if again, err := edits.Parse(s.String()); err != nil || again != s {
			t.Fatalf("%+v, %+v, %v", s, again, err)
		}
		rules := &edits.Rules{}
		rules.Add(form, words)
		r := rules.Of(form, words)
		if made, ok := r.Apply(form); !ok || strings.Join(made, "\t") != strings.Join(words, "\t") {
			t.Fatalf("%s: %q %v", r, made, ok)
		}
		if again, err := edits.ParseRule(r.String()); err != nil || again.String() != r.String() {
			t.Fatalf("%s, %s, %v", r, again, err)
		}
		if text := r.String(); strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || r == '\u00a0' }) {
			t.Fatalf("%q has white space", text)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("lower:0:-1::e", "form")
	f.Add("=a%20%b", "")
	f.Add("title:-3:5:x:", "abc")
	f.Fuzz(func(t *testing.T, text, form string) {
		s, err := edits.Parse(text)
		if err != nil {
			if !structured.IsBadInput(err) {
				t.Fatal(err)
			}
			return
		}
		_, _ = s.Apply(form)
		if again, err := edits.Parse(s.String()); err != nil || again != s {
			t.Fatalf("%+v, %+v, %v", s, again, err)
		}
	})
}
