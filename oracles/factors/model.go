// Package factors holds factor graphs: variables with finite numbers of states, and tables that score some of them
// together. They may have any order and mixed numbers of states, as models that come from elsewhere do.
//
// Tables hold logarithms. The last variable of a table's scope changes fastest. −∞ forbids an entry; NaN and +∞ are
// errors of the caller.
package factors

// Model is a factor graph: a value for every assignment of V variables, the sum of its factors' values (logarithms).
type Model struct {
	States  []int // [V] number of states of each variable, at least 1
	Factors []Factor
}

// Factor is a table over some variables.
type Factor struct {
	Scope []int     // variables, each once
	Table []float64 // [Π States of Scope] logarithms
}

// Free marks a variable that is not observed.
const Free = -1

// Observe returns the model in which variables have the observed states (Free: any). An observed variable leaves every
// scope, so that it costs nothing, and keeps a single state.
func (m *Model) Observe(states []int) *Model {
	o := &Model{States: append([]int(nil), m.States...)}
	for v, s := range states {
		if s != Free {
			o.States[v] = 1
		}
	}
	for _, f := range m.Factors {
		o.Factors = append(o.Factors, m.slice(f, states))
	}
	return o
}

// slice returns the entries of f that agree with the observed states.
func (m *Model) slice(f Factor, states []int) Factor {
	var kept Factor
	var sizes, strides []int
	first := 0
	of := m.Strides(f.Scope)
	for k, v := range f.Scope {
		if s := states[v]; s != Free {
			first += s * of[k]
			continue
		}
		kept.Scope = append(kept.Scope, v)
		sizes, strides = append(sizes, m.States[v]), append(strides, of[k])
	}
	kept.Table = make([]float64, Entries(sizes))
	Walk(sizes, strides, func(i, j, n, stride int) {
		for k := range n {
			kept.Table[i+k] = f.Table[first+j+k*stride]
		}
	})
	return kept
}

// Keep returns the model in which each variable has only the listed states, increasing and at least one, numbered anew;
// a variable that keeps one leaves every scope.
func (m *Model) Keep(kept [][]int) *Model {
	k := &Model{States: make([]int, len(m.States))}
	for v, states := range kept {
		k.States[v] = len(states)
	}
	for _, f := range m.Factors {
		var to Factor
		at := []int{0} // the entries that stay
		strides := m.Strides(f.Scope)
		for p, v := range f.Scope {
			if len(kept[v]) > 1 {
				to.Scope = append(to.Scope, v)
			}
			next := make([]int, 0, len(at)*len(kept[v]))
			for _, first := range at {
				for _, s := range kept[v] {
					next = append(next, first+s*strides[p])
				}
			}
			at = next
		}
		to.Table = make([]float64, len(at))
		for i, j := range at {
			to.Table[i] = f.Table[j]
		}
		k.Factors = append(k.Factors, to)
	}
	return k
}

// Strides returns how far apart in a table the states of each variable of its scope are.
func (m *Model) Strides(scope []int) []int {
	s := make([]int, len(scope))
	step := 1
	for k := len(scope) - 1; k >= 0; k-- {
		s[k] = step
		step *= m.States[scope[k]]
	}
	return s
}

// Value returns the logarithm of an assignment's value, in float64.
func (m *Model) Value(states []int) float64 {
	sum := 0.0
	for _, f := range m.Factors {
		at := 0
		for _, v := range f.Scope {
			at = at*m.States[v] + states[v]
		}
		sum += f.Table[at]
	}
	return sum
}

// Entries returns the number of entries of a table with the given numbers of states.
func Entries(sizes []int) int {
	n := 1
	for _, s := range sizes {
		n *= s
	}
	return n
}
