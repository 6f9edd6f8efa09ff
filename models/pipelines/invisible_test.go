package pipelines

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/conllu/conll18"
	"github.com/dsp-go/dsp/models/data/tokens"
)

// unseen lists all characters that are blank or invisible, by what Unicode says of them.
func unseen() []rune {
	var all []rune
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if r > 0xe01f0 && r%128 != 127 { // of thousands that mean nothing yet, some
			continue
		}
		if r != '\t' && r != '\n' && r != '\r' && tokens.Invisible(r) { // no form has these three
			all = append(all, r)
		}
	}
	return all
}

// mayFit reports whether an official script can accept a prediction: white space around a token that the script does
// not drop is no part of it.
func mayFit(form string) bool {
	odd := func(r rune) bool { return unicode.IsSpace(r) && !unicode.Is(unicode.Zs, r) }
	first, last := []rune(form)[0], []rune(form)[len([]rune(form))-1]
	return !odd(first) && !odd(last)
}

// Wherever a blank or invisible character stands in a form, the tokens that the text of a treebank is split into have
// all characters that the shared task compares, none is invisible, and models see the same form in the treebank and in
// the prediction.
func TestUnseenCharacters(t *testing.T) {
	all := unseen()
	if len(all) < 600 {
		t.Fatalf("%d characters", len(all))
	}
	for _, r := range []rune{0x34f, 0xad, 0x200b, 0x3164, 0xfe0f, 0xfeff, 0xe0100, 0xa0, 0x2800, 0x115f, 0xffa0, 0x180e,
		0x17b4, 0x2065, 0xfff0, 0xe0fff, 0x1d173, 0x13430, 0xfff9, 0x85, 1} {
		if !tokens.Invisible(r) {
			t.Errorf("%U is visible", r)
		}
	}
	for _, r := range []rune{'a', '.', 0x600, 0x6dd, 0xfffc, 0x301, 0xfffd, '❤'} {
		if tokens.Invisible(r) {
			t.Errorf("%U is invisible", r)
		}
	}
	for _, r := range all {
		c := string(r)
		for _, form := range []string{c + "Paris", "Pa" + c + "ris", "Paris" + c, c + c + "Paris", "Pa" + c + c + "ris",
			"Paris" + c + c, c, c + c, c + "Paris" + c} {
			for _, near := range []string{"_", "SpaceAfter=No"} {
				if near != "_" && strings.TrimFunc(form, tokens.Invisible) == "" {
					continue
				}
				checkUnseen(t, form, near)
			}
		}
	}
}

func checkUnseen(t *testing.T, form, misc string) {
	t.Helper()
	gold := read(t, fmt.Sprintf("1\tOui\toui\tX\t_\t_\t0\troot\t_\t_\n2\t%s\tParis\tX\t_\t_\t1\tdep\t_\t%s\n"+
		"3\t!\t!\tX\t_\t_\t1\tdep\t_\t_\n\n", form, misc))
	var labels []string
	for _, c := range characters.Chains(gold) {
		labels = append(labels, c.Labels...)
	}
	var system []conllu.Sentence
	for _, p := range characters.Paragraphs(characters.Text(gold), false) {
		for _, found := range p.Sentences(labels) {
			s := newSentence(found)
			expand(&s, nil)
			chain(&s)
			system = append(system, s)
		}
	}
	if len(system) != 1 {
		t.Fatalf("%q: %d sentences", form, len(system))
	}
	blank := strings.TrimSpace(form) == ""
	scores, err := conll18.Evaluate(gold, "gold", system, "system")
	if accepted := err == nil; accepted != (!blank && mayFit(form)) {
		t.Fatalf("%q: %v", form, err)
	}
	hidden := strings.TrimFunc(form, tokens.Invisible) == ""
	if err == nil && !hidden && scores.Get("tokens").Correct != 3 {
		t.Fatalf("%q: %+v", form, system[0].Tokens)
	}
	for _, token := range system[0].Tokens {
		if strings.TrimFunc(token.Form, tokens.Invisible) == "" {
			t.Fatalf("%q: the token %q is invisible", form, token.Form)
		}
	}
	if !hidden {
		if got, want := characters.Seen(system[0].Tokens[1].Form), characters.Seen(form); got != want {
			t.Fatalf("%q: models see %q in the treebank and %q in its text", form, want, got)
		}
	}
}

// Lemmas are made of forms as models see them, so that no letter is cut off where an invisible one was.
func TestLemmaOfUnseen(t *testing.T) {
	for _, c := range [][3]string{
		{"\u00a0Paris", "Paris", "Paris"}, {"\ufeffParis", "Paris", "Paris"}, {"Paris\u200b", "Paris", "Paris"},
		{"Pa\u00adris", "Paris", "Paris"},
		{"❤\ufe0f", "❤\ufe0f", "❤\ufe0f"}, {"\u034f", "\u034f", "\u034f"}, {"کتاب\u200cها", "کتاب", "Paris"},
	} {
		label := lemmaLabel(c[0], c[1])
		words := []conllu.Sentence{{Words: make([]conllu.Word, 2)}}
		words[0].Words[0].Fields[conllu.Form], words[0].Words[1].Fields[conllu.Form] = c[0], "Paris"
		fillLemma(words, []string{label, label})
		if got := words[0].Words[0].Fields[conllu.Lemma]; got != c[1] {
			t.Errorf("%q: lemma %q, expected %q", c[0], got, c[1])
		}
		if got := words[0].Words[1].Fields[conllu.Lemma]; c[2] == "Paris" && c[1] == "Paris" && got != "Paris" {
			t.Errorf("the label of %q makes the lemma %q of Paris", c[0], got)
		}
	}
}
