package pairs

import (
	"github.com/dsp-go/dsp/structured"
)

// Dictionary numbers the attributes of word pairs and of unmatched source words; only Node and HashBits of each are
// used.
type Dictionary struct{ Pair, Source *structured.Dictionary }

// Extractor makes the attributes of sentence pairs. It serves one goroutine at a time; several extractors may share a
// template, statistics and a dictionary.
type Extractor struct {
	t        *Template
	stats    *Statistics
	sentence sentence
	pair     program
	source   program
}

// program computes the attributes of one score.
type program struct {
	lines   []line
	numbers *structured.Dictionary
	tables  [][]int32 // per line without words: the number of each of its values, none or unknown
	used    []int     // the properties with classes that lines use
	class   []int     // their values, by property
	name    []byte
}

const (
	none    = -1 // no number
	unknown = -2 // not looked up yet
)

func NewExtractor(t *Template, stats *Statistics, numbers *Dictionary) *Extractor {
	e := &Extractor{t: t, stats: stats}
	e.pair.start(t.pairs, numbers.Pair)
	e.source.start(t.unmatched, numbers.Source)
	return e
}

func (p *program) start(lines []line, numbers *structured.Dictionary) {
	p.lines, p.numbers, p.tables, p.class = lines, numbers, make([][]int32, len(lines)), make([]int, len(properties))
	seen := map[int]bool{}
	for k, l := range lines {
		for _, x := range l.properties {
			if properties[x].classes != nil && !seen[x] {
				seen[x] = true
				p.used = append(p.used, x)
			}
		}
		if !l.worded() {
			p.tables[k] = make([]int32, l.cells)
			for c := range p.tables[k] {
				p.tables[k][c] = unknown
			}
		}
	}
}

// Extract appends the attributes of a sentence pair of n by m words: n·m rows to pair, row i·m+j for source word i with
// target word j, and n rows to source. Both begin as a Sparse with Offsets {0}; their values are all 1. Attributes that
// the dictionary lacks are left out.
func (e *Extractor) Extract(source, target []string, pair, unmatched *structured.Sparse) {
	s := &e.sentence
	s.load(e.stats, source, target, e.t.needs)
	for i := range s.n {
		for j := range s.m {
			e.pair.row(s, i, j, pair)
		}
		e.source.row(s, i, none, unmatched)
	}
}

// row appends the attributes of a row.
func (p *program) row(s *sentence, i, j int, to *structured.Sparse) {
	p.load(s, i, j)
	for k := range p.lines {
		l := &p.lines[k]
		if l.worded() {
			if p.spell(l, s, i, j) {
				if n := p.find(p.name); n >= 0 {
					to.Index = append(to.Index, n)
				}
			}
			continue
		}
		cell := p.cell(l)
		if cell < 0 {
			continue
		}
		n := p.tables[k][cell]
		if n == unknown {
			p.spell(l, s, i, j)
			n = p.find(p.name)
			p.tables[k][cell] = n
		}
		if n >= 0 {
			to.Index = append(to.Index, n)
		}
	}
	to.Offsets = append(to.Offsets, len(to.Index))
}

// load computes the classes of a row.
func (p *program) load(s *sentence, i, j int) {
	for _, x := range p.used {
		p.class[x] = properties[x].class(s, i, j)
	}
}

// cell returns the index of a line's values among all that it can have, or none if a property has no value.
func (p *program) cell(l *line) int {
	cell := 0
	for _, x := range l.properties {
		if p.class[x] < 0 {
			return none
		}
		cell = cell*len(properties[x].classes) + p.class[x]
	}
	return cell
}

// spell writes the name of a line's attribute into p.name. It returns false if a property has no value.
func (p *program) spell(l *line, s *sentence, i, j int) bool {
	p.name = append(append(p.name[:0], l.text...), '=')
	for k, x := range l.properties {
		if k > 0 {
			p.name = append(p.name, ' ')
		}
		switch q := &properties[x]; {
		case q.classes == nil:
			p.name = append(p.name, q.word(s, i, j)...)
		case p.class[x] < 0:
			return false
		default:
			p.name = append(p.name, q.classes[p.class[x]]...)
		}
	}
	return true
}

// find returns the number of an attribute, or none.
func (p *program) find(name []byte) int32 {
	if p.numbers.Node == nil {
		return structured.HashAttribute(name, p.numbers.HashBits)
	}
	return p.numbers.Node.IndexBytes(name)
}
