package sentences

import (
	_ "embed"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

// The grammar of the generated text. Its first lines explain the notation.
//
//go:embed sentences.txt
var sentencesText string

var sentenceGrammar = sync.OnceValue(func() grammar { return parseGrammar(sentencesText) })

// A grammar is a weighted context-free grammar whose terminals are words with parts of speech and entities.
type grammar map[string]*grammarSymbol

// grammarSymbol lists the expansions of a symbol; one of weight n is listed n times.
type grammarSymbol struct{ ways [][]grammarItem }

// A grammarItem is a symbol, a word, or the beginning or end of an entity.
type grammarItem struct {
	kind  itemKind
	text  string // the symbol, the word, or the entity's type
	pos   string // of the word
	maybe bool   // omitted half the time
}

type itemKind int

const (
	symbolItem itemKind = iota
	wordItem
	entityItem // begins
	endItem
)

// A taggedToken is one line of a tagged sentence.
type taggedToken struct{ word, pos, label string }

// parseGrammar parses the notation of sentences.txt. It does not check it: the file is embedded.
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

// sentenceWriter expands symbols of a grammar into tokens.
type sentenceWriter struct {
	grammar grammar
	names   map[string]*WordSampler // symbols that expand to names
	rng     *rand.Rand
	tokens  []taggedToken
	label   string // label of the next token
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

// add appends a token with its IOB2 label: B for the first token of an entity, I for the others.
func (w *sentenceWriter) add(word, pos string) {
	w.tokens = append(w.tokens, taggedToken{word, pos, w.label})
	if typ, ok := strings.CutPrefix(w.label, "B-"); ok {
		w.label = "I-" + typ
	}
}
