package characters_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/data/conllu"
)

const sample = `# newpar
1	Qu'	que	SCONJ	_	_	0	root	_	SpaceAfter=No
2	il	il	PRON	_	_	1	dep	_	_
3-4	du	_	_	_	_	_	_	_	_
3	de	de	ADP	_	_	1	dep	_	_
4	le	le	DET	_	_	1	dep	_	_
5	20 000	20 000	NUM	_	_	1	dep	_	SpaceAfter=No
6	!	!	PUNCT	_	_	1	punct	_	_

1	Oui	oui	INTJ	_	_	0	root	_	_

# newpar
1-2	aux	_	_	_	_	_	_	_	_
1	à	à	ADP	_	_	0	root	_	_
2	les	le	DET	_	_	1	det	_	_

`

func read(t *testing.T, text string) []conllu.Sentence {
	t.Helper()
	all, err := conllu.ReadAll(strings.NewReader(text), "x")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestText(t *testing.T) {
	if text := characters.Text(read(t, sample)); text != "Qu'il du 20 000! Oui\n\naux\n" {
		t.Errorf("%q", text)
	}
}

func TestChains(t *testing.T) {
	all := characters.Chains(read(t, sample))
	if len(all) != 2 {
		t.Fatal(len(all))
	}
	want := []string{"inside", "inside", "end", "inside", "end", "inside", "multiword", "inside", "inside", "inside",
		"inside", "end", "sentence", "inside", "inside", "sentence"}
	if !slices.Equal(all[0].Labels, want) ||
		!slices.Equal(all[1].Labels, []string{"inside", "inside", "multiword-sentence"}) {
		t.Errorf("%v", all)
	}
	row := func(k int) string {
		var cells []string
		for _, column := range all[0].Rows {
			cells = append(cells, column[k])
		}
		return strings.Join(cells, " ")
	}
	for k, want := range map[int]string{
		0: "Q u'il _ _ _ _ Q u Qu'il", 1: "Qu 'il _ _ _ _ Qu il Qu'il", 2: "Qu' il _ _ _ _ Qu il Qu'il",
		4: "Qu'il _ space Qu'il du _ il _ Qu'il", 11: "000 ! _ _ _ _ 000 _ 000!", 12: "000! _ space 000! Oui 20 000 _ 000!",
		15: "Oui _ end Oui _ 000! Oui _ Oui",
	} {
		if row(k) != want {
			t.Errorf("row %d: %s, expected %s", k, row(k), want)
		}
	}
}

// Paragraphs end at empty lines, or at the end of every line; the places of their beginnings are in characters.
func TestParagraphs(t *testing.T) {
	const text = "Ein Bär\nschläft.\n \t\n\u200b\nEr träumt.\n\n\nx"
	for lines, want := range map[bool][]string{
		false: {"Ein Bär schläft.", "Er träumt.", "x"}, true: {"Ein Bär", "schläft.", "Er träumt.", "x"},
	} {
		var got []string
		for _, p := range characters.Paragraphs(text, lines) {
			if runes := []rune(text)[p.Start:]; !strings.HasPrefix(string(runes), p.Text) {
				t.Errorf("lines %v: %q is not at character %d", lines, p.Text, p.Start)
			}
			got = append(got, strings.Trim(strings.Join(strings.Fields(p.Text), " "), "\u200b "))
		}
		if !slices.Equal(got, want) {
			t.Errorf("lines %v: %q, expected %q", lines, got, want)
		}
	}
}

// A long paragraph is cut behind the first sentence that reaches 1,000 characters, and again.
func TestLongParagraphs(t *testing.T) {
	var sentences []conllu.Sentence
	for range 7 { // of 400 characters
		sentences = append(sentences, conllu.Sentence{Tokens: []conllu.Token{{Form: strings.Repeat("ab", 200), Misc: "_"}}})
	}
	var lengths []int
	for _, c := range characters.Chains(sentences) {
		lengths = append(lengths, len(c.Labels))
	}
	if !slices.Equal(lengths, []int{1200, 1200, 400}) {
		t.Errorf("chains of %v characters, want 1200, 1200 and 400", lengths)
	}
}

// The gold labels of a treebank give its tokens and sentences back, with their places in the text.
func TestGoldLabels(t *testing.T) {
	form := rapid.StringMatching(`[ab'.é漢]{1,3}( [ab]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		var sentences []conllu.Sentence
		for range rapid.IntRange(1, 5).Draw(t, "sentences") {
			s := conllu.Sentence{}
			if rapid.Bool().Draw(t, "paragraph") {
				s.Comments = []string{"# newpar"}
			}
			for range rapid.IntRange(1, 4).Draw(t, "tokens") {
				token := conllu.Token{Form: form.Draw(t, "form"), Misc: "_", Multi: rapid.Bool().Draw(t, "multiword")}
				if rapid.Bool().Draw(t, "joined") {
					token.Misc = "SpaceAfter=No"
				}
				s.Tokens = append(s.Tokens, token)
			}
			sentences = append(sentences, s)
		}
		var labels []string
		for _, c := range characters.Chains(sentences) {
			labels = append(labels, c.Labels...)
		}
		text := characters.Text(sentences)
		runes := []rune(text)
		var found [][]characters.Token
		for _, p := range characters.Paragraphs(text, false) {
			n := len(characters.Rows(p.Text)[0])
			found = append(found, p.Sentences(labels[:n])...)
			labels = labels[n:]
		}
		if len(found) != len(sentences) || len(labels) > 0 {
			t.Fatalf("%d sentences, expected %d", len(found), len(sentences))
		}
		for k, s := range sentences {
			for j, token := range s.Tokens {
				got := found[k][j]
				if got.Form != token.Form || got.Multiword != token.Multi || string(runes[got.Start:got.End]) != token.Form {
					t.Fatalf("%+v, expected %+v", got, token)
				}
				if j+1 < len(s.Tokens) && got.SpaceAfter != token.SpaceAfter() {
					t.Fatalf("space after %q: %v", got.Form, got.SpaceAfter)
				}
			}
		}
	})
}

// Whatever the labels, the tokens have all visible characters of the text, in order.
func FuzzSentences(f *testing.F) {
	f.Add("Qu'il du\n 20\u00a0000!\n\n \nOui\ufeff\x00x", []byte{0, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, text string, numbers []byte) {
		names := []string{characters.Inside, characters.End, characters.SentenceEnd, characters.Multiword,
			characters.MultiwordSentence}
		all, k := "", 0
		for _, lines := range []bool{false, true} {
			all, k = "", 0
			for _, p := range characters.Paragraphs(text, lines) {
				rows := characters.Rows(p.Text)
				labels := make([]string, len(rows[0]))
				for i := range labels {
					labels[i] = names[0]
					if len(numbers) > 0 {
						labels[i] = names[int(numbers[k%len(numbers)])%len(names)]
						k++
					}
				}
				for _, s := range p.Sentences(labels) {
					for _, token := range s {
						if token.Form == "" || token.End <= token.Start || token.End > utf8.RuneCountInString(text) {
							t.Fatalf("%+v", token)
						}
						all += token.Form
					}
				}
			}
			drop := func(s string) string {
				return strings.Map(func(r rune) rune {
					if len(characters.Rows(string(r))[0]) == 0 {
						return -1
					}
					return r
				}, strings.ToValidUTF8(s, "\ufffd"))
			}
			if drop(all) != drop(text) && utf8.ValidString(text) {
				t.Fatalf("%q, expected %q", drop(all), drop(text))
			}
		}
	})
}

// White space alone ends the tokens of text that is split already, and the paragraph its sentence.
func TestGiven(t *testing.T) {
	p := characters.Paragraph{Text: " a. b\tdu "}
	if got, want := fmt.Sprint(p.Given(nil)),
		fmt.Sprint([]string{characters.Inside, characters.End, characters.End, characters.Inside,
			characters.End}); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	predicted := []string{characters.SentenceEnd, characters.SentenceEnd, characters.Inside, characters.Multiword,
		characters.MultiwordSentence}
	if got, want := fmt.Sprint(p.Given(predicted)),
		fmt.Sprint([]string{characters.Inside, characters.End, characters.End, characters.Inside,
			characters.Multiword}); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}
