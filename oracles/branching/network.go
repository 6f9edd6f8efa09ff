package branching

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/factors"
)

// Numbers of a network. No finite sum of entries of different tables exceeds widest in size, nor what matching adds to
// it: so none is below lowest, and no sum of two numbers leaves int64.
const (
	forbidden = -1 << 62
	lowest    = -1 << 61 // what is below is forbidden
	digits    = 52       // of the sum of all tables' largest entries
	widest    = 1 << 59
)

// network is a factor graph in whole numbers: an entry stands for unit times its number. Sums of whole numbers are
// exact in any order, so that moving value between tables changes no assignment's value, and bounds are proofs.
type network struct {
	states []int // [V]
	tables []table
	fixed  int64   // the tables without variables
	unit   float64 // a power of 2
	error  float64 // bounds the rounding of any assignment's value
}

// table is a factor. The last variable of the scope changes fastest.
type table struct {
	scope []int
	value []int64
}

// newNetwork rounds a model to whole numbers.
func newNetwork(m *factors.Model) *network {
	size := 0.0 // Σ max |θ|
	for _, f := range m.Factors {
		most := 0.0
		for _, x := range f.Table {
			if !math.IsInf(x, -1) {
				most = max(most, math.Abs(x))
			}
		}
		size += most
	}
	exponent := 0
	if size > 0 {
		_, exponent = math.Frexp(size) // size < 2^exponent
	}
	shift := min(digits-exponent, 1000) // a tiny model needs no more digits than float64 has
	n := &network{states: append([]int(nil), m.States...), unit: math.Ldexp(1, -shift)}
	// Each entry moves by half a unit, and a sum of float64 by its own rounding.
	n.error = float64(len(m.Factors)) * (n.unit/2 + oracles.Double*size)
	whole := true // entries are multiples of the unit: then neither the tables nor sums of float64 round
	for _, f := range m.Factors {
		t := table{scope: append([]int(nil), f.Scope...), value: make([]int64, len(f.Table))}
		for k, x := range f.Table {
			if t.value[k] = forbidden; !math.IsInf(x, -1) {
				units := math.Ldexp(x, shift)
				t.value[k] = int64(math.Round(units))
				whole = whole && float64(t.value[k]) == units
			}
		}
		n.add(t)
	}
	if whole {
		n.error = 0
	}
	return n
}

// add adds a table; one without variables becomes part of fixed.
func (n *network) add(t table) {
	if len(t.scope) > 0 {
		n.tables = append(n.tables, t)
		return
	}
	n.fixed = plus(n.fixed, t.value[0])
}

// plus adds numbers of which some may be forbidden.
func plus(a, b int64) int64 {
	if a += b; a < lowest {
		return forbidden
	}
	return a
}

// value returns an assignment's value.
func (n *network) value(states []int) int64 {
	sum := n.fixed
	for k := range n.tables {
		t := &n.tables[k]
		at := 0
		for _, v := range t.scope {
			at = at*n.states[v] + states[v]
		}
		sum = plus(sum, t.value[at])
	}
	return sum
}

// wide reports whether some sum of entries of different tables could exceed widest.
func (n *network) wide() bool {
	sum := math.Abs(float64(n.fixed))
	for _, t := range n.tables {
		size := int64(0)
		for _, x := range t.value {
			if x != forbidden {
				size = max(size, x, -x)
			}
		}
		sum += float64(size)
	}
	return n.fixed != forbidden && sum > widest
}

// entries counts those of all tables.
func (n *network) entries() int {
	sum := 0
	for _, t := range n.tables {
		sum += len(t.value)
	}
	return sum
}

// clone copies a network whose tables will change.
func (n *network) clone() *network {
	c := *n
	c.tables = nil
	for _, t := range n.tables {
		c.tables = append(c.tables, table{t.scope, append([]int64(nil), t.value...)})
	}
	return &c
}

// keep returns the network in which every variable has only the states that are alive, and a single-state variable
// leaves the scopes. kept lists the states that remain, by their old numbers. It is nil if a variable has none.
func (n *network) keep(alive [][]bool) (small *network, kept [][]int) {
	small = &network{states: make([]int, len(n.states)), fixed: n.fixed, unit: n.unit, error: n.error}
	kept = make([][]int, len(n.states))
	for v := range alive {
		for s, yes := range alive[v] {
			if yes {
				kept[v] = append(kept[v], s)
			}
		}
		if small.states[v] = len(kept[v]); len(kept[v]) == 0 {
			return nil, nil
		}
	}
	for k := range n.tables {
		t := &n.tables[k]
		whole, size := true, 1
		for _, v := range t.scope {
			whole = whole && len(kept[v]) == n.states[v] && n.states[v] > 1
			size *= len(kept[v])
		}
		if whole {
			small.tables = append(small.tables, table{t.scope, append([]int64(nil), t.value...)})
			continue
		}
		new := table{value: make([]int64, 0, size)}
		strides := (&factors.Model{States: n.states}).Strides(t.scope)
		first := []int{0} // offsets of the entries that remain
		for j, v := range t.scope {
			if len(kept[v]) > 1 {
				new.scope = append(new.scope, v)
			}
			next := make([]int, 0, size)
			for _, at := range first {
				for _, s := range kept[v] {
					next = append(next, at+s*strides[j])
				}
			}
			first = next
		}
		for _, at := range first {
			new.value = append(new.value, t.value[at])
		}
		small.add(new)
	}
	return small, kept
}

// touching lists the tables of each variable.
func (n *network) touching() [][]place {
	counts, total := make([]int, len(n.states)), 0
	for _, t := range n.tables {
		for _, v := range t.scope {
			counts[v]++
		}
		total += len(t.scope)
	}
	at, all := make([][]place, len(n.states)), make([]place, total)
	for v, count := range counts {
		at[v], all = all[:0:count], all[count:]
	}
	for k := range n.tables {
		t := &n.tables[k]
		inner := len(t.value)
		outer, low, high := 1, t.scope[0], t.scope[0]
		for _, v := range t.scope {
			low, high = min(low, v), max(high, v)
		}
		for j, v := range t.scope {
			inner /= n.states[v]
			at[v] = append(at[v], place{table: k, k: j, outer: outer, inner: inner, first: v == low, last: v == high})
			outer *= n.states[v]
		}
	}
	return at
}

// place is a variable's place in a table's scope. Its states lie in outer blocks of runs of inner entries.
type place struct {
	table, k     int
	outer, inner int
	first, last  bool // of the variables of the scope
}
