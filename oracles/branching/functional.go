package branching

import (
	"slices"

	"github.com/dsp-go/dsp/oracles/factors"
)

// joined is a network without the variables that others settle: where a table of two variables allows one state of v at
// most for each state of u, as equality does, u stands for both. Searches that change one variable at a time could not
// move such pairs.
type joined struct {
	of    *network
	steps []settled
}

// settled says that u settles v v by u: state s of u gives v the state to[s].
type settled struct {
	u, v int
	to   []int
}

// join settles variables by others until no table allows more. A settled variable keeps one state, and no table.
func join(n *network) *joined {
	j := &joined{of: n.clone()}
	n = j.of
	n.states = slices.Clone(n.states)
	for again := true; again; {
		again = false
		for k := range n.tables {
			if s, ok := n.settles(k); ok {
				j.steps, again = append(j.steps, s), true
				n.settle(s)
			}
		}
	}
	return j
}

// settles reports whether a table settles one of its variables by another of at most as many states.
func (n *network) settles(k int) (s settled, ok bool) {
	t := &n.tables[k]
	if len(t.scope) != 2 {
		return settled{}, false
	}
	for first := range 2 {
		u, v := t.scope[first], t.scope[1-first]
		if n.states[u] > n.states[v] || n.states[v] == 1 {
			continue
		}
		inner := [2]int{n.states[t.scope[1]], 1}
		if to := follows(t.value, n.states[u], n.states[v], inner[first], inner[1-first]); to != nil {
			return settled{u, v, to}, true
		}
	}
	return settled{}, false
}

// follows returns the state of v that each of m states of u allows, or nil where one allows several.
func follows(value []int64, m, n, stepU, stepV int) []int {
	to := make([]int, m)
	for i := range to {
		allowed := 0
		for x := range n {
			if value[i*stepU+x*stepV] == forbidden {
				continue
			}
			if to[i], allowed = x, allowed+1; allowed > 1 {
				return nil
			}
		}
	}
	return to
}

// settle puts u in the place of v in all tables.
func (n *network) settle(s settled) {
	tables := n.tables
	n.tables = nil
	for _, t := range tables {
		at := slices.Index(t.scope, s.v)
		if at < 0 {
			n.tables = append(n.tables, t)
			continue
		}
		strides := (&factors.Model{States: n.states}).Strides(t.scope)
		new := table{scope: slices.Delete(slices.Clone(t.scope), at, at+1)}
		kept := slices.Delete(slices.Clone(strides), at, at+1)
		where := slices.Index(new.scope, s.u)
		if where < 0 {
			where = at
			new.scope, kept = slices.Insert(new.scope, at, s.u), slices.Insert(kept, at, 0)
		}
		first := []int{0}
		for k, u := range new.scope {
			next := make([]int, 0, len(first)*n.states[u])
			for _, from := range first {
				for i := range n.states[u] {
					entry := from + i*kept[k]
					if k == where {
						entry += s.to[i] * strides[at]
					}
					next = append(next, entry)
				}
			}
			first = next
		}
		for _, entry := range first {
			new.value = append(new.value, t.value[entry])
		}
		n.tables = append(n.tables, new)
	}
	n.states[s.v] = 1
}

// all returns the states of all variables, given those of the joined network.
func (j *joined) all(states []int) []int {
	if states == nil {
		return nil
	}
	whole := slices.Clone(states)
	for k := len(j.steps) - 1; k >= 0; k-- {
		s := j.steps[k]
		whole[s.v] = s.to[whole[s.u]]
	}
	return whole
}
