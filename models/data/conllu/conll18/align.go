package conll18

import (
	"slices"
	"strings"
	"unicode"

	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// span is a stretch of the characters of a file without blanks (Unicode's category Zs), End exclusive.
type span struct{ start, end int }

// word is a word as the measures see it.
type word struct {
	span                     // of its token
	text, form        string // form is in lower case
	multi             bool   // its token has a line of its own
	lemma, upos, xpos string
	feats             string // the universal ones, sorted
	relation          string // without its subtype
	content           bool   // the relation is one of content words
	head              *word  // nil for a root
	functions         []*word
	partner           *word // of a system's word: the gold word that it is aligned with, or nil
}

// file is what is compared of a file.
type file struct {
	characters        []rune
	tokens, sentences []span
	words             []*word
}

// newFile reads sentences. Tokens without characters, and heads that are no tree, are bad input.
func newFile(sentences []conllu.Sentence, name string) (*file, error) {
	f := &file{}
	for i := range sentences {
		s := &sentences[i]
		begun, first := len(f.characters), len(f.words)
		for _, t := range s.Tokens {
			from := len(f.characters)
			for _, r := range t.Form {
				if !unicode.Is(unicode.Zs, r) {
					f.characters = append(f.characters, r)
				}
			}
			at := span{from, len(f.characters)}
			if at.end == from {
				return nil, structured.BadInput("%s: a token %q in the sentence of line %d has no characters but blanks", name,
					t.Form, s.Line)
			}
			f.tokens = append(f.tokens, at)
			for k := t.First; k <= t.Last; k++ {
				fields := &s.Words[k].Fields
				relation, _, _ := strings.Cut(fields[conllu.Deprel], ":")
				f.words = append(f.words, &word{
					span: at, text: fields[conllu.Form], form: strings.ToLower(fields[conllu.Form]), multi: t.Multi,
					lemma: fields[conllu.Lemma], upos: fields[conllu.UPOS], xpos: fields[conllu.XPOS], feats: universal(fields[conllu.Feats]),
					relation: relation, content: contentRelations[relation],
				})
			}
		}
		f.sentences = append(f.sentences, span{begun, len(f.characters)})
		if err := f.connect(s, f.words[first:], name); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// connect sets the heads of a sentence's words and their function words. Heads that are no tree with one root are bad
// input.
func (f *file) connect(s *conllu.Sentence, words []*word, name string) error {
	heads := make([]int32, len(words))
	for k, w := range words {
		field := s.Words[k].Fields[conllu.Head]
		head, err := headOf(field, len(words))
		if err != nil {
			return structured.BadInput("%s: the sentence of line %d: head %q of word %d, %w", name, s.Line, field, k+1, err)
		}
		if heads[k] = int32(head); head == 0 {
			continue
		}
		w.head = words[head-1]
		if functionRelations[w.relation] {
			w.head.functions = append(w.head.functions, w)
		}
	}
	if err := trees.Check(heads); err != nil {
		return structured.BadInput("%s: the sentence of line %d: %w", name, s.Line, err)
	}
	return nil
}

// align sets the partners of the words of both files.
//
// A word of a token of one word is aligned with a word of the same characters. Tokens of several words may be split in
// other ways and places: a stretch of the text that such tokens cover in either file is compared as a whole, and the
// words inside it are aligned by the longest common subsequence of their forms.
func align(gold, system []*word) {
	pair := func(g, s *word) { s.partner = g }
	for len(gold) > 0 && len(system) > 0 {
		g, s := gold[0], system[0]
		switch {
		case g.multi || s.multi:
			if g.multi && !s.multi && s.start < g.start {
				system = system[1:]
			} else if !g.multi && g.start < s.start {
				gold = gold[1:]
			}
			n, m := stretch(gold, system, g, s)
			subsequence(gold[:n], system[:m], pair)
			gold, system = gold[n:], system[m:]
		case g.span == s.span:
			pair(g, s)
			gold, system = gold[1:], system[1:]
		case g.start <= s.start:
			gold = gold[1:]
		default:
			system = system[1:]
		}
	}
}

// stretch returns how many words of both sides the stretch has that begins with tokens of several words, g or s.
func stretch(gold, system []*word, g, s *word) (n, m int) {
	end := s.end
	if g.multi {
		end = g.end
	}
	inside := func(words []*word, k int) bool {
		switch {
		case k == len(words):
			return false
		case words[k].multi:
			return words[k].start < end
		}
		return words[k].end <= end
	}
	for inside(gold, n) || inside(system, m) {
		var next *word
		if n < len(gold) && (m == len(system) || gold[n].start <= system[m].start) {
			next = gold[n]
			n++
		} else {
			next = system[m]
			m++
		}
		if next.multi {
			end = max(end, next.end)
		}
	}
	return n, m
}

// subsequence pairs words by the longest common subsequence of their forms. Of several, it is the one that pairs early
// words.
func subsequence(gold, system []*word, pair func(g, s *word)) {
	lengths := make([][]int, len(gold)+1) // [g][s]: of the words from there on
	for g := range lengths {
		lengths[g] = make([]int, len(system)+1)
	}
	for g := range slices.Backward(gold) {
		for s := range slices.Backward(system) {
			lengths[g][s] = max(lengths[g+1][s], lengths[g][s+1])
			if gold[g].form == system[s].form {
				lengths[g][s] = max(lengths[g][s], 1+lengths[g+1][s+1])
			}
		}
	}
	for g, s := 0, 0; g < len(gold) && s < len(system); {
		switch {
		case gold[g].form == system[s].form:
			pair(gold[g], system[s])
			g, s = g+1, s+1
		case lengths[g][s] == lengths[g+1][s]:
			g++
		default:
			s++
		}
	}
}
