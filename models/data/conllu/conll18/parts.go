package conll18

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/models/data/conllu"
)

// Part is a stretch of the text between two places where sentences end in both files. Words are aligned in the whole,
// whose counts are the sums of those of its parts.
type Part struct {
	Line     int       `json:"line"` // of its first word in the gold file
	Text     string    `json:"text"`
	Words    int       `json:"words"` // in the gold file
	Mistakes []Mistake `json:"mistakes"`
	Scores   Scores    `json:"-"`
}

// Mistake is a field of a word that the files do not agree on. Gold or System is empty for a word that only one file
// has.
type Mistake struct {
	Word   string `json:"word"`
	Field  string `json:"field"` // word, or that of CoNLL-U; sentences: into how many the part is cut
	Gold   string `json:"gold"`
	System string `json:"predicted"`

	at int // the character where the word begins
}

// Parts compares the parts of two files, as Evaluate does the whole. Mistakes are those of words and sentences, and of
// the fields that has says the system has.
func Parts(gold []conllu.Sentence, goldName string, system []conllu.Sentence, systemName string, has func(field int) bool) ([]Part, error) {
	g, s, err := readBoth(gold, goldName, system, systemName)
	if err != nil {
		return nil, err
	}
	align(g.words, s.words)
	partners := map[*word]*word{}
	for _, w := range s.words {
		if w.partner != nil {
			partners[w.partner] = w
		}
	}
	var all []Part
	var n, m ends // what is in parts
	for k := range g.sentences {
		last := m.sentences + slices.IndexFunc(s.sentences[m.sentences:], func(x span) bool { return x.end >= g.sentences[k].end })
		if s.sentences[last].end != g.sentences[k].end {
			continue
		}
		part := Part{Line: gold[n.sentences].Line}
		for i := n.sentences; i <= k; i++ {
			part.Text = strings.TrimSpace(part.Text + " " + gold[i].Text())
		}
		own, other := g.part(gold, &n, k+1), s.part(system, &m, last+1)
		part.Words, part.Scores, part.Mistakes = len(own.words), scores(own, other), mistakes(own, other, partners, has)
		all = append(all, part)
	}
	return all, nil
}

// ends are how many sentences, tokens and words are in parts.
type ends struct{ sentences, tokens, words int }

// part returns the sentences of a file from an end up to another one, and moves the end there.
func (f *file) part(of []conllu.Sentence, from *ends, to int) *file {
	was := *from
	for ; from.sentences < to; from.sentences++ {
		from.tokens += len(of[from.sentences].Tokens)
		from.words += len(of[from.sentences].Words)
	}
	return &file{sentences: f.sentences[was.sentences:to], tokens: f.tokens[was.tokens:from.tokens], words: f.words[was.words:from.words]}
}

// Wrong returns the parts with mistakes, those with most of them first.
func Wrong(parts []Part) []Part {
	wrong := slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return len(p.Mistakes) == 0 })
	slices.SortStableFunc(wrong, func(a, b Part) int { return cmp.Compare(len(b.Mistakes), len(a.Mistakes)) })
	return wrong
}

// mistakes returns what the words of two files do not agree on, in the order of the text. partners are the system's
// words that gold ones are aligned with.
func mistakes(gold, system *file, partners map[*word]*word, has func(field int) bool) []Mistake {
	all := []Mistake{}
	if n, m := len(gold.sentences), len(system.sentences); n != m {
		all = append(all, Mistake{Field: "sentences", Gold: fmt.Sprint(n), System: fmt.Sprint(m)})
	}
	for _, s := range system.words {
		if s.partner == nil {
			all = append(all, Mistake{Word: s.text, Field: "word", System: s.text, at: s.start})
		}
	}
	for _, g := range gold.words {
		s := partners[g]
		if s == nil {
			all = append(all, Mistake{Word: g.text, Field: "word", Gold: g.text, at: g.start})
			continue
		}
		for _, f := range []struct {
			field        int
			same         bool
			gold, system string
		}{
			{conllu.Lemma, sameLemma(g, s), g.lemma, s.lemma}, {conllu.UPOS, g.upos == s.upos, g.upos, s.upos},
			{conllu.XPOS, g.xpos == s.xpos, g.xpos, s.xpos}, {conllu.Feats, g.feats == s.feats, g.feats, s.feats},
			{conllu.Head, sameHead(g, s), g.headText(), s.headText()}, {conllu.Deprel, g.relation == s.relation, g.relation, s.relation},
		} {
			if !f.same && has(f.field) {
				all = append(all, Mistake{g.text, conllu.FieldNames[f.field], f.gold, f.system, g.start})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Mistake) int { return cmp.Compare(a.at, b.at) })
	return all
}

// headText returns the form of the head, or that there is none.
func (w *word) headText() string {
	if w.head == nil {
		return "(root)"
	}
	return w.head.text
}
