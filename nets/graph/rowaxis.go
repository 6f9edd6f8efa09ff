package graph

import (
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/structured"
)

// This file finds the axis along which each value of a network has one entry per row of the batch, and refuses a
// network that mixes rows of different examples: its potentials would depend on the padding and on which examples share
// a batch.

// axis says that a value has outer×rows×inner entries and that row r of the middle axis depends on row r of a table
// only, or on rows of the same example if an op knows the examples. The zero axis is that of values that depend on
// parameters and constants only; they are called free.
type axis struct {
	outer, rows, inner int
	of                 RowKind
}

// RowKind is what rows stand for.
type RowKind uint8

// The kinds of rows.
const (
	RowsOfPositions RowKind = iota
	RowsOfPairs             // of positions, or edges
	RowsOfCharacters
	RowsOfSources // as many as positions
)

func (a axis) free() bool { return a.rows == 0 }

// within reports whether the rows lie within the axis of that size of a before×size×… array, and returns the factors of
// size outside and inside of the rows.
func (a axis) within(before, size int) (outer, inner int, ok bool) {
	if a.outer%before != 0 || before*size%(a.outer*a.rows) != 0 {
		return 0, 0, false
	}
	return a.outer / before, before * size / (a.outer * a.rows), true
}

// outside reports whether the rows lie within the leading before entries of a before×… array, so that the rest belongs
// to one row.
func (a axis) outside(before int) bool { return before%(a.outer*a.rows) == 0 }

// rowAxes finds the axes of values.
type rowAxes struct {
	size     Size
	literals []float32
	known    map[*value]axis
}

// checkRows refuses potentials that depend on rows of other examples, naming the op that mixes them, and potentials
// whose rows are not those of the table that the form names.
func (l *lowering) checkRows(form structured.Form, outputs []*value) error {
	return (&rowAxes{l.graph.Size, l.literals, map[*value]axis{}}).check(l.graph, form, outputs)
}

func (r *rowAxes) check(g *Graph, form structured.Form, outputs []*value) error {
	for k, v := range outputs {
		if v == nil {
			continue
		}
		a, err := r.of(v)
		if err != nil {
			return err
		}
		shape := form.Parts[k]
		if shape.Rows == structured.Tied {
			if !a.free() {
				return fmt.Errorf("the %s potentials are shared by all examples, so they must depend on parameters only, "+
					"but they depend on inputs", shape.Name)
			}
			continue
		}
		want := axis{1, g.rowsOfTable(shape.Rows), shape.Width, RowsOfPositions}
		switch {
		case PairTable(shape.Rows):
			want.of = RowsOfPairs
		case shape.Rows == structured.Sources:
			want.of = RowsOfSources
		}
		if a.free() && r.uniform(v, want) {
			continue
		}
		if a != want {
			return fmt.Errorf("the %s potentials (op %q) do not have the rows of table %q, each on its own, as their first axis",
				shape.Name, nameOf(v), shape.Rows)
		}
	}
	return nil
}

// nameOf names the op of a value for messages.
func nameOf(v *value) string {
	switch v.op.(type) {
	case view:
		return "reshape"
	case Permute:
		return "transpose"
	case leaf:
		return "parameter or input"
	case MatMul:
		return "matrix product " + v.op.String()
	}
	return v.op.String()
}

func (r *rowAxes) of(v *value) (axis, error) {
	if a, ok := r.known[v]; ok {
		return a, nil
	}
	args := make([]axis, len(v.args))
	free := true
	for i, x := range v.args {
		a, err := r.of(x)
		if err != nil {
			return axis{}, err
		}
		args[i] = a
		free = free && a.free()
	}
	a, ok := r.apply(v, args, free)
	if !ok {
		return axis{}, fmt.Errorf("op %q mixes rows of different examples: each row of a network may depend on its own "+
			"position's inputs and on the parameters; only Window, GridWindow, LinearRecurrence, Attention and the ops on "+
			"pairs and edges may join rows, and only those of one example", nameOf(v))
	}
	r.known[v] = a
	return a, nil
}

// apply returns the axis of v given those of its arguments, and false if v mixes rows.
func (r *rowAxes) apply(v *value, args []axis, free bool) (axis, bool) {
	positions := func(cols int) axis { return axis{1, r.size.Rows, cols, RowsOfPositions} }
	pairs := func(cols int) axis { return axis{1, r.size.Pairs, cols, RowsOfPairs} }
	sources := func(cols int) axis { return axis{1, r.size.Rows, cols, RowsOfSources} }
	characters := func(cols int) axis { return axis{1, r.size.Chars, cols, RowsOfCharacters} }
	switch o := v.op.(type) { // ops that set their own rows
	case leaf:
		switch o.space {
		case SpaceFeatures, SpaceBoundary, SpaceEncoded:
			return positions(v.size() / r.size.Rows), true
		case SpaceEdges:
			return pairs(v.size() / r.size.Pairs), true
		}
		return axis{}, true
	case Mask:
		if o.Pairs {
			return pairs(o.Units), true
		}
		return positions(o.Units), true
	case Gather:
		switch o.Index.Kind {
		case IndexIds, IndexPlaces:
			return positions(o.Cols), args[0].free()
		case IndexWindow:
			return positions(o.Index.Width * o.Cols), args[0] == positions(o.Cols)
		case IndexDependents, IndexHeads, IndexFirstEnds, IndexSecondEnds:
			return pairs(o.Cols), args[0] == positions(o.Cols)
		case IndexGrid:
			return positions(o.Index.Width * o.Index.Width * o.Cols), args[0] == positions(o.Cols)
		case IndexSources:
			return sources(o.Cols), args[0] == positions(o.Cols)
		case IndexDistances:
			return pairs(o.Cols), args[0] == positions(Distances*o.Cols)
		case IndexCharacters, IndexCharacterParts:
			return characters(o.Index.Width * o.Cols), args[0].free()
		case IndexCharacterWindow:
			return characters(o.Index.Width * o.Cols), args[0] == characters(o.Cols)
		}
	case SegmentMax:
		return positions(o.Cols), args[0] == characters(o.Cols)
	case Bag:
		if o.Pairs {
			return pairs(o.Cols), args[0].free()
		}
		return positions(o.Cols), args[0].free()
	case Attention:
		return positions(o.width()), args[0] == positions(3*o.width())
	case Related:
		ok := args[0] == positions(3*o.width())
		for _, a := range args[1:] {
			ok = ok && a.free()
		}
		return positions(o.width()), ok
	case Rotation:
		return positions(o.Cols), args[0] == positions(o.Cols)
	case Sinusoids:
		return positions(o.Cols), args[0] == positions(o.Cols)
	case Bilinear:
		return pairs(o.K), args[0] == positions(o.K*o.E) && args[1] == positions(o.E) && args[2].free()
	case Align:
		return pairs(o.K), args[0] == positions(o.K*o.E) && args[1] == positions(o.E)
	case Recurrence:
		return positions(o.Cols), r.rowsOr(v, args, positions(o.Cols))
	}
	if free {
		return axis{}, true
	}
	a := args[0]
	switch o := v.op.(type) {
	case view:
		return a, r.divides(a, v.shape)
	case Unary:
		return a, true
	case Binary, Slope:
		return r.same(v, args, func(x *value, a axis) axis { return a })
	case Expand:
		return a.expand(o)
	case Sum:
		return a.reduce(o.Outer, o.Repeat)
	case Maximum:
		return a.reduce(o.Outer, o.Repeat)
	case Softmax:
		_, ok := a.reduce(o.Outer, o.Size)
		return a, ok
	case Normalise:
		_, ok := a.reduce(o.Rows, o.Cols)
		return a, ok
	case Slice:
		return a.slice(o)
	case Permute:
		return a.permute(o)
	case Concat:
		return r.concat(v, o, args)
	case MatMul:
		return r.matmul(v, o, args)
	case MaxPool:
		a.inner = v.size() / a.rows
		return a, a.outer == 1 && o.Images%a.rows == 0
	case Conv:
		if a.free() || !args[1].free() {
			return axis{}, false
		}
		a.inner = v.size() / a.rows
		return a, a.outer == 1 && o.Maps%a.rows == 0
	case Own:
		return r.ownAxis(v, o, args)
	case Gather: // a pattern
		repetitions := v.size() / (len(o.Index.Fixed) * o.Cols)
		a.inner = v.size() / a.rows
		return a, a.outer == 1 && repetitions%a.rows == 0
	}
	return axis{}, false
}

// divides reports whether an axis of the shape starts where the rows do, so that the shape does not cut through them.
func (r *rowAxes) divides(a axis, shape []int) bool {
	before := 1
	for _, s := range shape {
		if before == a.outer {
			break
		}
		before *= s
	}
	return before == a.outer
}

// same returns the axis that all arguments of v share, converted to v by to. Free arguments must be the same in every
// row.
func (r *rowAxes) same(v *value, args []axis, to func(x *value, a axis) axis) (axis, bool) {
	i := slices.IndexFunc(args, func(a axis) bool { return !a.free() })
	common := args[i]
	for k, a := range args {
		if a.free() && !r.uniform(v.args[k], to(v.args[k], common)) || !a.free() && a != common {
			return axis{}, false
		}
	}
	return common, true
}

// rowsOr reports whether every argument of v has the given axis, or is the same in every row.
func (r *rowAxes) rowsOr(v *value, args []axis, want axis) bool {
	for k, a := range args {
		if a != want && !(a.free() && r.uniform(v.args[k], want)) {
			return false
		}
	}
	return true
}

func (a axis) expand(o Expand) (axis, bool) {
	switch {
	case a.outer%o.Outer == 0:
		a.outer *= o.Repeat
	case a.outside(o.Outer):
		a.inner *= o.Repeat
	default:
		return a, false
	}
	return a, true
}

// reduce is the axis of a sum or the like over the middle axis of before×size×….
func (a axis) reduce(before, size int) (axis, bool) {
	switch {
	case a.outer%(before*size) == 0:
		a.outer /= size
	case a.outside(before):
		a.inner /= size
	default:
		return a, false
	}
	return a, true
}

func (a axis) slice(o Slice) (axis, bool) {
	switch {
	case a.outer%(o.Outer*o.Size) == 0:
		a.outer = a.outer / o.Size * o.Count
	case a.outside(o.Outer):
		a.inner = a.inner / o.Size * o.Count
	default:
		return a, o.Count == o.Size
	}
	return a, true
}

func (a axis) permute(o Permute) (axis, bool) {
	at, outer, inner := a.locate(o.From)
	if at < 0 {
		return a, false
	}
	shape := make([]int, len(o.Order))
	to := 0
	for i, from := range o.Order {
		shape[i] = o.From[from]
		if from == at {
			to = i
		}
	}
	return a.place(shape, to, outer, inner), true
}

// locate returns which axis of an array the rows lie within, with the factors of its size outside and inside of them;
// −1 if the rows span several axes.
func (a axis) locate(shape []int) (at, outer, inner int) {
	before := 1
	for i, s := range shape {
		if outer, inner, ok := a.within(before, s); ok {
			return i, outer, inner
		}
		before *= s
	}
	return -1, 0, 0
}

// place is the axis of an array whose axis at is outer×rows×inner.
func (a axis) place(shape []int, at, outer, inner int) axis {
	a.outer, a.inner = product(shape[:at])*outer, inner*product(shape[at+1:])
	return a
}

func (r *rowAxes) concat(v *value, o Concat, args []axis) (axis, bool) {
	i := slices.IndexFunc(args, func(a axis) bool { return !a.free() })
	out := args[i]
	rows := out.rows * out.outer
	if out.outside(o.Outer) { // joins entries of one row
		out.inner = v.size() / rows
		for k, a := range args {
			want := axis{args[i].outer, out.rows, v.args[k].size() / rows, out.of}
			if a != want && !(a.free() && r.uniform(v.args[k], want)) {
				return out, false
			}
		}
		return out, true
	}
	out.outer = 0 // joins arrays that each have all rows
	for k, a := range args {
		want := axis{v.args[k].size() / (out.rows * out.inner), out.rows, out.inner, out.of}
		if want.outer%o.Outer != 0 || a != want && !(a.free() && want.outer > 0 && r.uniform(v.args[k], want)) {
			return out, false
		}
		out.outer += want.outer
	}
	return out, true
}

func (r *rowAxes) matmul(v *value, o MatMul, args []axis) (axis, bool) {
	x, y := []int{o.Batch, o.M, o.K}, []int{o.Batch, o.K, o.N}
	rowsOf, colsOf := 1, 2 // where M and N are
	if o.TransA {
		x, rowsOf = []int{o.Batch, o.K, o.M}, 2
	}
	if o.TransB {
		y, colsOf = []int{o.Batch, o.N, o.K}, 1
	}
	out := []int{o.Batch, o.M, o.N}
	var places [2]struct{ at, outer, inner int }
	for i, shape := range [][]int{x, y} {
		places[i].at = -1
		if args[i].free() {
			continue
		}
		at, outer, inner := args[i].locate(shape)
		if at < 0 {
			return axis{}, false
		}
		places[i] = struct{ at, outer, inner int }{at, outer, inner}
	}
	l, rr := places[0], places[1]
	switch {
	case l.at == rowsOf && args[1].free():
		return args[0].place(out, 1, l.outer, l.inner), true
	case rr.at == colsOf && args[0].free():
		return args[1].place(out, 2, rr.outer, rr.inner), true
	case l.at == 0 && rr.at == 0 && l == rr && args[0].rows == args[1].rows && args[0].of == args[1].of:
		return args[0].place(out, 0, l.outer, l.inner), true
	case l.at == 0 && args[1].free() && r.uniform(v.args[1], args[0].place(y, 0, l.outer, l.inner)):
		return args[0].place(out, 0, l.outer, l.inner), true
	case rr.at == 0 && args[0].free() && r.uniform(v.args[0], args[1].place(x, 0, rr.outer, rr.inner)):
		return args[1].place(out, 0, rr.outer, rr.inner), true
	}
	return axis{}, false
}

// uniform reports whether a free value of a.outer×a.rows×a.inner entries is the same in every row, as a repeated bias
// is.
func (r *rowAxes) uniform(v *value, a axis) bool {
	if v.size() != a.outer*a.rows*a.inner {
		return false
	}
	switch o := v.op.(type) {
	case view:
		return r.uniform(v.args[0], a)
	case Unary, Binary, Slope:
		return !slices.ContainsFunc(v.args, func(x *value) bool { return !r.uniform(x, a) })
	case Expand:
		size := o.Repeat * o.Inner
		switch {
		case size%(a.rows*a.inner) == 0 && a.inner%o.Inner == 0: // repeats rows
			return true
		case a.inner%size == 0:
			a.inner /= o.Repeat
		case o.Inner%(a.rows*a.inner) == 0 && a.outer%o.Repeat == 0:
			a.outer /= o.Repeat
		default:
			return false
		}
		return r.uniform(v.args[0], a)
	case MatMul: // of rows that are all the same
		if o.Batch != 1 || o.TransA || a.inner%o.N != 0 {
			return false
		}
		a.inner = a.inner / o.N * o.K
		return r.uniform(v.args[0], a)
	case leaf:
		if o.space != SpaceLiterals {
			return false
		}
		all := r.literals[o.offset : o.offset+v.size()]
		for i := range all {
			row := i / a.inner % a.rows
			if all[i] != all[i-row*a.inner] {
				return false
			}
		}
		return true
	}
	return false
}
