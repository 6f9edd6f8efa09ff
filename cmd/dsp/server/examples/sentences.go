package examples

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/brackets"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/data/treebank"
	"github.com/dsp-go/dsp/models/inputs"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/constituents"
)

// sentences reads sentences to parse: the word, lemma, upos, xpos and feats of each word.
type sentences struct {
	columns []inputs.Column
	pieces  pieceCounter
	names   *structured.Alphabet // of the relations
	limits  Limits
	split   tokens.Splitter

	constituents bool // trees of constituents are to be found, not dependency trees
}

func newSentences(m *models.Model, columns []inputs.Column, limits Limits, split tokens.Splitter) *sentences {
	_, spans := m.Net.Form().Structure.(constituents.Tree)
	return &sentences{untagged(m, columns), counterOf(m), m.Labels, limits, split, spans}
}

// treeColumns are the columns of CoNLL-U that hold what an object has, and their places in a line.
var treeColumns = map[string]int{"word": treebank.Form, "lemma": treebank.Lemma, "upos": treebank.UPOS, "xpos": treebank.XPOS, "feats": treebank.Feats}

// Inputs implements Reader.
func (r *sentences) Inputs() []Input {
	var all []Input
	for _, c := range r.columns {
		if c.Read {
			all = append(all, Input{Name: c.Name, Kind: Strings})
		}
	}
	return all
}

// reads reports whether the model reads a column.
func (r *sentences) reads(name string) bool {
	return slices.Contains(r.columns, inputs.Column{Name: name, Read: true})
}

// Sample implements Reader.
func (r *sentences) Sample() string {
	if !r.reads("upos") {
		return `{"words": ["Dogs", "bark"]}`
	}
	return `{"words": ["Dogs", "bark"], "pos": ["NOUN", "VERB"]}`
}

// Example implements Reader. Columns other than the words and their UPOS may be missing; they count as _, nothing.
func (r *sentences) Example(o *Object) (Example, error) {
	if err := o.only(r.Sample(), "words", "pos", "columns", "text"); err != nil {
		return Example{}, err
	}
	columns, split, err := o.texts(r.split, r.Sample())
	if r.reads("upos") && errors.Is(err, ErrNoWords) {
		return Example{}, o.missing("pos", r.Sample())
	}
	if err != nil {
		return Example{}, err
	}
	if tags, ok := columns["pos"]; ok {
		if columns["upos"] != nil {
			return Example{}, structured.BadInput("pos and upos are two names of one column; give one of them")
		}
		columns["upos"] = tags
		delete(columns, "pos")
	}
	for _, name := range sortedKeys(columns) {
		if _, ok := treeColumns[name]; !ok {
			return Example{}, structured.BadInput("column %s is not one of the model's; expected word, lemma, upos (or pos), xpos, feats", name)
		}
		for t, cell := range columns[name] {
			if strings.ContainsAny(cell, "\t\n\r") {
				return Example{}, structured.BadInput("column %s: cell %d has a tab or the end of a line", name, t)
			}
		}
	}
	if columns["word"] == nil {
		return Example{}, o.missing("words", r.Sample())
	}
	if columns["upos"] == nil && r.reads("upos") {
		return Example{}, o.missing("pos", r.Sample())
	}
	n := len(columns["word"])
	if err := most(n, min(r.limits.Square, r.limits.Positions), "words"); err != nil {
		return Example{}, err
	}
	if err := mostPieces(r.pieces, columns["word"], r.limits); err != nil {
		return Example{}, err
	}
	e := o.example(n, sentence(columns, n))
	e.Tokens = split
	return e, nil
}

// sentence returns a sentence of n words in CoNLL-U.
func sentence(columns map[string][]string, n int) []byte {
	var text []byte
	fields := make([]string, treebank.ColumnCount)
	for t := range n {
		for k := range fields {
			fields[k] = "_"
		}
		fields[treebank.ID] = strconv.Itoa(t + 1)
		for name, cells := range columns {
			fields[treeColumns[name]] = cells[t]
		}
		text = append(text, strings.Join(fields, "\t")...)
		text = append(text, '\n')
	}
	return append(text, '\n')
}

// Dataset implements Reader.
func (r *sentences) Dataset(all []Example) (*structured.Dataset, error) {
	b, err := treebank.Reader{Names: r.names, Unlabeled: true, Threads: 1}.Read(bytes.NewReader(joined(all)), dataName)
	if err != nil {
		return nil, err
	}
	d := b.Dataset()
	if r.constituents {
		d = brackets.Sentences(func(yield func(words, tags []string) bool) {
			for i := range b.Len() {
				if !yield(b.Column(i, treebank.Form), b.Column(i, treebank.UPOS)) {
					return
				}
			}
		})
		d.Alphabet = r.names
	}
	d.Ranges = ranges(all)
	return named(d, all), nil
}
