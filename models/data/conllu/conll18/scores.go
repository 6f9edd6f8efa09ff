// Package conll18 compares treebanks whose tokens, words and sentences may differ, as the shared task of CoNLL 2018
// does: words are aligned by the characters of the text, and every measure is an F1 of aligned words. The rules are
// those of https://universaldependencies.org/conll18/evaluation.html.
package conll18

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/structured"
)

// contentRelations are the relations of content words, without their subtypes; those of function words are
// functionRelations.
var (
	contentRelations = set("nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod " +
		"appos nummod acl amod " +
		"conj fixed flat compound list parataxis orphan goeswith reparandum root dep")
	functionRelations = set("aux cop mark det clf case cc")
	universalFeatures = set("PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree " +
		"VerbForm Mood Tense Aspect " +
		"Voice Evident Polarity Person Polite")
)

func set(names string) map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		all[name] = true
	}
	return all
}

// universal returns the universal features of a list, sorted.
func universal(feats string) string {
	if feats == conllu.Empty {
		return feats
	}
	kept := slices.DeleteFunc(strings.Split(feats, "|"), func(item string) bool {
		name, _, _ := strings.Cut(item, "=")
		return !universalFeatures[name]
	})
	slices.Sort(kept)
	if len(kept) == 0 {
		return conllu.Empty
	}
	return strings.Join(kept, "|")
}

// headOf reads a head; 0 is the root.
func headOf(field string, words int) (int, error) {
	head, err := strconv.Atoi(field)
	if err != nil || head < 0 || head > words {
		return 0, fmt.Errorf("expected 0 to %d", words)
	}
	return head, nil
}

// Score counts what a measure is about.
type Score struct {
	Correct, Gold, System int
	Aligned               int // words that are aligned; 0 for tokens, sentences and words
}

// Precision is the share of what the system found that is right.
func (s Score) Precision() float64 { return share(s.Correct, s.System) }

// Recall is the share of what is in the gold file that was found.
func (s Score) Recall() float64 { return share(s.Correct, s.Gold) }

// F1 is the harmonic mean of precision and recall.
func (s Score) F1() float64 { return share(2*s.Correct, s.System+s.Gold) }

// alignedAccuracy is the share of aligned words that are right: what is left of the measure where words are found.
func (s Score) alignedAccuracy() float64 { return share(s.Correct, s.Aligned) }

func share(part, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// Names are the names of the measures, in the order of Scores.
var Names = []string{"tokens", "sentences", "words", "upos", "xpos", "ufeats", "alltags", "lemmas", "uas",
	"las", "clas", "mlas", "blex"}

// titles are the names as the shared task has them.
var titles = []string{"Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS",
	"LAS", "CLAS", "MLAS", "BLEX"}

// Scores are the measures of a system, one for each of Names.
type Scores []Score

// Evaluate compares a system's sentences with the gold ones; the names are for messages. What the script of the shared
// task refuses is bad input: tokens without characters, heads that are no tree with one root, and files with different
// characters.
func Evaluate(gold []conllu.Sentence, goldName string, system []conllu.Sentence, systemName string) (Scores, error) {
	g, s, err := readBoth(gold, goldName, system, systemName)
	if err != nil {
		return nil, err
	}
	align(g.words, s.words)
	return scores(g, s), nil
}

// readBoth reads two files with the same text.
func readBoth(gold []conllu.Sentence, goldName string, system []conllu.Sentence, systemName string) (g, s *file, err error) {
	if g, err = newFile(gold, goldName); err != nil {
		return nil, nil, err
	}
	if s, err = newFile(system, systemName); err != nil {
		return nil, nil, err
	}
	if !slices.Equal(g.characters, s.characters) {
		return nil, nil, differ(g, s, goldName, systemName)
	}
	return g, s, nil
}

// scores counts what two files, or parts of them, have. Their words are aligned.
func scores(g, s *file) Scores {
	aligned := 0
	for _, w := range s.words {
		if w.partner != nil {
			aligned++
		}
	}
	all := Scores{same(g.tokens, s.tokens), same(g.sentences, s.sentences), {Correct: aligned, Gold: len(g.words), System: len(s.words)}}
	any := func(*word) bool { return true }
	content := func(w *word) bool { return w.content }
	for _, m := range []struct {
		of    func(w *word) bool
		equal func(g, s *word) bool
	}{
		{any, func(g, s *word) bool { return g.upos == s.upos }},
		{any, func(g, s *word) bool { return g.xpos == s.xpos }},
		{any, func(g, s *word) bool { return g.feats == s.feats }},
		{any, func(g, s *word) bool { return g.upos == s.upos && g.xpos == s.xpos && g.feats == s.feats }},
		{any, sameLemma},
		{any, sameHead},
		{any, attached},
		{content, attached},
		{content, func(g, s *word) bool {
			return attached(g, s) && g.upos == s.upos && g.feats == s.feats &&
				slices.EqualFunc(g.functions, s.functions, sameFunction)
		}},
		{content, func(g, s *word) bool { return attached(g, s) && sameLemma(g, s) }},
	} {
		all = append(all, count(g.words, s.words, m.of, m.equal))
	}
	return all
}

// Title returns the name of measure k of Names as the shared task has it.
func Title(k int) string { return titles[k] }

// same counts equal spans.
func same(gold, system []span) Score {
	score := Score{Gold: len(gold), System: len(system)}
	for g, s := 0, 0; g < len(gold) && s < len(system); {
		switch {
		case gold[g] == system[s]:
			score.Correct++
			g, s = g+1, s+1
		case system[s].start < gold[g].start:
			s++
		case gold[g].start < system[s].start:
			g++
		default:
			g, s = g+1, s+1
		}
	}
	return score
}

// count counts the aligned words that are equal. Which words a measure is of is asked of the gold word where there are
// both.
func count(gold, system []*word, of func(w *word) bool, equal func(g, s *word) bool) Score {
	var score Score
	for _, g := range gold {
		if of(g) {
			score.Gold++
		}
	}
	for _, s := range system {
		if of(s) {
			score.System++
		}
		if g := s.partner; g != nil && of(g) {
			score.Aligned++
			if equal(g, s) {
				score.Correct++
			}
		}
	}
	return score
}

// sameLemma reports whether lemmas are equal. A gold lemma that is not given accepts any.
func sameLemma(g, s *word) bool { return g.lemma == conllu.Empty || g.lemma == s.lemma }

// sameHead reports whether the head of a system's word is aligned with the head of its gold word; both may be the root.
func sameHead(g, s *word) bool {
	if g.head == nil || s.head == nil {
		return g.head == s.head
	}
	return s.head.partner == g.head
}

// attached reports whether heads and relations agree.
func attached(g, s *word) bool { return sameHead(g, s) && g.relation == s.relation }

// sameFunction compares function words of two words.
func sameFunction(g, s *word) bool {
	return s.partner == g && g.relation == s.relation && g.upos == s.upos && g.feats == s.feats
}

// differ is the error that two files have different text.
func differ(g, s *file, goldName, systemName string) error {
	k := 0
	for k < len(g.characters) && k < len(s.characters) && g.characters[k] == s.characters[k] {
		k++
	}
	const shown = 20
	piece := func(all []rune) string { return string(all[k:min(len(all), k+shown)]) }
	return structured.BadInput("%s and %s have different texts: behind %d characters that are no blanks there is %q in "+
		"one and %q in the other; words are aligned by characters, which must agree",
		goldName, systemName, k, piece(g.characters), piece(s.characters))
}

// Get returns the score of a measure, by its name; zeros if there is none.
func (s Scores) Get(name string) Score {
	if k := slices.Index(Names, name); k >= 0 && k < len(s) {
		return s[k]
	}
	return Score{}
}

// MarshalJSON implements json.Marshaler: the F1 of each measure under its name, and all of it under "scores". Shares
// are fractions of 1.
func (s Scores) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("null"), nil
	}
	all, whole := map[string]any{}, map[string]any{}
	for k, score := range s {
		all[Names[k]] = score.F1()
		m := map[string]any{
			"precision": score.Precision(), "recall": score.Recall(), "f1": score.F1(), "correct": score.Correct,
			"gold": score.Gold, "system": score.System,
		}
		if score.Aligned > 0 {
			m["aligned"] = score.alignedAccuracy()
		}
		whole[Names[k]] = m
	}
	all["scores"] = whole
	return json.Marshal(all)
}

// Table returns the scores as text: precision, recall, F1 and the accuracy of aligned words, in per cent.
func (s Scores) Table() string {
	var text strings.Builder
	text.WriteString("measure     precision  recall      F1  aligned\n")
	for k, score := range s {
		fmt.Fprintf(&text, "%-10s  %9.2f %7.2f %7.2f", titles[k], 100*score.Precision(), 100*score.Recall(), 100*score.F1())
		if score.Aligned > 0 {
			fmt.Fprintf(&text, "  %7.2f", 100*score.alignedAccuracy())
		}
		text.WriteByte('\n')
	}
	return text.String()
}
