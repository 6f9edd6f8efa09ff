package text

import (
	"slices"
	"sync"

	"github.com/dsp-go/dsp/structured"
)

// crfsuiteJoin joins the parts of a file into one data set.
type crfsuiteJoin struct {
	CRFsuite
	d          *structured.Dataset
	parts      []*crfsuitePart
	counts     []int64             // how often each attribute occurs, if a minimum is set
	labels     []int32             // [ΣT] indices into seen
	labelNames structured.Alphabet // labels, in order of first occurrence
}

// add appends a part.
func (j *crfsuiteJoin) add(p *crfsuitePart) error {
	d, positions := j.d, len(j.labels)
	number := make([]int32, len(p.labels))
	for k, label := range p.labels {
		number[k] = j.labelNames.Intern(label)
	}
	for _, k := range p.gold {
		j.labels = append(j.labels, number[k])
	}
	if p.weights != nil && d.Weights == nil {
		d.Weights = []float64{}
	}
	if d.Weights != nil {
		d.Weights = padded(d.Weights, d.Len())
		d.Weights = padded(append(d.Weights, p.weights...), d.Len()+len(p.ends))
	}
	for _, end := range p.ends {
		d.Offsets = append(d.Offsets, positions+end)
	}
	d.Lines = append(d.Lines, p.lines...)
	if p.names != nil {
		j.number(p)
	}
	p.gold, p.labels, p.ends, p.lines = nil, nil, nil, nil
	j.parts = append(j.parts, p)
	return nil
}

// padded appends ones until there are n weights.
func padded(weights []float64, n int) []float64 {
	for len(weights) < n {
		weights = append(weights, 1)
	}
	return weights
}

// number translates the names of a part into numbers of the dictionary.
func (j *crfsuiteJoin) number(p *crfsuitePart) {
	p.number = make([]int32, len(p.names))
	for k, name := range p.names {
		p.number[k] = j.d.Dictionary.Node.Intern(name)
	}
	p.names = nil
	if p.counts == nil {
		return
	}
	for k, n := range p.number {
		if int(n) == len(j.counts) {
			j.counts = append(j.counts, 0)
		}
		j.counts[n] += int64(p.counts[k])
	}
}

// finish gives labels and attributes their final numbers.
func (j *crfsuiteJoin) finish() {
	d := j.d
	if names := j.labelNames.Names(); len(names) > 1 || names[0] != "" {
		column := make([]string, len(j.labels))
		for t, k := range j.labels {
			column[t] = names[k]
		}
		d.Columns, d.ColumnNames = [][]string{column}, []string{LabelColumn}
	}
	if !j.Unlabeled {
		if d.Alphabet == nil {
			d.Alphabet = structured.NewAlphabet(slices.Sorted(slices.Values(j.labelNames.Names()))...)
		}
		d.Labels = j.labels
		for t, k := range d.Labels {
			d.Labels[t] = d.Alphabet.Index(j.labelNames.Name(k))
		}
	}
	if j.counts != nil {
		j.leaveOutRare()
	}
	rows := make([]*structured.Sparse, len(j.parts))
	var running sync.WaitGroup
	for k, p := range j.parts {
		rows[k] = &p.rows
		if j.Dictionary == nil && p.number != nil {
			running.Go(func() { p.rows.Renumber(p.number) })
		}
	}
	running.Wait()
	j.parts = nil
	d.Attributes = structured.JoinSparse(rows)
}

// leaveOutRare removes attributes that occur fewer than MinCount times from the dictionary.
func (j *crfsuiteJoin) leaveOutRare() {
	all, kept := j.d.Dictionary.Node, structured.NewAlphabet()
	number := make([]int32, all.Len())
	for k, name := range all.Names() {
		number[k] = -1
		if j.counts[k] >= int64(j.MinCount) {
			number[k] = kept.Add(name)
		}
	}
	for _, p := range j.parts {
		for k, n := range p.number {
			p.number[k] = number[n]
		}
	}
	j.d.Dictionary.Node = kept
}

// each calls Each with the sequences of a block, unless there are none. Without hashing their attributes are numbered
// by a dictionary of their own.
func (c CRFsuite) each(p *crfsuitePart, name string) error {
	if len(p.ends) == 0 {
		return nil
	}
	d := &structured.Dataset{Name: name, Alphabet: c.Alphabet, Dictionary: c.Dictionary, Offsets: []int{0}}
	if d.Dictionary == nil {
		d.Dictionary = &structured.Dictionary{HashBits: c.HashBits}
		if c.HashBits == 0 {
			d.Dictionary.Node = structured.NewAlphabet()
		}
	}
	j := &crfsuiteJoin{CRFsuite: c, d: d}
	if err := j.add(p); err != nil {
		return err
	}
	j.finish()
	return c.Each(d)
}
