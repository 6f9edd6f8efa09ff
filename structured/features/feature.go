package features

import (
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// featureGroup are the features of positions, or of steps.
type featureGroup struct {
	features []feature
	number   func(name []byte) int32 // of an attribute, or none
	matrix   []int32                 // scratch: [positions × features], attributes or none
	name     []byte                  // scratch: of an attribute
}

// feature is a line of a template at work: it remembers which attribute belongs to which values of its macros.
type feature struct {
	literals []string
	taps     []tap
	constant int32   // the attribute of a feature without taps
	table    []int32 // of one tap: the attribute of each value
	pairs    []pairs // of more: numbers of the first two values, then of that and the third, …; in the last, attributes
}

// tap is a macro: a view, seen so many rows further.
type tap struct {
	view *view
	row  int
}

func (f *feature) reset() {
	f.constant, f.table = unseen, nil
	clear(f.pairs)
}

// memory returns about how many bytes the features take.
func (g *featureGroup) memory() int {
	bytes := 0
	for i := range g.features {
		f := &g.features[i]
		bytes += 4 * len(f.table)
		for k := range f.pairs {
			bytes += 16 * len(f.pairs[k].entries)
		}
	}
	return bytes
}

// sparse returns a matrix without rows, and with room for the attributes of so many positions.
func (g *featureGroup) sparse(positions int) *structured.Sparse {
	return &structured.Sparse{
		Offsets: append(make([]int, 0, positions+1), 0),
		Index:   make([]int32, 0, positions*len(g.features)),
	}
}

// block appends the rows of the n positions of a block that the views have seen, of which those before first are empty.
// First it finds the known attributes, feature by feature, then it asks for the others, position by position: they are
// numbered in the order of their occurrence.
func (g *featureGroup) block(to *structured.Sparse, first, n, pad int) {
	width := len(g.features)
	g.matrix = vec.Grow(g.matrix, n*width)
	for j := range g.features {
		g.known(j, first, n, pad)
	}
	for t := range n {
		if t >= first {
			for j, attribute := range g.matrix[t*width : (t+1)*width] {
				if attribute == unseen {
					attribute = g.ask(&g.features[j], pad+t)
				}
				if attribute >= 0 {
					to.Index = append(to.Index, attribute)
				}
			}
		}
		to.Offsets = append(to.Offsets, len(to.Index))
	}
}

// known finds the attributes of feature j at positions first to n-1, unseen where they are not known.
func (g *featureGroup) known(j, first, n, pad int) {
	f := &g.features[j]
	width := len(g.features)
	switch len(f.taps) {
	case 0:
		for t := first; t < n; t++ {
			g.matrix[t*width+j] = f.constant
		}
	case 1:
		v := f.taps[0].view
		for len(f.table) < v.len() {
			f.table = append(f.table, unseen)
		}
		at := v.at[pad+f.taps[0].row:]
		for t := first; t < n; t++ {
			value := at[t]
			if value >= 0 {
				value = f.table[value]
			}
			g.matrix[t*width+j] = value
		}
	default:
		for t := first; t < n; t++ {
			attribute := int32(none)
			if known := f.joint(pad + t); known != nil {
				attribute = *known
			}
			g.matrix[t*width+j] = attribute
		}
	}
}

// joint returns the place of the attribute of a feature of several macros at place t of its views, nil where a macro has no
// value. The next call may move it.
func (f *feature) joint(t int) *int32 {
	value := f.taps[0].view.at[t+f.taps[0].row]
	if value < 0 {
		return nil
	}
	for k, tap := range f.taps[1:] {
		next := tap.view.at[t+tap.row]
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

// ask returns the attribute of a feature whose macros have values at place t of its views, by its name if need be, and
// remembers it.
func (g *featureGroup) ask(f *feature, t int) int32 {
	var place *int32
	switch len(f.taps) {
	case 0:
		place = &f.constant
	case 1:
		place = &f.table[f.taps[0].view.at[t+f.taps[0].row]]
	default:
		place = f.joint(t)
	}
	if *place == unseen {
		*place = g.number(g.expand(f, t))
	}
	return *place
}

// expand returns the name of the attribute of f at place t of its views, until the next call.
func (g *featureGroup) expand(f *feature, t int) []byte {
	g.name = append(g.name[:0], f.literals[0]...)
	for k, tap := range f.taps {
		g.name = append(g.name, tap.view.name(tap.view.at[t+tap.row])...)
		g.name = append(g.name, f.literals[k+1]...)
	}
	return g.name
}
