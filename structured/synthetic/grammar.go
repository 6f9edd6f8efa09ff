package synthetic

import (
	_ "embed"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

// The grammar of drawn text. Its head explains the notation.
//
//go:embed sentences.txt
var sentencesText string

var sentenceGrammar = sync.OnceValue(func() grammar { return parseGrammar(sentencesText) })

// A grammar is a context-free grammar, with weights, of words with parts of speech and entities.
type grammar map[string]*grammarSymbol

// grammarSymbol is the ways to write a symbol, a way of weight n n times.
type grammarSymbol struct{ ways [][]grammarItem }

// A grammarItem is a symbol, a word, or where an entity begins or ends.
type grammarItem struct {
	kind  itemKind
	text  string // the symbol, the word, or the entity's type
	pos   string // of the word
	maybe bool   // left out half the time
}

type itemKind int

const (
	symbolItem itemKind = iota
	wordItem
	entityItem // begins
	endItem
)

// A taggedToken is a line of a tagged sentence.
type taggedToken struct{ word, pos, label string }

// parseGrammar reads the notation of sentences.txt, and relies on it.
func parseGrammar(text string) grammar {
	g := grammar{}
	for line := range strings.Lines(text) {
		head, right, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(head, "#") {
			continue
		}
		head, weight, _ := strings.Cut(head, " ")
		name, pos, list := strings.Cut(head, "/")
		s := g[name]
		if s == nil {
			s = &grammarSymbol{}
			g[name] = s
		}
		if list {
			for word := range strings.FieldsSeq(right) {
				s.ways = append(s.ways, []grammarItem{{kind: wordItem, text: word, pos: pos}})
			}
			continue
		}
		var way []grammarItem
		for item := range strings.FieldsSeq(right) {
			way = append(way, parseItem(item))
		}
		times, _ := strconv.Atoi(weight)
		for range max(times, 1) {
			s.ways = append(s.ways, way)
		}
	}
	return g
}

func parseItem(item string) grammarItem {
	if item == "}" {
		return grammarItem{kind: endItem}
	}
	if typ, ok := strings.CutPrefix(item, "{"); ok {
		return grammarItem{kind: entityItem, text: typ}
	}
	text, maybe := strings.CutSuffix(item, "?")
	if symbol, ok := strings.CutPrefix(text, "$"); ok {
		return grammarItem{kind: symbolItem, text: symbol, maybe: maybe}
	}
	slash := strings.LastIndexByte(text, '/')
	return grammarItem{kind: wordItem, text: text[:slash], pos: text[slash+1:], maybe: maybe}
}

// sentenceWriter writes symbols of a grammar.
type sentenceWriter struct {
	grammar grammar
	names   map[string]*WordSampler // symbols whose words are names
	rng     *rand.Rand
	tokens  []taggedToken
	label   string // of the next token
}

func (w *sentenceWriter) write(symbol string) {
	if names := w.names[symbol]; names != nil {
		w.add(names.Draw(w.rng), "PROPN")
		return
	}
	ways := w.grammar[symbol].ways
	for _, item := range ways[w.rng.IntN(len(ways))] {
		if item.maybe && w.rng.IntN(2) == 0 {
			continue
		}
		switch item.kind {
		case symbolItem:
			w.write(item.text)
		case wordItem:
			w.add(item.text, item.pos)
		case entityItem:
			w.label = "B-" + item.text
		case endItem:
			w.label = "O"
		}
	}
}

// add adds a token, in IOB2: only the first one of an entity is B.
func (w *sentenceWriter) add(word, pos string) {
	w.tokens = append(w.tokens, taggedToken{word, pos, w.label})
	if typ, ok := strings.CutPrefix(w.label, "B-"); ok {
		w.label = "I-" + typ
	}
}
