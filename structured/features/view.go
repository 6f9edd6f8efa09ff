package features

import (
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

const (
	none   = -1 // no value, or no attribute
	unseen = -2 // not asked for yet
)

// view is what a function makes of another view's values: of a column's cells in the end. Equal values have one number.
// Before them come the numbers of the marks beyond the ends of a sequence, _B-1, …, _B-pad, _B+1, …, _B+pad.
type view struct {
	call     call
	function function // that call names; none of a column's cells
	children []*view
	marks    []string
	texts    structured.Alphabet // the values that are no marks; their numbers begin after the marks'
	of       []int32             // the value of each of the parent's, or none
	at       []int32             // scratch: the values at the positions of a block, with pad more on either side
	bytes    int                 // of the texts
}

// marksBeyond returns the marks for so many rows on either side.
func marksBeyond(pad int) []string {
	var marks []string
	for _, sign := range []string{"-", "+"} {
		for k := range pad {
			marks = append(marks, "_B"+sign+strconv.Itoa(k+1))
		}
	}
	return marks
}

// reset forgets all but the marks.
func (v *view) reset(marks []string) {
	v.marks, v.texts, v.of, v.bytes = marks, structured.Alphabet{}, nil, 0
	for k := range marks {
		if v.function.total {
			v.of = append(v.of, int32(k))
		} else {
			v.of = append(v.of, none)
		}
	}
	for _, child := range v.children {
		child.reset(marks)
	}
}

// len returns how many values there are.
func (v *view) len() int { return len(v.marks) + v.texts.Len() }

// name spells a value.
func (v *view) name(value int32) string {
	if k := int(value) - len(v.marks); k >= 0 {
		return v.texts.Name(int32(k))
	}
	return v.marks[value]
}

// add returns the value of a text, of which the functions are computed when it is new.
func (v *view) add(text string) int32 {
	n := v.texts.Len()
	number := v.texts.Add(text)
	if int(number) == n {
		v.bytes += len(text)
		for _, child := range v.children {
			value := int32(none)
			if result, ok := child.function.apply(text, child.call.n); ok {
				value = child.add(result)
			}
			child.of = append(child.of, value)
		}
	}
	return int32(len(v.marks)) + number
}

// cell returns the value of a cell, a copy of whose text is kept.
func (v *view) cell(text string) int32 {
	if number := v.texts.Index(text); number >= 0 {
		return int32(len(v.marks)) + number
	}
	return v.add(strings.Clone(text))
}

// block looks at the cells of a root at positions from to to-1 of a sequence, and at its pads.
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
	v.look()
}

// look finds the values of the children where v's are known.
func (v *view) look() {
	for _, child := range v.children {
		child.at = vec.Grow(child.at, len(v.at))
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
	bytes := v.bytes + v.texts.Len()*28 + len(v.of)*4 // a name's header and its places in the table
	for _, child := range v.children {
		bytes += child.memory()
	}
	return bytes
}
