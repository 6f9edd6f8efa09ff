package graph

import (
	"fmt"
	"reflect"
	"strings"

	"gorgonia.org/gorgonia"
)

// fields are those of one of Gorgonia's own ops. Its types, their fields and their operators are unexported, so
// reflection reads them, here and nowhere else.
type fields struct {
	kind string // the type, such as gorgonia.sumOp
	name string // as Gorgonia prints the op
	of   reflect.Value
}

func fieldsOf(o gorgonia.Op) fields {
	return fields{strings.TrimLeft(fmt.Sprintf("%T", o), "*"), o.String(), reflect.Indirect(reflect.ValueOf(o))}
}

func (f fields) field(name string) reflect.Value {
	v := f.of.FieldByName(name)
	if !v.IsValid() {
		panic(fmt.Sprintf("%s has no field %s, as it has in the version of Gorgonia that dsp is written for", f.kind, name))
	}
	return v
}

func (f fields) bool(name string) bool { return f.field(name).Bool() }

func (f fields) int(name string) int { return int(f.field(name).Int()) }

func (f fields) ints(name string) []int {
	v := f.field(name)
	out := make([]int, v.Len())
	for i := range out {
		out[i] = int(v.Index(i).Int())
	}
	return out
}
