package features

import (
	"slices"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/structured"
)

// memoryBound limits the bytes that an Extractor caches, apart from one block of its input. It is approximate.
const memoryBound = 64 << 20

// blockPositions is the number of positions that are extracted at once.
const blockPositions = 256

// Extractor makes attributes as a template describes, numbered by a dictionary. It caches the values of functions and
// the numbers of attributes in bounded memory, so one extractor should serve many data sets. It serves one goroutine at
// a time.
type Extractor struct {
	t          *Template
	dictionary *structured.Dictionary
	pad        int          // how far macros reach beyond a position, in rows
	roots      roots        // the cells of the columns
	nodes      featureGroup // of positions
	edges      featureGroup // of steps
	wholes     *wholes      // of segments; or nil
	bound      int          // limit of the cache, in bytes
}

// roots are the columns that some lines use.
type roots []root

// root is a column that the template uses, with its first use.
type root struct {
	*view
	line  templates.Line
	macro templates.Macro
}

// Bind returns an extractor for the attributes of dict; Apply uses it.
func (t *Template) Bind(dict *structured.Dictionary) *Extractor {
	e := newExtractor(t, dict)
	if dict.Node != nil {
		e.nodes.number = dict.Node.IndexBytes
	}
	if dict.Edge != nil {
		e.edges.number = dict.Edge.IndexBytes
	}
	if dict.Segment != nil {
		e.wholes = newWholes(t, dict.Segment.IndexBytes)
	}
	return e
}

// newExtractor returns an extractor that can number hashed attributes only; the caller sets the other numberings.
func newExtractor(t *Template, dict *structured.Dictionary) *Extractor {
	nothing := func([]byte) int32 { return none }
	e := &Extractor{t: t, dictionary: dict, bound: memoryBound}
	e.nodes.number, e.edges.number = nothing, nothing
	if dict.Node == nil {
		e.nodes.number = func(name []byte) int32 { return structured.HashAttribute(name, dict.HashBits) }
	}
	for _, l := range t.Lines {
		group := &e.nodes
		switch {
		case l.Kind == "" || l.Kind == ofSegments || l.Kind == ofSteps && len(l.Macros) == 0:
			continue
		case l.Kind == ofSteps:
			group = &e.edges
		}
		group.features = append(group.features, e.features(l)...)
	}
	e.reset()
	return e
}

// features returns the features of a line: one, or one for each row of a range.
func (e *Extractor) features(l templates.Line) []feature {
	rows := 1
	for _, m := range l.Macros {
		rows = max(rows, m.Place.Last-m.Place.Row+1)
	}
	all, table := make([]feature, rows), new([]int32)
	for k := range all {
		f := feature{literals: l.Literals, constant: unseen, table: table}
		for _, m := range l.Macros {
			at := tap{view: e.roots.view(l, m), row: m.Place.Row}
			if m.Place.Last != m.Place.Row {
				at.row, at.inside = m.Place.Row+k, true
			}
			e.pad = max(e.pad, at.row, -at.row)
			f.taps = append(f.taps, at)
		}
		f.pairs = make([]pairs, max(0, len(f.taps)-1))
		all[k] = f
	}
	return all
}

// view returns the view of a macro, and creates it if it is new.
func (all *roots) view(l templates.Line, m templates.Macro) *view {
	at := slices.IndexFunc(*all, func(r root) bool { return r.macro.Column.Name == m.Column.Name })
	if at < 0 {
		at = len(*all)
		*all = append(*all, root{view: &view{}, line: l, macro: m})
	}
	v := (*all)[at].view
	for _, name := range m.Functions {
		k := slices.IndexFunc(v.children, func(child *view) bool { return child.name == name })
		if k < 0 {
			f, _ := findFunction(name)
			k = len(v.children)
			v.children = append(v.children, &view{name: name, function: f.f, n: f.n})
		}
		v = v.children[k]
	}
	return v
}

// reset makes views forget all values but the marks for pad rows beyond the ends of a sequence.
func (all roots) reset(pad int) {
	for _, r := range all {
		r.reset(marksBeyond(pad))
	}
}

// memory returns the approximate size of the views in bytes.
func (all roots) memory() int {
	bytes := 0
	for _, r := range all {
		bytes += r.memory()
	}
	return bytes
}

// columns returns the functions that return the cells of the columns at positions start to end-1 of d, a whole
// sequence.
func (all roots) columns(t *Template, d *structured.Dataset) ([]func(start, end int) []string, error) {
	columns := make([]func(start, end int) []string, len(all))
	for i, r := range all {
		var err error
		if columns[i], err = t.cells(r.line, r.macro, d); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// reset empties the cache.
func (e *Extractor) reset() {
	e.roots.reset(e.pad)
	for _, group := range []*featureGroup{&e.nodes, &e.edges} {
		for i := range group.features {
			group.features[i].reset()
		}
	}
}

// memory returns the approximate size of the cache in bytes.
func (e *Extractor) memory() int {
	return e.nodes.memory() + e.edges.memory() + e.roots.memory()
}

// Extract sets the Attributes of d, its EdgeAttributes if the template has B lines, its table of segments if it has S
// lines, and its Dictionary. Attributes that the dictionary lacks are left out. It is bad input if d lacks a column of
// the template.
func (e *Extractor) Extract(d *structured.Dataset) error {
	nodes, edges, err := e.extract(d, 0, d.Len())
	if err != nil {
		return err
	}
	d.Attributes, d.EdgeAttributes, d.Dictionary = nodes, edges, e.dictionary
	if e.wholes != nil {
		x, err := e.wholes.extract(d, 0, d.Len())
		if err != nil {
			return err
		}
		e.t.setWhole(d, x)
	}
	return nil
}

// extract makes the attributes of examples lo to hi-1, with offsets from 0.
func (e *Extractor) extract(d *structured.Dataset, lo, hi int) (nodes, edges *structured.Sparse, err error) {
	columns, err := e.roots.columns(e.t, d)
	if err != nil {
		return nil, nil, err
	}
	cells := make([][]string, len(e.roots)) // of the current sequence
	positions := 0
	if hi > lo {
		positions = d.Offsets[hi] - d.Offsets[lo]
	}
	nodes, edges = e.nodes.sparse(positions), e.edges.sparse(positions)
	if len(e.edges.features) == 0 {
		edges = nil
	}
	for i := lo; i < hi; i++ {
		start, end := d.Offsets[i], d.Offsets[i+1]
		for k, column := range columns {
			cells[k] = column(start, end)
		}
		for from := start; from < end; from += blockPositions {
			to := min(from+blockPositions, end)
			for k, r := range e.roots {
				r.block(cells[k], from-start, to-start, e.pad)
			}
			e.nodes.block(nodes, 0, to-from, e.pad)
			if edges != nil {
				first := 0
				if from == start {
					first = 1 // no step leads to the first position
				}
				e.edges.block(edges, first, to-from, e.pad)
			}
			if e.memory() > e.bound {
				e.reset()
			}
		}
	}
	return nodes, edges, nil
}
