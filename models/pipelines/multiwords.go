package pipelines

import (
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/edits"
)

// multiword is a token of several words, or one that may be.
type multiword struct {
	sentence, token int
}

// multiwords lists the tokens that are marked as tokens of several words.
func multiwords(sentences []conllu.Sentence) []multiword {
	var all []multiword
	for i := range sentences {
		for k := range sentences[i].Tokens {
			if sentences[i].Tokens[k].Multi {
				all = append(all, multiword{i, k})
			}
		}
	}
	return all
}

// seldom is among how many tokens of a form one has several words at least, if all of them are asked about. Where fewer
// have, such as those of their that stand for they're, they are slips.
const seldom = 20

// severalWords collects the forms, in lower case, of tokens that may be of several words.
func severalWords(gold []conllu.Sentence) map[string]bool {
	several, one := map[string]int{}, map[string]int{}
	for i := range gold {
		for _, t := range gold[i].Tokens {
			if key := keyOf(&t); t.Multi {
				several[key]++
			} else {
				one[key]++
			}
		}
	}
	all := map[string]bool{}
	for form, n := range several {
		if one[form]+n <= seldom*n {
			all[form] = true
		}
	}
	return all
}

func keyOf(t *conllu.Token) string { return strings.ToLower(characters.Seen(t.Form)) }

// ask returns sentences in which every token whose form may be of several words is marked so: what characters cannot
// say, because it depends on the words around, or misses, as in jusqu'aux where no sentence of the treebank has it, the
// stage of words decides.
func ask(sentences []conllu.Sentence, forms map[string]bool) []conllu.Sentence {
	all := slices.Clone(sentences)
	for i := range all {
		all[i].Tokens = slices.Clone(all[i].Tokens)
		for k := range all[i].Tokens {
			t := &all[i].Tokens[k]
			t.Multi = t.Multi || forms[keyOf(t)]
		}
	}
	return all
}

// multiwordTable makes the table of the tokens that are marked as tokens of several words, each a sequence of its own,
// with its neighbours. The labels are the rules that make its words; asWritten where it is one.
func multiwordTable(sentences []conllu.Sentence, rules *edits.Rules) *table {
	t := newTable("word", "previous", "next", "previous2", "next2")
	for _, m := range multiwords(sentences) {
		s := &sentences[m.sentence]
		token := func(k int) string {
			if k < 0 || k >= len(s.Tokens) {
				return conllu.Empty
			}
			return characters.Seen(s.Tokens[k].Form)
		}
		word := token(m.token)
		t.add(word, token(m.token-1), token(m.token+1), token(m.token-2), token(m.token+2))
		t.end()
		switch words := forms(s, m.token); {
		case rules == nil:
		case len(words) == 1:
			t.labels = append(t.labels, asWritten)
		default:
			t.labels = append(t.labels, rules.Of(word, words).String())
		}
	}
	return t
}

// forms returns the forms of the words of a token.
func forms(s *conllu.Sentence, token int) []string {
	var all []string
	for k := s.Tokens[token].First; k <= s.Tokens[token].Last && k < len(s.Words); k++ {
		all = append(all, characters.Seen(s.Words[k].Fields[conllu.Form]))
	}
	return all
}

// rulesOf chooses what makes the words of tokens.
func rulesOf(gold []conllu.Sentence) *edits.Rules {
	rules := &edits.Rules{}
	for _, m := range multiwords(gold) {
		s := &gold[m.sentence]
		rules.Add(characters.Seen(s.Tokens[m.token].Form), forms(s, m.token))
	}
	return rules
}
