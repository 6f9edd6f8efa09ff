package pairs

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/models/data/alignments"
	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Fit builds the dictionary of the attributes in the training data. An attribute of a word pair that names a word
// counts where the two words are linked, surely or possibly; all others count everywhere. Attributes are numbered by
// falling count, and by name among equal counts.
func (t *Template) Fit(stats *Statistics, train *alignments.Corpus, o templates.Options) (*Dictionary, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	switch {
	case o.HashBits > 0:
		return &Dictionary{&structured.Dictionary{HashBits: o.HashBits}, &structured.Dictionary{HashBits: o.HashBits}}, nil
	case train.Words == nil:
		return nil, structured.BadInput("%s: no words, which attributes of word pairs are made of", train.Name)
	}
	counts := []*census{newCensus(t)} // of the sum, then of each thread
	var mu sync.Mutex
	err := host.Parallel(o.Threads, train.Len(), func() *census {
		mu.Lock()
		defer mu.Unlock()
		counts = append(counts, newCensus(t))
		return counts[len(counts)-1]
	}, func(c *census, i int) error {
		c.add(stats, train, i)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, other := range counts[1:] {
		counts[0].pair.join(&other.pair)
		counts[0].source.join(&other.source)
	}
	return &Dictionary{counts[0].pair.dictionary(o.MinCount), counts[0].source.dictionary(o.MinCount)}, nil
}

// census counts attributes.
type census struct {
	t            *Template
	sentence     sentence
	pair, source tally
	linked       []bool // [n·m] of the current sentence pair
}

// tally counts the attributes of one score.
type tally struct {
	program
	names  structured.Alphabet
	counts []int
}

func newCensus(t *Template) *census {
	c := &census{t: t}
	c.pair.start(t.pairs, nil)
	c.source.start(t.unmatched, nil)
	for _, p := range []*tally{&c.pair, &c.source} {
		for _, table := range p.tables {
			clear(table) // here they count
		}
	}
	return c
}

// add counts the attributes of pair i of a corpus.
func (c *census) add(stats *Statistics, corpus *alignments.Corpus, i int) {
	s := &c.sentence
	s.load(stats, corpus.Source(i), corpus.Target(i), c.t.needs)
	c.linked = append(c.linked[:0], make([]bool, s.n*s.m)...)
	for _, l := range corpus.LinksOf(i) {
		c.linked[int(l.Source)*s.m+int(l.Target)] = true
	}
	for i := range s.n {
		for j := range s.m {
			c.pair.row(s, i, j, c.linked[i*s.m+j])
		}
		c.source.row(s, i, none, true)
	}
}

// row counts the attributes of a row; those of lines with words only if worded is true.
func (a *tally) row(s *sentence, i, j int, worded bool) {
	a.load(s, i, j)
	for k := range a.lines {
		l := &a.lines[k]
		if !l.worded() {
			if cell := a.cell(l); cell >= 0 {
				a.tables[k][cell]++
			}
		} else if worded && a.spell(l, s, i, j) {
			a.count(a.names.AddBytes(a.name), 1)
		}
	}
}

func (a *tally) count(number int32, times int) {
	for len(a.counts) <= int(number) {
		a.counts = append(a.counts, 0)
	}
	a.counts[number] += times
}

// join adds the counts of another tally.
func (a *tally) join(other *tally) {
	for k, table := range other.tables {
		for cell, n := range table {
			a.tables[k][cell] += n
		}
	}
	for k, name := range other.names.Names() {
		a.count(a.names.Add(name), other.counts[k])
	}
}

// dictionary numbers the attributes that occur often enough.
func (a *tally) dictionary(minCount int) *structured.Dictionary {
	for k := range a.lines {
		l := &a.lines[k]
		for cell, n := range a.tables[k] {
			if n > 0 {
				a.uncell(l, cell)
				a.spell(l, nil, 0, 0)
				a.count(a.names.AddBytes(a.name), int(n))
			}
		}
	}
	var kept []int32
	for k, n := range a.counts {
		if n >= max(1, minCount) {
			kept = append(kept, int32(k))
		}
	}
	slices.SortFunc(kept, func(x, y int32) int {
		return cmp.Or(cmp.Compare(a.counts[y], a.counts[x]), strings.Compare(a.names.Name(x), a.names.Name(y)))
	})
	names := make([]string, len(kept))
	for k, x := range kept {
		names[k] = a.names.Name(x)
	}
	return &structured.Dictionary{Node: structured.NewAlphabet(names...)}
}

// uncell sets the classes of a line's properties from the index of its values.
func (p *program) uncell(l *line, cell int) {
	for k := len(l.properties) - 1; k >= 0; k-- {
		x := l.properties[k]
		n := len(properties[x].classes)
		p.class[x] = cell % n
		cell /= n
	}
}
