package features

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/data/features/templates"
	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Lines that begin with S make attributes of whole segments: of every segment of at most Longest positions that a
// sequence may have. They are in a table of their own, in the rows of segments.Row.

// HasWhole reports whether the template has lines about whole segments.
func (t *Template) HasWhole() bool {
	return slices.ContainsFunc(t.Lines, func(l templates.Line) bool { return l.Kind == ofSegments })
}

// LongestWhole returns the most positions of a segment that has attributes of its own; 0 if segments have none.
func (t *Template) LongestWhole() int {
	if !t.HasWhole() {
		return 0
	}
	return t.Longest
}

// checkWhole refuses lines about whole segments where there are none.
func (t *Template) checkWhole() error {
	if k := slices.IndexFunc(t.Lines, func(l templates.Line) bool { return l.Kind == ofSegments }); k >= 0 &&
		t.Longest == 0 {
		return t.Bad(t.Lines[k], "a line that begins with S is about whole segments, which --structure segments "+
			"predicts; expected U, B or #")
	}
	return nil
}

// wholes makes the attributes of whole segments.
type wholes struct {
	t      *Template
	lines  []wholeLine
	roots  roots
	pad    int
	number func(name []byte) int32
	bound  int // of the cache, in bytes

	names bool // some line asks whether the gazetteer has the segment
	// [n×Longest] of the types of the name that begins at a position and has so many words, in the current sequence
	sets    []int32
	name    []byte  // scratch
	numbers []int32 // scratch: of words
}

type wholeLine struct {
	literals []string
	macros   []wholeMacro
}

type wholeMacro struct {
	templates.Macro
	view *view // nil for lengths and whole names
}

// newWholes returns nil for a template without such lines.
func newWholes(t *Template, number func(name []byte) int32) *wholes {
	if !t.HasWhole() {
		return nil
	}
	w := &wholes{t: t, number: number, bound: memoryBound}
	for _, l := range t.Lines {
		if l.Kind != ofSegments {
			continue
		}
		to := wholeLine{literals: l.Literals}
		for _, m := range l.Macros {
			of := wholeMacro{Macro: m}
			switch {
			case m.Property:
			case t.isName(m):
				w.names = true
			default:
				of.view = w.roots.view(l, m)
				if m.Place.Of != ofAll {
					w.pad = max(w.pad, m.Place.Row, -m.Place.Row)
				}
			}
			to.macros = append(to.macros, of)
		}
		w.lines = append(w.lines, to)
	}
	w.roots.reset(w.pad)
	return w
}

// isName reports whether a macro asks for the types of a whole segment in the gazetteer.
func (t *Template) isName(m templates.Macro) bool {
	return m.Place.Of == ofAll && m.Column.Name == gazetteerColumn && t.Gazetteer != nil
}

// each prepares one sequence of d after the other, examples lo to hi−1, and calls visit for it, which may call row.
func (w *wholes) each(d *structured.Dataset, lo, hi int, visit func(i int)) error {
	columns, err := w.roots.columns(w.t, d)
	if err != nil {
		return err
	}
	words := d.Column(text.WordColumn)
	for i := lo; i < hi; i++ {
		start, end := d.Offsets[i], d.Offsets[i+1]
		for k, r := range w.roots {
			r.block(columns[k](start, end), 0, end-start, w.pad)
		}
		if w.names {
			w.find(words[start:end])
		}
		visit(i)
		if w.roots.memory() > w.bound {
			w.roots.reset(w.pad)
		}
	}
	return nil
}

// find looks up all segments of a sequence in the gazetteer.
func (w *wholes) find(words []string) {
	g, longest := w.t.Gazetteer, w.t.Longest
	w.numbers = w.numbers[:0]
	for _, word := range words {
		w.numbers = append(w.numbers, g.words.Index(strings.ToLower(word)))
	}
	w.sets = vec.Grow(w.sets, len(words)*longest)
	clear(w.sets)
	for first := range words {
		node := int32(0)
		for k := 0; k < longest && first+k < len(words) && w.numbers[first+k] >= 0; k++ {
			if node = g.next.get(node, w.numbers[first+k]); node < 0 {
				break
			}
			w.sets[first*longest+k] = g.nodes[node].set
		}
	}
}

// row appends the attributes of the segment from position first to last of the current sequence.
func (w *wholes) row(to *structured.Sparse, first, last int) {
	add := func() {
		if a := w.number(w.name); a >= 0 {
			to.Index = append(to.Index, a)
		}
	}
lines:
	for k := range w.lines {
		l := &w.lines[k]
		w.name = append(w.name[:0], l.literals[0]...)
		if len(l.macros) == 1 && l.macros[0].several() {
			start := len(w.name)
			w.values(&l.macros[0], first, last, func(value string) {
				w.name = append(append(w.name[:start], value...), l.literals[1]...)
				add()
			})
			continue
		}
		for i := range l.macros {
			if !w.append(&l.macros[i], first, last) {
				continue lines
			}
			w.name = append(w.name, l.literals[i+1]...)
		}
		add()
	}
	to.Offsets = append(to.Offsets, len(to.Index))
}

// several reports whether a macro has several values at once.
func (m *wholeMacro) several() bool {
	if len(m.Functions) == 0 {
		return false
	}
	f, _ := findFunction(m.Functions[len(m.Functions)-1])
	return f.f.several != nil
}

// types returns the types of a whole segment in the gazetteer.
func (w *wholes) types(first, last int) []int32 {
	if last-first >= w.t.Longest {
		return nil
	}
	return w.t.Gazetteer.sets[w.sets[first*w.t.Longest+last-first]]
}

// place returns where a macro of the first or the last position has its value in a view.
func (w *wholes) place(m *wholeMacro, first, last int) int {
	if m.Place.Of == ofLast {
		first = last
	}
	return w.pad + first + m.Place.Row
}

// append appends the value of a macro to the name. It returns false if it has none.
func (w *wholes) append(m *wholeMacro, first, last int) bool {
	length := last - first + 1
	switch {
	case m.Property:
		w.name = strconv.AppendInt(w.name, int64(length), 10)
	case m.Place.Of == ofAll && m.Place.Last > 0 && length > m.Place.Last:
		return false
	case m.view == nil:
		types := w.types(first, last)
		for k, x := range types {
			if k > 0 {
				w.name = append(w.name, '|')
			}
			w.name = append(w.name, w.t.Gazetteer.types.Name(x)...)
		}
		return len(types) > 0
	case m.Place.Of == ofAll:
		for t := first; t <= last; t++ {
			value := m.view.at[w.pad+t]
			if value < 0 {
				return false
			}
			if t > first {
				w.name = append(w.name, ' ')
			}
			w.name = append(w.name, m.view.text(value)...)
		}
	default:
		value := m.view.at[w.place(m, first, last)]
		if value < 0 {
			return false
		}
		w.name = append(w.name, m.view.text(value)...)
	}
	return true
}

// values yields the values of a macro that has several.
func (w *wholes) values(m *wholeMacro, first, last int, yield func(value string)) {
	switch {
	case m.view != nil:
		if list := m.view.at[w.place(m, first, last)]; list >= 0 {
			for _, value := range m.view.lists[list] {
				yield(m.view.text(value))
			}
		}
	case m.Place.Last == 0 || last-first < m.Place.Last:
		for _, x := range w.types(first, last) {
			yield(w.t.Gazetteer.types.Name(x))
		}
	}
}

// fitWhole numbers the attributes of the gold segments of d, in the order in which they first occur, that are there at
// least as often as o says. They follow those that are known. Peers number those of all.
func (t *Template) fitWhole(d *structured.Dataset, known *structured.Alphabet, o templates.Options) (
	*structured.Alphabet, error) {
	if !t.HasWhole() {
		return nil, nil
	}
	all := known.Clone()
	w := newWholes(t, all.AddBytes)
	x := &structured.Sparse{Offsets: []int{0}}
	err := w.each(d, 0, d.Len(), func(i int) {
		segments.Each(d.Gold(i), func(s segments.Segment) { w.row(x, s.First, s.Last) })
	})
	if err != nil {
		return nil, err
	}
	counts := make([]int, all.Len())
	for _, a := range x.Index {
		counts[a]++
	}
	common, _, err := o.Peers.Extend(known, all, counts, o.MinCount)
	return common, err
}

// applyWhole makes the attributes of all segments of d, if the template has lines about them.
func (t *Template) applyWhole(d *structured.Dataset, names *structured.Alphabet, threads int) error {
	if !t.HasWhole() {
		return nil
	}
	const block = 64 // examples
	made := make([]*structured.Sparse, (d.Len()+block-1)/block)
	err := host.Parallel(threads, len(made), func() *wholes { return newWholes(t, names.IndexBytes) },
		func(w *wholes, k int) (err error) {
			made[k], err = w.extract(d, k*block, min((k+1)*block, d.Len()))
			return err
		})
	if err == nil {
		t.setWhole(d, structured.JoinSparse(made))
	}
	return err
}

// extract makes the attributes of all segments of examples lo to hi−1.
func (w *wholes) extract(d *structured.Dataset, lo, hi int) (*structured.Sparse, error) {
	x := &structured.Sparse{Offsets: []int{0}}
	err := w.each(d, lo, hi, func(i int) {
		for last := range d.Length(i) {
			for first := last; first >= max(0, last-w.t.Longest+1); first-- {
				w.row(x, first, last)
			}
		}
	})
	return x, err
}

func (t *Template) setWhole(d *structured.Dataset, x *structured.Sparse) {
	d.SetTable(&structured.Table{Name: segments.Rows, Offsets: segments.Offsets(d.Offsets, t.Longest), Attributes: x})
}

// SpreadWhole gives all examples the table of segments of those of a share, whose attributes are made.
func (t *Template) SpreadWhole(all, own *structured.Dataset, share structured.Share) {
	if t.HasWhole() {
		t.setWhole(all, nil)
		table := all.Table(segments.Rows)
		table.Attributes = share.Spread(own.Table(segments.Rows).Attributes, table.Offsets)
	}
}
