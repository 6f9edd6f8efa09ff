package endtoend

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/conllu"
)

// drawnSentence is a sentence of a small language with the traits of French: tokens of two words (du, aux, des), words
// that are written together (l'ami, n'aime, c'est, qu'il), points that end no sentence (M. Durand), and sentences in «
// », which end behind them.
type drawnSentence struct {
	conllu.Sentence
	rng *rand.Rand
}

// word adds a word with its token and returns its number. A form that ends in an apostrophe is written together with
// the next one.
func (s *drawnSentence) word(form, lemma, upos, feats string) int {
	k := s.hidden(form, lemma, upos, feats)
	misc := "_"
	if strings.HasSuffix(form, "'") {
		misc = "SpaceAfter=No"
	}
	s.Words[k].Fields[conllu.Misc] = misc
	s.Tokens = append(s.Tokens, conllu.Token{Form: form, Misc: misc, First: k, Last: k})
	return k
}

// hidden adds a word without a token.
func (s *drawnSentence) hidden(form, lemma, upos, feats string) int {
	s.Words = append(s.Words, conllu.Word{Fields: [conllu.FieldCount]string{
		conllu.Form: form, conllu.Lemma: lemma, conllu.UPOS: upos, conllu.XPOS: "_", conllu.Feats: feats, conllu.Deps: "_", conllu.Misc: "_",
	}})
	return len(s.Words) - 1
}

func (s *drawnSentence) hang(k, head int, relation string) {
	s.Words[k].Fields[conllu.Head], s.Words[k].Fields[conllu.Deprel] = fmt.Sprint(head+1), relation
}

// noun adds a noun with its article, and returns its number.
func (s *drawnSentence) noun() int {
	n := drawnNouns[s.rng.IntN(len(drawnNouns))]
	if s.rng.IntN(4) == 0 {
		d := s.word("des", "un", "DET", "Number=Plur")
		k := s.word(n[0]+"s", n[0], "NOUN", "Number=Plur")
		s.hang(d, k, "det")
		return k
	}
	d := s.word(n[1], "le", "DET", "Number=Sing")
	k := s.word(n[0], n[0], "NOUN", "Number=Sing")
	s.hang(d, k, "det")
	return k
}

// attribute adds a noun behind a token of two words.
func (s *drawnSentence) attribute(head int) {
	n := drawnNouns[s.rng.IntN(5)]
	type contraction struct{ form, first, second, number string }
	all := []contraction{{"du", "de", "le", "Sing"}, {"aux", "à", "les", "Plur"}, {"des", "de", "les", "Plur"}}
	c := all[s.rng.IntN(3)]
	a := s.hidden(c.first, c.first, "ADP", "_")
	b := s.hidden(c.second, "le", "DET", "Number="+c.number)
	s.Tokens = append(s.Tokens, conllu.Token{Form: c.form, Misc: "_", First: a, Last: b, Multi: true})
	form := n[0]
	if c.number == "Plur" {
		form += "s"
	}
	k := s.word(form, n[0], "NOUN", "Number="+c.number)
	s.hang(a, k, "case")
	s.hang(b, k, "det")
	s.hang(k, head, "nmod")
}

func drawSentence(rng *rand.Rand, number int) conllu.Sentence {
	s := &drawnSentence{rng: rng}
	if number%5 == 0 {
		s.Comments = append(s.Comments, "# newpar")
	}
	s.Comments = append(s.Comments, fmt.Sprintf("# sent_id = %d", number+1))
	quoted := rng.IntN(5) == 0 // then » ends the sentence, and the point before it does not
	if quoted {
		s.word("«", "«", "PUNCT", "_")
	}
	opening := len(s.Tokens)
	clause := -1
	if rng.IntN(4) == 0 {
		c := s.word("C'", "ce", "PRON", "_")
		clause = s.word("est", "être", "VERB", "_")
		s.word("qu'", "que", "SCONJ", "_")
		s.hang(c, clause, "nsubj")
		s.hang(clause, -1, "root")
	}
	var subject int
	switch k := rng.IntN(3); {
	case clause >= 0 || k == 0:
		subject = s.word("il", "il", "PRON", "Number=Sing")
	case k == 1:
		title := s.word("M.", "monsieur", "NOUN", "_")
		subject = s.word("Durand", "Durand", "PROPN", "_")
		s.hang(title, subject, "nmod")
	default:
		subject = s.noun()
	}
	negated := -1
	v := drawnVerbs[rng.IntN(len(drawnVerbs))]
	if rng.IntN(3) == 0 && strings.ContainsAny(v[0][:1], "ao") {
		negated = s.word("n'", "ne", "ADV", "_")
	}
	verb := s.word(v[0], v[1], "VERB", "Number=Sing")
	s.hang(subject, verb, "nsubj")
	if negated >= 0 {
		s.hang(negated, verb, "advmod")
		s.hang(s.word("pas", "pas", "ADV", "_"), verb, "advmod")
	}
	object := s.noun()
	s.hang(object, verb, "obj")
	if rng.IntN(2) == 0 {
		s.attribute(object)
	}
	root := verb
	if clause >= 0 {
		s.hang(clause+1, verb, "mark")
		s.hang(verb, clause, "ccomp")
		root = clause
	} else {
		s.hang(verb, -1, "root")
	}
	s.Tokens[len(s.Tokens)-1].Misc = "SpaceAfter=No"
	last := s.Tokens[len(s.Tokens)-1]
	if !last.Multi {
		s.Words[last.Last].Fields[conllu.Misc] = "SpaceAfter=No"
	}
	s.hang(s.word([]string{".", ".", "!", "?"}[rng.IntN(4)], "", "PUNCT", "_"), root, "punct")
	end := &s.Words[len(s.Words)-1].Fields
	end[conllu.Lemma] = end[conllu.Form]
	if quoted {
		s.hang(0, root, "punct")
		s.hang(s.word("»", "»", "PUNCT", "_"), root, "punct")
	}
	first := &s.Tokens[opening]
	first.Form = strings.ToUpper(first.Form[:1]) + first.Form[1:]
	s.Words[first.First].Fields[conllu.Form] = first.Form
	return s.Sentence
}

// drawTreebank draws a treebank and returns its sentences and its file.
func drawTreebank(t *testing.T, seed uint64, n int) ([]conllu.Sentence, string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var all []conllu.Sentence
	var text []byte
	for k := range n {
		s := drawSentence(rng, k)
		text = s.Append(text)
		all = append(all, s)
	}
	return all, write(t, fmt.Sprintf("bank%d.conllu", seed), string(text))
}
