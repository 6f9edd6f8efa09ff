package features

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// featureGroup holds the features of positions, or those of steps.
type featureGroup struct {
	features []feature
	number   func(name []byte) int32 // number of an attribute by its name, or none
	matrix   []int32                 // scratch [positions × features]: attributes, or none
	name     []byte                  // scratch: an attribute's name
}

// feature is a line of a template with a cache from the values of its macros to its attribute.
type feature struct {
	literals []string
	taps     []tap
	constant int32    // the attribute of a feature without taps
	table    *[]int32 // with one tap: the attribute of each value; the features of a range share it
	// with more: numbers of the first two values, then of that pair and the third value, …; the last holds attributes
	pairs []pairs
}

// tap is a macro: a view, read row positions further on.
type tap struct {
	view   *view
	row    int
	inside bool // it has no value beyond the ends of a sequence
}

// at returns the value at place t of the view, or none.
func (p tap) at(t int) int32 {
	value := p.view.at[t+p.row]
	if p.inside && int(value) < len(p.view.marks) {
		return none
	}
	return value
}

// several reports whether the feature makes several attributes at once.
func (f *feature) several() bool { return len(f.taps) == 1 && f.taps[0].view.function.several != nil }

// The matrix holds the number k of a list of values as firstList − k.
const firstList = unseen - 1

func (f *feature) reset() {
	f.constant, *f.table = unseen, nil
	clear(f.pairs)
}

// memory returns the approximate size of the features in bytes.
func (g *featureGroup) memory() int {
	bytes := 0
	for i := range g.features {
		f := &g.features[i]
		bytes += 4 * len(*f.table)
		for k := range f.pairs {
			bytes += 16 * len(f.pairs[k].entries)
		}
	}
	return bytes
}

// sparse returns a matrix without rows, with capacity for the attributes of that many positions.
func (g *featureGroup) sparse(positions int) *structured.Sparse {
	return &structured.Sparse{
		Offsets: append(make([]int, 0, positions+1), 0),
		Index:   make([]int32, 0, positions*len(g.features)),
	}
}

// block appends the rows of the n positions of a block that the views have loaded. Rows before first are empty. It
// first looks up cached attributes, feature by feature, and then resolves the others, position by position, so that new
// attributes are numbered in order of occurrence.
func (g *featureGroup) block(to *structured.Sparse, first, n, pad int) {
	width := len(g.features)
	g.matrix = vec.Grow(g.matrix, n*width)
	for j := range g.features {
		g.lookup(j, first, n, pad)
	}
	for t := range n {
		if t >= first {
			for j, attribute := range g.matrix[t*width : (t+1)*width] {
				if attribute == unseen {
					attribute = g.resolve(&g.features[j], pad+t)
				} else if attribute <= firstList {
					to.Index = g.appendList(to.Index, &g.features[j], firstList-attribute)
				}
				if attribute >= 0 {
					to.Index = append(to.Index, attribute)
				}
			}
		}
		to.Offsets = append(to.Offsets, len(to.Index))
	}
}

// lookup writes the cached attributes of feature j at positions first to n-1 into the matrix, unseen for the others.
func (g *featureGroup) lookup(j, first, n, pad int) {
	f := &g.features[j]
	width := len(g.features)
	switch len(f.taps) {
	case 0:
		for t := first; t < n; t++ {
			g.matrix[t*width+j] = f.constant
		}
	case 1:
		v := f.taps[0].view
		for len(*f.table) < v.len() {
			*f.table = append(*f.table, unseen)
		}
		table := *f.table
		at := v.at[pad+f.taps[0].row:]
		if f.several() {
			for t := first; t < n; t++ {
				value := at[t]
				if value >= 0 {
					value = firstList - value
				}
				g.matrix[t*width+j] = value
			}
			return
		}
		least := int32(0)
		if f.taps[0].inside {
			least = int32(len(v.marks))
		}
		for t := first; t < n; t++ {
			value := at[t]
			if value >= least {
				value = table[value]
			} else {
				value = none
			}
			g.matrix[t*width+j] = value
		}
	default:
		for t := first; t < n; t++ {
			attribute := int32(none)
			if entry := f.joint(pad + t); entry != nil {
				attribute = *entry
			}
			g.matrix[t*width+j] = attribute
		}
	}
}

// joint returns the cache entry of a feature with several macros at place t of its views, or nil if a macro has no
// value. The next call invalidates the pointer.
func (f *feature) joint(t int) *int32 {
	value := f.taps[0].at(t)
	if value < 0 {
		return nil
	}
	for k, tap := range f.taps[1:] {
		next := tap.at(t)
		if next < 0 {
			return nil
		}
		p := &f.pairs[k]
		number := p.at(value, next)
		if k == len(f.pairs)-1 {
			return number
		}
		if *number == unseen {
			*number = int32(p.n - 1)
		}
		value = *number
	}
	panic("a feature of several macros has two at least")
}

// resolve returns the attribute of a feature whose macros have values at place t of its views. It caches it, and looks
// it up by name if it is new.
func (g *featureGroup) resolve(f *feature, t int) int32 {
	var place *int32
	switch len(f.taps) {
	case 0:
		place = &f.constant
	case 1:
		place = &(*f.table)[f.taps[0].view.at[t+f.taps[0].row]]
	default:
		place = f.joint(t)
	}
	if *place == unseen {
		*place = g.number(g.expand(f, t))
	}
	return *place
}

// appendList appends the attributes of a list of values of f.
func (g *featureGroup) appendList(to []int32, f *feature, list int32) []int32 {
	v, table := f.taps[0].view, *f.table
	for _, value := range v.lists[list] {
		if table[value] == unseen {
			g.name = append(append(append(g.name[:0], f.literals[0]...), v.text(value)...), f.literals[1]...)
			table[value] = g.number(g.name)
		}
		if attribute := table[value]; attribute >= 0 {
			to = append(to, attribute)
		}
	}
	return to
}

// expand returns the name of the attribute of f at place t of its views. The next call overwrites it.
func (g *featureGroup) expand(f *feature, t int) []byte {
	g.name = append(g.name[:0], f.literals[0]...)
	for k, tap := range f.taps {
		g.name = append(g.name, tap.view.text(tap.view.at[t+tap.row])...)
		g.name = append(g.name, f.literals[k+1]...)
	}
	return g.name
}
