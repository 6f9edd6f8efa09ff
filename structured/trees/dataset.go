package trees

import "github.com/dsp-go/dsp/structured"

// Dataset returns the treebank as data to learn from: its columns, the gold outputs where trees are known, and tables of rows
// for the pairs of words of each sentence, which have no inputs yet. It shares memory with b.
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
	d.Tables = []*structured.Table{{Name: ArcRows, Offsets: rows}, {Name: LabelRows, Offsets: rows}}
	return d
}

// Of returns data that Dataset made as a treebank again, of which the gold trees are those of the data.
func Of(d *structured.Dataset) *Treebank {
	return &Treebank{Data: d, Names: d.Alphabet}
}
