package features

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

const (
	none   = -1 // no value, or no attribute
	unseen = -2 // not asked for yet
)

// view is what a function makes of another view's values: of a column's cells in the end. Equal values have one number.
// Values 0 to 2·pad-1 are the marks beyond the ends of a sequence, _B-1, …, _B-pad, _B+1, …, _B+pad.
type view struct {
	call     call
	values   structured.Alphabet
	of       []int32 // the value of each of the parent's, or none
	children []*view
	at       []int32 // scratch: the values at the positions of a block, with pad more on either side
	bytes    int     // of the values' names
}

// add returns the number of a value, of whose functions the values are found when it is new.
func (v *view) add(value string) int32 {
	n := v.values.Len()
	number := v.values.Add(value)
	if int(number) < n {
		return number
	}
	v.bytes += len(value)
	for _, child := range v.children {
		child.derive(value, false)
	}
	return number
}

// derive appends the value of the parent's next value.
func (v *view) derive(parent string, mark bool) {
	f := functions[v.call.name]
	switch value, ok := f.apply(parent, v.call.n); {
	case mark && f.total:
		v.of = append(v.of, v.mark(parent))
	case mark || !ok:
		v.of = append(v.of, none)
	default:
		v.of = append(v.of, v.add(value))
	}
}

// mark adds a mark beyond the ends.
func (v *view) mark(name string) int32 {
	number := v.values.Add(name)
	for _, child := range v.children {
		child.derive(name, true)
	}
	return number
}

// reset forgets all but the marks.
func (v *view) reset() {
	v.values = structured.Alphabet{}
	v.of, v.bytes = nil, 0
	for _, child := range v.children {
		child.reset()
	}
}

func (v *view) marks(pad int) {
	for _, sign := range []string{"-", "+"} {
		for k := range pad {
			v.mark("_B" + sign + strconv.Itoa(k+1))
		}
	}
}

// cell returns the number of a cell's text, a copy of which is kept.
func (v *view) cell(text string) int32 {
	if number := v.values.Index(text); number >= 0 {
		return number
	}
	return v.add(strings.Clone(text))
}

// block looks at the cells of a root at positions from to to-1 of a sequence, and at its pads.
func (v *view) block(cells []string, from, to, pad int) {
	v.at = resized(v.at, to-from+2*pad)
	for i := range v.at {
		switch p := from - pad + i; {
		case p < 0:
			v.at[i] = int32(-p - 1)
		case p >= len(cells):
			v.at[i] = int32(pad + p - len(cells))
		default:
			v.at[i] = v.cell(cells[p])
		}
	}
	v.look()
}

// look finds the values of the children where v's are known.
func (v *view) look() {
	for _, child := range v.children {
		child.at = resized(child.at, len(v.at))
		for i, value := range v.at {
			if value >= 0 {
				value = child.of[value]
			}
			child.at[i] = value
		}
		child.look()
	}
}

// memory returns about how many bytes v and its children take.
func (v *view) memory() int {
	bytes := v.bytes + v.values.Len()*28 + len(v.of)*4 // a name's header and its places in the table
	for _, child := range v.children {
		bytes += child.memory()
	}
	return bytes
}

func resized(s []int32, n int) []int32 { return slices.Grow(s[:0], n)[:n] }
