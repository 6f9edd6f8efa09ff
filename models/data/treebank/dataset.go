package treebank

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees"
)

// Dataset returns the treebank as training data: its columns, the gold outputs if trees are known, and tables with one
// row per pair of words of a sentence. The tables have no inputs yet. The data shares memory with b.
func (b *Treebank) Dataset() *structured.Dataset {
	d := b.Data
	outputs, rows := make([]int, len(d.Offsets)), make([]int, len(d.Offsets))
	var gold []int32
	for i := range d.Len() {
		n := d.Length(i)
		outputs[i+1] = 2 * d.Offsets[i+1]
		rows[i+1] = rows[i] + n*n
		if b.Heads != nil {
			gold = append(gold, b.Tree(i).Output()...)
		}
	}
	d.Alphabet, d.Outputs, d.Labels = b.Names, outputs, gold
	d.Tables = []*structured.Table{{Name: trees.ArcRows, Offsets: rows}, {Name: trees.LabelRows, Offsets: rows}}
	return d
}

// Of is the inverse of Dataset: it returns the data as a treebank, with the gold outputs of the data as its trees.
func Of(d *structured.Dataset) *Treebank {
	return &Treebank{Data: d, Names: d.Alphabet}
}

// Renumber numbers the relations of a data set by an alphabet that has all of them.
func Renumber(d *structured.Dataset, by *structured.Alphabet) {
	if d.Alphabet == by {
		return
	}
	number := make([]int32, d.Alphabet.Len())
	for r, name := range d.Alphabet.Names() {
		number[r] = by.Index(name)
	}
	d.Alphabet = by
	if d.Labels == nil {
		return
	}
	for i := range d.Len() {
		for k, r := range trees.FromOutput(d.Gold(i)).Relations {
			trees.FromOutput(d.Gold(i)).Relations[k] = number[r]
		}
	}
}
