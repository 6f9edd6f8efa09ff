package features

import (
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

const (
	none   = -1 // no value, or no attribute
	unseen = -2 // not computed yet
)

// view holds the values of a function applied to the values of another view; a root view holds the cells of a column.
// Equal values share a number. The first numbers are those of the marks beyond the ends of a sequence: _B-1, …, _B-pad,
// _B+1, …, _B+pad.
type view struct {
	name     string   // of the function; unset for a root
	function function // with that name
	n        int      // the number that follows its name
	children []*view
	marks    []string
	texts    structured.Alphabet // the values that are not marks; their numbers follow those of the marks
	// this view's value for each value of the parent, or none; of several values, the number of their list
	fromParent []int32
	lists      [][]int32 // of a function of several values: the values
	listed     int       // total length of the lists
	// scratch: the values (or lists) at the positions of a block and at pad positions on either side
	at    []int32
	bytes int // total length of the texts
}

// marksBeyond returns the marks for pad rows on either side.
func marksBeyond(pad int) []string {
	var marks []string
	for _, sign := range []string{"-", "+"} {
		for k := range pad {
			marks = append(marks, "_B"+sign+strconv.Itoa(k+1))
		}
	}
	return marks
}

// reset forgets all values except the marks.
func (v *view) reset(marks []string) {
	v.marks, v.texts, v.fromParent, v.bytes = marks, structured.Alphabet{}, nil, 0
	v.lists, v.listed = nil, 0
	for k := range marks {
		if v.function.total || v.function.outside {
			v.fromParent = append(v.fromParent, int32(k))
		} else {
			v.fromParent = append(v.fromParent, none)
		}
	}
	for _, child := range v.children {
		child.reset(marks)
	}
}

// len returns the number of values.
func (v *view) len() int { return len(v.marks) + v.texts.Len() }

func (v *view) text(value int32) string {
	if k := int(value) - len(v.marks); k >= 0 {
		return v.texts.Name(int32(k))
	}
	return v.marks[value]
}

// add returns the value of a text. For a new text it computes the values of the children too.
func (v *view) add(text string) int32 {
	n := v.texts.Len()
	number := v.texts.Add(text)
	if int(number) == n {
		v.bytes += len(text)
		for _, child := range v.children {
			child.fromParent = append(child.fromParent, child.of(text))
		}
	}
	return int32(len(v.marks)) + number
}

// of returns the value of v's function for a text of the parent, or the number of the list of its values; none if it
// has none.
func (v *view) of(text string) int32 {
	if v.function.several == nil {
		if result, ok := v.function.apply(text, v.n); ok {
			return v.add(result)
		}
		return none
	}
	var list []int32
	v.function.several(text, v.n, func(value string) { list = append(list, v.add(value)) })
	if list == nil {
		return none
	}
	v.lists = append(v.lists, list)
	v.listed += len(list)
	return int32(len(v.lists) - 1)
}

// cell returns the value of a cell, and keeps a copy of its text if it is new.
func (v *view) cell(text string) int32 {
	if number := v.texts.Index(text); number >= 0 {
		return int32(len(v.marks)) + number
	}
	return v.add(strings.Clone(text))
}

// block loads the cells of a root at positions from to to-1 of a sequence, and the pads on either side.
func (v *view) block(cells []string, from, to, pad int) {
	v.at = vec.Grow(v.at, to-from+2*pad)
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
	v.load()
}

// load computes the values of the children from those of v.
func (v *view) load() {
	for _, child := range v.children {
		child.at = vec.Grow(child.at, len(v.at))
		for i, value := range v.at {
			if value >= 0 {
				value = child.fromParent[value]
			}
			child.at[i] = value
		}
		child.load()
	}
}

// memory returns the approximate size of v and its children in bytes.
func (v *view) memory() int {
	// a name's header and its slots in the table
	bytes := v.bytes + v.texts.Len()*28 + len(v.fromParent)*4 + len(v.lists)*24 + v.listed*4
	for _, child := range v.children {
		bytes += child.memory()
	}
	return bytes
}
