package dependencies

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dsp-go/dsp/models/data/treebank"
)

// Token is a word of a generated sentence.
type Token struct {
	Form, Lemma, UPOS, XPOS string
	Head                    int // 0 for the root, else the number of a word from 1
	Relation                string
	// written without a space after the previous word, like the n't of don't; the two form a multiword token
	Joined bool
	Tight  bool // no space before the word
}

// Sentence is a generated sentence with its tree.
type Sentence []Token

// Columns returns the ten columns of CoNLL-U for the words, without multiword tokens: Columns()[treebank.Form][t].
func (s Sentence) Columns() [treebank.ColumnCount][]string {
	var columns [treebank.ColumnCount][]string
	for t, k := range s {
		misc := "_"
		if t+1 < len(s) && s[t+1].Tight && !s[t+1].Joined && !k.Joined {
			misc = "SpaceAfter=No"
		}
		for c, field := range [...]string{strconv.Itoa(t + 1), k.Form, k.Lemma, k.UPOS, k.XPOS, "_",
			strconv.Itoa(k.Head), k.Relation, "_", misc} {
			columns[c] = append(columns[c], field)
		}
	}
	return columns
}

// Text returns the sentence as plain text.
func (s Sentence) Text() string {
	var b strings.Builder
	for t, k := range s {
		if t > 0 && !k.Tight && !k.Joined {
			b.WriteByte(' ')
		}
		b.WriteString(k.Form)
	}
	return b.String()
}

// appendConllu appends the sentence in CoNLL-U: its id and text as comments, its words, and a blank line.
func (s Sentence) appendConllu(text []byte, id string) []byte {
	text = append(append(text, "# sent_id = "...), id...)
	text = append(append(text, "\n# text = "...), s.Text()...)
	text = append(text, '\n')
	columns := s.Columns()
	for t := range s {
		if t+1 < len(s) && s[t+1].Joined {
			text = s.appendMultiword(text, t)
		}
		for c := range columns {
			if c > 0 {
				text = append(text, '\t')
			}
			text = append(text, columns[c][t]...)
		}
		text = append(text, '\n')
	}
	return append(text, '\n')
}

// appendMultiword appends the line of the multiword token of words t and t+1.
func (s Sentence) appendMultiword(text []byte, t int) []byte {
	misc := "_"
	if t+2 < len(s) && s[t+2].Tight {
		misc = "SpaceAfter=No"
	}
	fields := []string{strconv.Itoa(t+1) + "-" + strconv.Itoa(t+2), s[t].Form + s[t+1].Form, "_", "_",
		"_", "_", "_", "_", "_", misc}
	return append(append(text, strings.Join(fields, "\t")...), '\n')
}

// A node is a word with its dependents.
type node struct {
	Token
	before, after []*node // dependents on either side, in order
	plural        bool    // a noun phrase that takes a plural verb
	class         string  // the lexicon class of a noun or verb
	clause        bool    // the head of a clause, at the end of which extraposed phrases stand
	extraposed    bool    // it stands at the end of the enclosing clause, not beside its head
}

func word(form, lemma, upos, xpos string) *node {
	return &node{Token: Token{Form: form, Lemma: lemma, UPOS: upos, XPOS: xpos}}
}

// as sets the relation of the node to its head.
func (n *node) as(relation string) *node {
	n.Relation = relation
	return n
}

func comma() *node { return punctuation(",") }

// punctuation returns a punctuation mark, which follows a word without a space.
func punctuation(mark string) *node {
	n := word(mark, mark, "PUNCT", mark).as("punct")
	n.Tight = true
	return n
}

// linear collects words in sentence order.
type linear struct {
	nodes   []*node
	heads   map[*node]*node
	pending []*node // extraposed, of the current clause
}

func (l *linear) add(n *node) {
	waiting := l.pending
	if n.clause {
		l.pending = nil
	}
	l.children(n, n.before)
	l.nodes = append(l.nodes, n)
	l.children(n, n.after)
	if n.clause {
		for len(l.pending) > 0 {
			next := l.pending[0]
			l.pending = l.pending[1:]
			l.add(next)
		}
		l.pending = waiting
	}
}

func (l *linear) children(head *node, all []*node) {
	for _, n := range all {
		l.heads[n] = head
		if n.extraposed {
			l.pending = append(l.pending, n)
			continue
		}
		l.add(n)
	}
}

// linearise turns a clause into a sentence that ends with a mark.
func linearise(root *node, mark string) Sentence {
	l := &linear{heads: map[*node]*node{}}
	l.add(root.as("root"))
	end := punctuation(mark)
	end.XPOS = "."
	l.heads[end] = root
	l.nodes = withoutIdleCommas(append(l.nodes, end))
	numbers := map[*node]int{nil: 0}
	for t, n := range l.nodes {
		numbers[n] = t + 1
	}
	s := make(Sentence, len(l.nodes))
	for t, n := range l.nodes {
		s[t] = n.Token
		s[t].Head = numbers[l.heads[n]]
	}
	for t := range s[1:] {
		if s[t].Lemma == "a" && isVowel(s[t+1].Form[0]) {
			s[t].Form = "an"
		}
	}
	s[0].Form = capitalised(s[0].Form)
	for t := range s[1:] { // an opening quotation mark takes the space before it
		if s[t].XPOS == "``" {
			s[t+1].Tight = true
		}
	}
	if s[0].XPOS == "``" {
		s[1].Form = capitalised(s[1].Form)
	}
	return s
}

// withoutIdleCommas removes commas before another comma or at the end.
func withoutIdleCommas(nodes []*node) []*node {
	var kept []*node
	for t, n := range nodes {
		if n.XPOS == "," && (nodes[t+1].XPOS == "," || t+2 == len(nodes)) {
			continue
		}
		kept = append(kept, n)
	}
	return kept
}

func capitalised(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
