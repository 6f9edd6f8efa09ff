package features

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Function is a function of a cell, which templates call by a name such as lower or suffix3.
type Function struct {
	f function
	n int
}

// NamedFunction returns the function with that name, including its number if it takes one; ok is false if there is
// none, if it has several values, or if it has none inside a sequence.
func NamedFunction(name string) (f Function, ok bool) {
	f, ok = findFunction(name)
	return f, ok && !f.f.outside && f.f.several == nil
}

func findFunction(name string) (f Function, ok bool) {
	if f, ok := functions[name]; ok && !f.counted {
		return Function{f: f}, true
	}
	base := strings.TrimRight(name, "0123456789")
	of, ok := functions[base]
	n, err := strconv.Atoi(name[len(base):])
	return Function{of, n}, ok && of.counted && err == nil && 1 <= n && n <= longestAffix
}

// Apply returns the value of the function for a cell; ok is false if it has none.
func (f Function) Apply(cell string) (value string, ok bool) { return f.f.apply(cell, f.n) }

// Total reports whether the function has a value for every cell. Total functions leave the marks beyond the ends of a
// sequence unchanged.
func (f Function) Total() bool { return f.f.total }

// FunctionNames lists the names of the functions that NamedFunction knows, for messages, separated by spaces; N stands
// for a number.
func FunctionNames() string { return functionNames(false) }

// functionNames is FunctionNames, and includes functions of several values, and of none inside a sequence, if asked to.
func functionNames(several bool) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		f := functions[name]
		if (f.several != nil || f.outside) && !several {
			continue
		}
		if f.counted {
			name += "N"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}
