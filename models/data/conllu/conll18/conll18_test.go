package conll18_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/conllu/conll18"
	"github.com/dsp-go/dsp/structured"
)

// sentences makes sentences of short lines: id form lemma upos feats head deprel, with blank lines between sentences.
func sentences(t *testing.T, short string) []conllu.Sentence {
	t.Helper()
	var text strings.Builder
	for line := range strings.Lines(short) {
		f := strings.Fields(line)
		switch len(f) {
		case 0:
		case 2:
			fmt.Fprintf(&text, "%s\t%s\t_\t_\t_\t_\t_\t_\t_\t_", f[0], f[1])
		case 7:
			fmt.Fprintf(&text, "%s\t%s\t%s\t%s\tx\t%s\t%s\t%s\t_\t_", f[0], f[1], f[2], f[3], f[4], f[5], f[6])
		default:
			t.Fatal(line)
		}
		text.WriteByte('\n')
	}
	all, err := conllu.ReadAll(strings.NewReader(text.String()), "x")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const gold = `1-2 du
1 de de ADP _ 3 case
2 le le DET Definite=Def|Typo=Yes 3 det
3 pain pain NOUN Number=Sing 4 nsubj
4 mange manger VERB _ 0 root
5-6 l'eau
5 l' le DET _ 6 det
6 eau eau NOUN _ 4 obj:x
7 . . PUNCT _ 4 punct

1 Oui _ INTJ _ 0 root
2 ! ! PUNCT _ 1 punct
`

const system = `1-2 du
1 De de ADP _ 3 case
2 la le DET Definite=Def 3 det
3 pain pain NOUN Number=Sing 4 nsubj
4 mange mange VERB _ 0 root
5 l' le DET _ 6 det
6 eau. eau NOUN _ 4 obj
7 Oui oui INTJ _ 4 conj
8 ! ! X _ 7 punct
`

// The numbers are those of the script of the shared task.
func TestScores(t *testing.T) {
	scores, err := conll18.Evaluate(sentences(t, gold), "gold", sentences(t, system), "system")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]conll18.Score{
		"tokens":    {5, 7, 7, 0},
		"sentences": {0, 2, 1, 0},
		"words":     {6, 9, 8, 0},
		"upos":      {5, 9, 8, 6},
		"xpos":      {6, 9, 8, 6},
		"ufeats":    {6, 9, 8, 6},
		"alltags":   {5, 9, 8, 6},
		"lemmas":    {5, 9, 8, 6},
		"uas":       {4, 9, 8, 6},
		"las":       {4, 9, 8, 6},
		"clas":      {2, 4, 4, 3},
		"mlas":      {1, 4, 4, 3},
		"blex":      {1, 4, 4, 3},
	}
	for _, name := range conll18.Names {
		if got := scores.Get(name); got != want[name] {
			t.Errorf("%s: %+v, expected %+v", name, got, want[name])
		}
	}
	// 6 of 8, and of 9
	if table := scores.Table(); !strings.Contains(table, "Tokens") || !strings.Contains(table, "75.00   66.67   70.59") {
		t.Error(scores.Table())
	}
}

// The order of features does not matter, nor do those that are not universal.
func TestOrderOfFeatures(t *testing.T) {
	scores, err := conll18.Evaluate(sentences(t, "1 a a DET Case=Nom|Number=Sing 0 root\n"), "gold",
		sentences(t, "1 a a DET Number=Sing|Own=Yes|Case=Nom 0 root\n"), "system")
	if err != nil || scores.Get("ufeats") != (conll18.Score{Correct: 1, Gold: 1, System: 1, Aligned: 1}) {
		t.Errorf("%+v, %v", scores.Get("ufeats"), err)
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ system, want string }{
		{"1 x x X _ 0 root\n", `have different texts: behind 0 characters that are no blanks there is "dupainmangel'eau.Oui`},
		{strings.Replace(gold, "_ 4 nsubj", "_ 9 nsubj", 1), "expected"},
	} {
		_, err := conll18.Evaluate(sentences(t, gold), "gold",
			sentences(t, strings.Replace(c.system, "Number=Sing 4 nsubj", "Number=Sing 9 nsubj", 1)), "system")
		if err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, expected %s", err, c.want)
		}
	}
}

// What the script of the shared task refuses is refused here: other characters than blanks that are in one file alone,
// invisible ones too, tokens of blanks, and heads that are no tree with one root.
func TestRefuses(t *testing.T) {
	one := func(form string) []conllu.Sentence {
		all, err := conllu.ReadAll(strings.NewReader("1\t"+form+"\tx\tX\t_\t_\t0\troot\t_\t_\n\n"), "x")
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, blank := range []string{"\u00a0", "\u2009", "\u3000", "\u202f", " "} {
		if _, err := conll18.Evaluate(one("a"+blank+"b"), "gold", one("ab"), "system"); err != nil {
			t.Errorf("%q: %v", blank, err)
		}
		if _, err := conll18.Evaluate(one(blank), "gold", one(blank), "system"); err == nil {
			t.Errorf("a token %q is accepted", blank)
		}
	}
	for _, other := range []string{"\ufeff", "\u200b", "\u034f", "\ufe0f", "\u3164", "\U000e0100", "\u00ad", "\u2028",
		"\u0085", "\v", "\x01", "\u2800"} {
		for _, form := range []string{other + "ab", "a" + other + "b", "ab" + other} {
			if _, err := conll18.Evaluate(one(form), "gold", one("ab"), "system"); err == nil || !structured.IsBadInput(err) {
				t.Errorf("%q beside ab: %v", form, err)
			}
			if _, err := conll18.Evaluate(one(form), "gold", one(form), "system"); err != nil {
				t.Errorf("%q beside itself: %v", form, err)
			}
		}
	}
	for heads, want := range map[string]string{"0 0": "second root", "2 1": "no word has head 0",
		"0 2": "own head", "0 3 2": "cycle"} {
		var short string
		for k, head := range strings.Fields(heads) {
			short += fmt.Sprintf("%d w w X _ %s dep\n", k+1, head)
		}
		bad := sentences(t, short)
		if _, err := conll18.Evaluate(bad, "gold", bad, "system"); err == nil || !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("heads %s: %v, expected %s", heads, err, want)
		}
	}
}

// A file has every measure in full against itself, and what is aligned is no more than what there is, whatever the
// tokens.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []rune(rapid.StringMatching(`[abAB]{1,12}`).Draw(t, "text"))
		draw := func(name string) []conllu.Sentence {
			var all []conllu.Sentence
			s := conllu.Sentence{}
			for at := 0; at < len(text); {
				to := rapid.IntRange(at+1, len(text)).Draw(t, name)
				words := rapid.IntRange(1, 3).Draw(t, "words")
				first := len(s.Words)
				for k := range words {
					form := string(text[at:to])
					if words > 1 {
						form = rapid.StringMatching(`[abAB]{1,2}`).Draw(t, "form")
					}
					head, relation := "1", "case"
					if first+k == 0 {
						head, relation = "0", "root"
					}
					s.Words = append(s.Words,
						conllu.Word{Fields: [conllu.FieldCount]string{conllu.Form: form, conllu.Lemma: "l", conllu.UPOS: "X",
							conllu.XPOS: "x", conllu.Feats: "_", conllu.Head: head, conllu.Deprel: relation}})
				}
				s.Tokens = append(s.Tokens,
					conllu.Token{Form: string(text[at:to]), Misc: "_", First: first, Last: len(s.Words) - 1, Multi: words > 1})
				if at = to; at == len(text) || rapid.Bool().Draw(t, "end") {
					all = append(all, s)
					s = conllu.Sentence{}
				}
			}
			return all
		}
		g, s := draw("gold"), draw("system")
		scores, err := conll18.Evaluate(g, "gold", s, "system")
		if err != nil {
			t.Fatal(err)
		}
		for k, x := range scores {
			if x.Correct > x.Gold || x.Correct > x.System || k > 2 &&
				(x.Correct > x.Aligned || x.Aligned > min(x.Gold, scores.Get("words").Correct)) {
				t.Fatalf("%s: %+v", conll18.Names[k], x)
			}
		}
		checkParts(t, g, s, scores)
		if scores, err = conll18.Evaluate(g, "gold", g, "gold"); err != nil {
			t.Fatal(err)
		}
		for k, x := range scores {
			if x.Correct != x.Gold || x.Correct != x.System {
				t.Fatalf("%s of a file against itself: %+v", conll18.Names[k], x)
			}
		}
	})
}

// checkParts checks that the counts of all parts are those of the whole, that parts have all words, and that some have
// mistakes where a measure that mistakes are about is not full.
func checkParts(t *rapid.T, g, s []conllu.Sentence, whole conll18.Scores) {
	parts, err := conll18.Parts(g, "gold", s, "system", func(int) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	sum, words, mistakes, full := make(conll18.Scores, len(whole)), 0, 0, true
	for _, p := range parts {
		words, mistakes = words+p.Words, mistakes+len(p.Mistakes)
		for k, x := range p.Scores {
			sum[k] = conll18.Score{Correct: sum[k].Correct + x.Correct, Gold: sum[k].Gold + x.Gold, System: sum[k].System + x.System, Aligned: sum[k].Aligned + x.Aligned}
		}
	}
	for _, x := range whole[1:10] { // sentences to las
		full = full && x.Correct == x.Gold && x.Correct == x.System
	}
	if full != (mistakes == 0) {
		t.Fatalf("%d mistakes, scores %+v", mistakes, whole)
	}
	if !slices.Equal(sum, whole) || words != whole.Get("words").Gold {
		t.Fatalf("%d parts of %d words have %+v, expected %+v", len(parts), words, sum, whole)
	}
}

// Mistakes are in the order of the text, of the fields that the system has.
func TestMistakes(t *testing.T) {
	const ends = "\n1 Non non INTJ _ 0 root\n"
	parts, err := conll18.Parts(sentences(t, gold+ends), "gold", sentences(t, system+ends), "system", func(field int) bool { return field != conllu.XPOS })
	if err != nil || len(parts) != 2 || len(parts[1].Mistakes) > 0 || parts[1].Line != 14 || parts[0].Words != 9 || parts[0].Text != "du pain mange l'eau . Oui !" {
		t.Fatalf("%v, %+v", err, parts)
	}
	var got []string
	for _, m := range parts[0].Mistakes {
		got = append(got, fmt.Sprintf("%s %s %s>%s", m.Word, m.Field, m.Gold, m.System))
	}
	want := []string{
		" sentences 2>1", "la word >la", "le word le>", "mange lemma manger>mange", "eau. word >eau.", "eau word eau>", "l' head eau>eau.", ". word .>",
		"Oui head (root)>mange", "Oui deprel root>conj", "! upos PUNCT>X",
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("%q, expected %q", got, want)
	}
	if wrong := conll18.Wrong(parts); len(wrong) != 1 || wrong[0].Line != 1 {
		t.Errorf("%+v", wrong)
	}
}

// whole is the words of one sentence in one token.
func whole(token string, forms []string) []conllu.Sentence {
	s := conllu.Sentence{Tokens: []conllu.Token{{Form: token, Misc: "_", Last: len(forms) - 1, Multi: true}}}
	for k, form := range forms {
		head, relation := "1", "dep"
		if k == 0 {
			head, relation = "0", "root"
		}
		s.Words = append(s.Words, conllu.Word{Fields: [conllu.FieldCount]string{
			conllu.Form: form, conllu.Lemma: "_", conllu.UPOS: "_", conllu.XPOS: "_", conllu.Feats: "_",
			conllu.Head: head, conllu.Deprel: relation,
		}})
	}
	return []conllu.Sentence{s}
}

// Of the words of a token, as many are aligned as both sides have in common in their order: no selection of words of
// one side that the other has in this order, too, is longer.
func TestWordsOfATokenInCommon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 2, 6)
		g, s := words.Draw(t, "gold"), words.Draw(t, "system")
		longest := 0
		for chosen := range 1 << len(g) {
			count, at := 0, 0
			for k, form := range g {
				if chosen>>k&1 == 0 {
					continue
				}
				for at < len(s) && s[at] != form {
					at++
				}
				if at == len(s) {
					count = 0
					break
				}
				count, at = count+1, at+1
			}
			longest = max(longest, count)
		}
		scores, err := conll18.Evaluate(whole("token", g), "gold", whole("token", s), "system")
		if err != nil {
			t.Fatal(err)
		}
		if got := scores.Get("words").Correct; got != longest {
			t.Fatalf("%d words aligned, %d in common", got, longest)
		}
	})
}

// Tokens of several words that overlap in both files make one stretch of text, and so do those that overlap with these.
func TestOverlappingTokens(t *testing.T) {
	const gold = "1-2 ab\n1 a a X _ 0 root\n2 x x X _ 1 dep\n3 c c X _ 1 dep\n4-5 de\n4 d d X _ 1 dep\n5 e e X _ 1 dep\n" +
		"6 f f X _ 1 dep\n"
	const system = "1 a a X _ 0 root\n2-3 bc\n2 x x X _ 1 dep\n3 c c X _ 1 dep\n4 d d X _ 1 dep\n5-6 ef\n" +
		"5 e e X _ 1 dep\n6 f f X _ 1 dep\n"
	for _, c := range []struct{ gold, system string }{{gold, system}, {system, gold}} {
		scores, err := conll18.Evaluate(sentences(t, c.gold), "gold", sentences(t, c.system), "system")
		if err != nil {
			t.Fatal(err)
		}
		if got := scores.Get("words"); got != (conll18.Score{Correct: 6, Gold: 6, System: 6}) {
			t.Errorf("%+v, expected all 6 words", got)
		}
	}
}
