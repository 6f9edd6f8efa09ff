package features

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Function is a function of a cell: what templates call by names such as lower and suffix3.
type Function struct {
	f function
	n int
}

// NamedFunction returns the function of a name, with its number where it takes one; ok is false where none has the name.
func NamedFunction(name string) (f Function, ok bool) {
	if f, ok := functions[name]; ok && !f.counted {
		return Function{f: f}, true
	}
	base := strings.TrimRight(name, "0123456789")
	known, ok := functions[base]
	n, err := strconv.Atoi(name[len(base):])
	if !ok || !known.counted || err != nil || n < 1 || n > longestAffix {
		return Function{}, false
	}
	return Function{known, n}, true
}

// Apply returns the function's value for a cell; ok is false where it has none.
func (f Function) Apply(cell string) (value string, ok bool) { return f.f.apply(cell, f.n) }

// Total reports whether the function has a value for every cell, and leaves the marks beyond the ends of a sequence as
// they are.
func (f Function) Total() bool { return f.f.total }

// FunctionNames lists the names of the functions for messages, separated by blanks; an N stands for a number.
func FunctionNames() string {
	names := slices.Sorted(maps.Keys(functions))
	for i, name := range names {
		if functions[name].counted {
			names[i] += "N"
		}
	}
	return strings.Join(names, " ")
}
