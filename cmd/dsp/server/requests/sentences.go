package requests

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

func (r *sentences) Sample() string {
	if !r.reads("upos") {
		return `{"words": ["Dogs", "bark"]}`
	}
	return `{"words": ["Dogs", "bark"], "pos": ["NOUN", "VERB"]}`
}

// Example implements Reader. Columns other than the words and their UPOS may be missing; they count as _, nothing.
func (r *sentences) Example(o *Object) (Example, error) {
	if beside := r.notKept(o); beside != "" {
		return Example{}, structured.BadInput("found %s, which says nothing of this model's trees; expected %s", beside, r.Known())
	}
	if err := o.only(r); err != nil {
		return Example{}, err
	}
	if o.Tree != nil {
		return r.tree(o)
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
	for _, known := range []struct {
		name, column string
		cells        Cells
	}{{"heads", headColumn, o.Heads}, {"relations", relationColumn, o.Relations}} {
		if known.cells == nil {
			continue
		}
		if err := checkCells(known.name, known.cells, n, "word"); err != nil {
			return Example{}, err
		}
		if t := slices.IndexFunc(known.cells, func(cell string) bool { return strings.ContainsAny(cell, "\t\n\r") }); t >= 0 {
			return Example{}, structured.BadInput("%s[%d] has a tab or the end of a line", known.name, t)
		}
		columns[known.column] = known.cells
	}
	return r.example(o, columns, split, nil)
}

// notKept names a member of an object that says what is known of trees of another kind; empty if there is none.
func (r *sentences) notKept(o *Object) string {
	switch {
	case r.constituents && o.Heads != nil:
		return "heads"
	case r.constituents && o.Relations != nil:
		return "relations"
	case !r.constituents && o.Tree != nil:
		return "tree"
	}
	return ""
}

func (r *sentences) Members() []string {
	members := []string{"words", "pos", "columns", "text"}
	if r.constituents {
		return append(members, "tree")
	}
	return append(members, "heads", "relations")
}

func (r *sentences) Known() string {
	if r.constituents {
		return `a "tree" in brackets in place of words, such as "(_ (NP (DET the) (NOUN dog)) (VERB barks))"`
	}
	return `"heads" or "relations", one for each word, such as [2, "?"]`
}

// tree is Example for an object with a tree of constituents, of which predictions keep the brackets.
func (r *sentences) tree(o *Object) (Example, error) {
	if err := o.alone("tree", `{"tree": "(_ (NP (DET the) (NOUN dog)) (VERB barks))"}`); err != nil {
		return Example{}, err
	}
	var tree *brackets.Node
	err := brackets.Read(strings.NewReader(*o.Tree), "tree", 1, func(read *brackets.Node, _ int) error {
		if tree != nil {
			return structured.BadInput("tree has several trees, expected one")
		}
		if tree = read.Plain(); tree == nil {
			return structured.BadInput("tree: a tree without words")
		}
		return nil
	})
	if err != nil {
		return Example{}, err
	}
	if tree == nil {
		return Example{}, o.missing("tree", r.Sample())
	}
	words, tags := tree.Words(nil, nil)
	return r.example(o, map[string][]string{"word": words, "upos": tags}, nil, tree)
}

// The columns of what is known of a dependency tree.
const headColumn, relationColumn = "head", "deprel"

// example makes an example of columns, with the brackets that are known of its tree or nil.
func (r *sentences) example(o *Object, columns map[string][]string, split []tokens.Token, known *brackets.Node) (Example, error) {
	n := len(columns["word"])
	if err := r.limits.short(n, true, "words"); err != nil {
		return Example{}, err
	}
	e := o.example(n, &parse{sentence(columns, n), known})
	e.Tokens = split
	return e, r.pieces.weigh(&e, columns["word"], r.limits)
}

// parse is the content of an example: its sentence in CoNLL-U, and the brackets that are known of its tree or nil.
type parse struct {
	text  []byte
	known *brackets.Node
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
			switch name {
			case headColumn:
				fields[treebank.Head] = cells[t]
			case relationColumn:
				fields[treebank.Deprel] = cells[t]
			default:
				fields[treeColumns[name]] = cells[t]
			}
		}
		text = append(text, strings.Join(fields, "\t")...)
		text = append(text, '\n')
	}
	return append(text, '\n')
}

// Dataset implements Reader. Of the trees of all examples something is known, or of none.
func (r *sentences) Dataset(all []Example) (*structured.Dataset, error) {
	var text []byte
	var known []*brackets.Node
	for _, e := range all {
		p := e.content.(*parse)
		if text = append(text, p.text...); p.known != nil {
			known = append(known, p.known)
		}
	}
	if known != nil {
		return named(brackets.Dataset(known, r.names), all), nil
	}
	b, err := treebank.Reader{Names: r.names, Unlabeled: true, Threads: 1}.Read(bytes.NewReader(text), dataName)
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
