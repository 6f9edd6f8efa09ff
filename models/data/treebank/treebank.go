// Package treebank reads and writes dependency trees in CoNLL-U and makes data sets of them.
package treebank

import (
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// The ten columns of CoNLL-U.
const (
	ID = iota
	Form
	Lemma
	UPOS
	XPOS
	Feats
	Head
	Deprel
	Deps
	Misc
	ColumnCount
)

var columnNames = []string{"id", "word", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"}

// Treebank holds sentences with their trees.
type Treebank struct {
	// Data has the ten columns under their names, and the lines around them: comments, multiword tokens and empty
	// nodes.
	Data *structured.Dataset

	Heads     []int32              // [ΣT] counted from the start of each sentence, or nil if the trees are unknown
	Relations []int32              // [ΣT] indices into Names, or nil if the trees are unknown
	Names     *structured.Alphabet // relation names
}

// Len returns the number of sentences.
func (b *Treebank) Len() int { return b.Data.Len() }

// Tree returns the gold tree of sentence i, or a tree without words if it is unknown. It shares memory with b.
func (b *Treebank) Tree(i int) trees.Tree {
	switch {
	case b.Data.Outputs != nil && b.Data.Labels != nil: // Data comes from Dataset
		return trees.FromOutput(b.Data.Gold(i))
	case b.Heads == nil:
		return trees.Tree{}
	}
	from, to := b.Data.Offsets[i], b.Data.Offsets[i+1]
	return trees.Tree{Heads: b.Heads[from:to:to], Relations: b.Relations[from:to:to]}
}

// Column returns a column (Form, UPOS, …) of sentence i. It shares memory with b.
func (b *Treebank) Column(i, column int) []string {
	return b.Data.Columns[column][b.Data.Offsets[i]:b.Data.Offsets[i+1]]
}

// Punctuation returns which words [n] of sentence i are punctuation: those whose UPOS is PUNCT.
func (b *Treebank) Punctuation(i int) []bool {
	tags := b.Column(i, UPOS)
	punctuation := make([]bool, len(tags))
	for t, tag := range tags {
		punctuation[t] = tag == "PUNCT"
	}
	return punctuation
}

// Reader reads treebanks in CoNLL-U.
type Reader struct {
	// Names are the known relations; they keep their numbers, and new ones in the file get the numbers after them. nil
	// means the relations of the file, sorted.
	Names *structured.Alphabet

	// Unlabeled accepts any HEAD and DEPREL, including "_". The treebank still has trees if they are valid throughout
	// the file.
	Unlabeled bool

	Threads int // 0: all cores; the result does not depend on it
	Line    int // number of the first line, if only a part of a file is read; 0 means 1

	Remarks *remarks.Remarks // on sentences; nil refuses bad ones
}

// Read reads a treebank. Errors are structured.BadInput and name the line: lines that are not CoNLL-U and, unless
// Unlabeled, heads that do not form a tree with one root, and missing relations.
func (c Reader) Read(r io.Reader, name string) (*Treebank, error) {
	words := text.Conllu{Label: "deprel", Unlabeled: true, Threads: c.Threads, Line: c.Line, Remarks: c.Remarks}
	if c.Remarks.Skips() && !c.Unlabeled {
		words.CheckTree = func(heads, relations []string) (int, error) {
			_, err := headsOf(nil, heads, relations)
			var fault *trees.NotTree
			if errors.As(err, &fault) {
				return fault.Index, err
			}
			return 0, err
		}
	}
	d, err := words.Read(r, name)
	if err != nil {
		return nil, err
	}
	d.ColumnNames = columnNames
	b := &Treebank{Data: d, Names: c.Names}
	if err := b.readTrees(); err != nil {
		if !c.Unlabeled {
			return nil, err
		}
		b.Heads, b.Relations = nil, nil
	}
	if b.Names == nil {
		b.Names = structured.NewAlphabet()
	}
	return b, nil
}

// readTrees sets Heads, Relations and Names from the columns.
func (b *Treebank) readTrees() error {
	b.Heads = make([]int32, 0, b.Data.Positions())
	for i := range b.Len() {
		var err error
		if b.Heads, err = headsOf(b.Heads, b.Column(i, Head), b.Column(i, Deprel)); err != nil {
			return b.misplaced(i, err)
		}
	}
	b.numberRelations()
	return nil
}

// misplaced adds the line in the file to an error about the heads or relations of sentence i.
func (b *Treebank) misplaced(i int, err error) error {
	if fault, ok := err.(*trees.NotTree); ok {
		return structured.BadInput("%s: %w", b.Data.WhereToken(i, fault.Index), err)
	}
	return err
}

// headsOf appends the heads of a sentence, whose columns HEAD and DEPREL are given, and checks that they are a tree
// with relations.
func headsOf(heads []int32, column, relations []string) ([]int32, error) {
	from := len(heads)
	heads, err := appendHeads(heads, column)
	if err == nil {
		err = trees.Check(heads[from:])
	}
	if err == nil {
		err = checkRelations(relations)
	}
	return heads, err
}

func appendHeads(heads []int32, column []string) ([]int32, error) {
	for t, text := range column {
		h, err := strconv.Atoi(text)
		if err != nil || h < 0 || h > len(column) || strconv.Itoa(h) != text {
			return heads, &trees.NotTree{Index: t, Found: "head " + strconv.Quote(text) + " of word " + strconv.Itoa(t+1),
				Expected: trees.HeadRange(len(column))}
		}
		heads = append(heads, int32(h))
	}
	return heads, nil
}

func checkRelations(column []string) error {
	if t := slices.Index(column, "_"); t >= 0 {
		return &trees.NotTree{Index: t, Found: `relation "_" of word ` + strconv.Itoa(t+1),
			Expected: "the name of its relation to its head"}
	}
	return nil
}

// numberRelations numbers the column DEPREL by Names, and extends Names with new relations.
func (b *Treebank) numberRelations() {
	column := b.Data.Columns[Deprel]
	b.Relations = make([]int32, len(column))
	var found structured.Alphabet
	for t, name := range column {
		b.Relations[t] = found.Add(name)
	}
	sorted := slices.Sorted(slices.Values(found.Names()))
	if known := b.Names; known == nil || slices.ContainsFunc(sorted, func(name string) bool {
		return known.Index(name) < 0
	}) {
		b.Names = structured.NewAlphabet()
		if known != nil {
			b.Names = structured.NewAlphabet(known.Names()...)
		}
		for _, name := range sorted {
			b.Names.Add(name)
		}
	}
	for t, r := range b.Relations {
		b.Relations[t] = b.Names.Index(found.Name(r))
	}
}

// CrossingCount counts what is not projective in a treebank.
type CrossingCount struct {
	Sentences, Arcs int
	Lifts           int // number of lifts, if the treebank was projectivised
}

// Crossing counts the arcs that are not projective, and the sentences that contain them.
func (b *Treebank) Crossing() CrossingCount {
	var count CrossingCount
	for i := range b.Len() {
		if arcs := trees.Crossing(b.Tree(i).Heads); arcs > 0 {
			count.Sentences++
			count.Arcs += arcs
		}
	}
	return count
}

// Projectivise makes every gold tree projective and returns the counts from before. The columns of the file do not
// change.
func (b *Treebank) Projectivise() CrossingCount {
	var count CrossingCount
	for i := range b.Len() {
		heads := b.Tree(i).Heads
		if arcs := trees.Crossing(heads); arcs > 0 {
			count.Sentences++
			count.Arcs += arcs
			count.Lifts += trees.Projectivise(heads)
		}
	}
	return count
}
