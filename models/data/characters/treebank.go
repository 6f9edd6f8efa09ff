package characters

import (
	"strings"

	"github.com/dsp-go/dsp/models/data/conllu"
)

// Text returns the text of sentences: one space between them, or none where SpaceAfter=No says so, and an empty line
// where a paragraph or a document begins. That is the raw text of the CoNLL 2018 shared task, but for its line breaks.
func Text(sentences []conllu.Sentence) string {
	var text strings.Builder
	for k, p := range paragraphs(sentences) {
		if k > 0 {
			text.WriteString("\n\n")
		}
		text.WriteString(textOf(p))
	}
	if text.Len() > 0 {
		text.WriteByte('\n')
	}
	return text.String()
}

// paragraphs parts sentences where paragraphs begin.
func paragraphs(sentences []conllu.Sentence) [][]conllu.Sentence {
	var all [][]conllu.Sentence
	from := 0
	for k := range sentences {
		if k > from && sentences[k].Begins() {
			all = append(all, sentences[from:k])
			from = k
		}
	}
	if from < len(sentences) {
		all = append(all, sentences[from:])
	}
	return all
}

// textOf returns the text of a paragraph.
func textOf(sentences []conllu.Sentence) string {
	var text strings.Builder
	for k := range sentences {
		s := &sentences[k]
		text.WriteString(s.Text())
		if last := len(s.Tokens) - 1; k+1 < len(sentences) && s.Tokens[last].SpaceAfter() {
			text.WriteByte(' ')
		}
	}
	return text.String()
}

// Chain is training data: the rows of some whole sentences, and the label of each.
type Chain struct {
	Rows   [][]string // as Rows returns them
	Labels []string
}

// longestChain is how many characters a chain has at least before it is cut behind a sentence. Paragraphs may be as
// long as a book.
const longestChain = 1000

// Chains returns the characters of a treebank with their labels.
func Chains(sentences []conllu.Sentence) []Chain {
	var all []Chain
	for _, p := range paragraphs(sentences) {
		rows := Rows(textOf(p))
		labels := make([]string, 0, len(rows[0]))
		from := 0
		cut := func() {
			c := Chain{Labels: labels[from:], Rows: make([][]string, len(rows))}
			for k := range rows {
				c.Rows[k] = rows[k][from:len(labels)]
			}
			all = append(all, c)
			from = len(labels)
		}
		for k := range p {
			labels = appendLabels(labels, &p[k])
			if len(labels)-from >= longestChain {
				cut()
			}
		}
		if from < len(labels) {
			cut()
		}
	}
	return all
}

// appendLabels appends the labels of the visible characters of a sentence. Tokens without any have none.
func appendLabels(labels []string, s *conllu.Sentence) []string {
	begun := len(labels)
	for _, t := range s.Tokens {
		first := len(labels)
		for _, r := range t.Form {
			if visible(r) {
				labels = append(labels, Inside)
			}
		}
		switch {
		case len(labels) == first:
		case t.Multi:
			labels[len(labels)-1] = Multiword
		default:
			labels[len(labels)-1] = End
		}
	}
	if last := len(labels) - 1; last >= begun {
		switch labels[last] {
		case Multiword:
			labels[last] = MultiwordSentence
		case End:
			labels[last] = SentenceEnd
		}
	}
	return labels
}
