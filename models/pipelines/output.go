package pipelines

import (
	"encoding/json"
	"strconv"

	"github.com/dsp-go/dsp/models/data/conllu"
)

func number(n int) string { return strconv.Itoa(n) }

// The key in MISC for where a token is in its text.
const rangeKey = "TokenRange"

func appendRange(to []byte, start, end int) []byte {
	to = append(to, rangeKey+"="...)
	return strconv.AppendInt(append(strconv.AppendInt(to, int64(start), 10), ':'), int64(end), 10)
}

// AppendSentence appends a sentence of raw text: as an object of JSON on a line, or as CoNLL-U.
func AppendSentence(to []byte, s *conllu.Sentence, id int, asJSON bool) ([]byte, error) {
	if !asJSON {
		return appendSentence(to, s, id), nil
	}
	object, err := MarshalSentence(s, number(id))
	return append(append(to, object...), '\n'), err
}

// appendSentence appends a sentence of raw text as CoNLL-U, with its number and its text in comments.
func appendSentence(to []byte, s *conllu.Sentence, id int) []byte {
	numbered := *s
	numbered.Comments = append(numbered.Comments[:len(s.Comments):len(s.Comments)], "# sent_id = "+number(id),
		"# text = "+s.Text())
	return numbered.Append(to)
}

type sentenceObject struct {
	ID     string        `json:"id"`
	Text   string        `json:"text"`
	Tokens []tokenObject `json:"tokens"`
	Words  []wordObject  `json:"words"`
}

type tokenObject struct {
	Form  string `json:"form"`
	Start *int   `json:"start,omitempty"` // in characters of the text
	End   *int   `json:"end,omitempty"`
	Words [2]int `json:"words"` // the numbers of its first and last word
}

type wordObject struct {
	ID     int    `json:"id"`
	Form   string `json:"form"`
	Lemma  string `json:"lemma"`
	UPOS   string `json:"upos"`
	XPOS   string `json:"xpos"`
	Feats  string `json:"feats"`
	Head   *int   `json:"head"` // null if it is not known
	Deprel string `json:"deprel"`
}

// MarshalSentence returns a sentence as an object of JSON: its text, its tokens with their places, and its words.
func MarshalSentence(s *conllu.Sentence, id string) ([]byte, error) {
	o := sentenceObject{ID: id, Text: s.Text(), Tokens: []tokenObject{}, Words: []wordObject{}}
	for _, t := range s.Tokens {
		x := tokenObject{Form: t.Form, Words: [2]int{t.First + 1, t.Last + 1}}
		x.Start, x.End = rangeOf(t.Misc)
		o.Tokens = append(o.Tokens, x)
	}
	for k := range s.Words {
		f := &s.Words[k].Fields
		w := wordObject{
			ID: k + 1, Form: f[conllu.Form], Lemma: f[conllu.Lemma], UPOS: f[conllu.UPOS], XPOS: f[conllu.XPOS],
			Feats: f[conllu.Feats], Deprel: f[conllu.Deprel],
		}
		if head, err := strconv.Atoi(f[conllu.Head]); err == nil {
			w.Head = &head
		}
		o.Words = append(o.Words, w)
	}
	return json.Marshal(o)
}

// rangeOf reads where a token is in its text; nil where MISC does not say.
func rangeOf(misc string) (start, end *int) {
	value := conllu.Value(misc, rangeKey)
	for k := range value {
		if value[k] != ':' {
			continue
		}
		a, err := strconv.Atoi(value[:k])
		b, err2 := strconv.Atoi(value[k+1:])
		if err == nil && err2 == nil {
			return &a, &b
		}
	}
	return nil, nil
}
