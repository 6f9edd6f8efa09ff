package branching

// messages moves value between the tables of a network, so that the sum of the tables' best entries, a bound of the best value, falls. It is
// sequential reweighted message passing (Kolmogorov 2015), in whole numbers: value moves as it is, nothing is kept beside the tables.
type messages struct {
	*network
	own   [][]int64 // [V] what a variable holds
	at    [][]place // [V] tables of two variables or more
	score [][]int64 // scratch, one row per table of a variable
}

func newMessages(n *network) *messages {
	m := &messages{network: n, own: make([][]int64, len(n.states))}
	for v, k := range n.states {
		m.own[v] = make([]int64, k)
	}
	var joint []table
	for _, t := range n.tables {
		if len(t.scope) > 1 {
			joint = append(joint, t)
			continue
		}
		for s, x := range t.value {
			m.own[t.scope[0]][s] = plus(m.own[t.scope[0]][s], x)
		}
	}
	n.tables = joint
	m.at = n.touching()
	return m
}

// end gives the network back what variables hold, as tables of single variables.
func (m *messages) end() {
	for v, own := range m.own {
		m.tables = append(m.tables, table{scope: []int{v}, value: own})
	}
}

// pass visits all variables forward and then backward.
func (m *messages) pass() {
	for v := range m.own {
		m.visit(v, false)
	}
	for v := len(m.own) - 1; v >= 0; v-- {
		m.visit(v, true)
	}
}

// visit takes from v's tables the best entry of each of its states, and hands equal shares of the sum to the tables that are visited later.
func (m *messages) visit(v int, backward bool) {
	own := m.own[v]
	for len(m.score) < len(m.at[v]) {
		m.score = append(m.score, nil)
	}
	ahead, behind := 0, 0
	for r, p := range m.at[v] {
		m.score[r] = m.best(p, m.score[r])
		for s, x := range m.score[r] {
			own[s] = plus(own[s], x)
		}
		first, last := m.ends(p)
		if !last {
			ahead++
		}
		if !first {
			behind++
		}
	}
	parts := int64(max(ahead, behind, 1))
	total := append([]int64(nil), own...)
	for r, p := range m.at[v] {
		first, last := m.ends(p)
		later := !backward && !last || backward && !first
		for s, x := range m.score[r] {
			if total[s] == forbidden { // so the tables' entries are, which others may not know yet
				m.score[r][s] = forbidden
				continue
			}
			share := int64(0)
			if later {
				share = total[s] / parts
			}
			own[s] -= share
			m.score[r][s] = share - x
		}
		m.move(p, m.score[r])
	}
}

// ends reports whether p's variable is the first or the last of its table.
func (m *messages) ends(p place) (first, last bool) {
	scope := m.tables[p.table].scope
	first, last = true, true
	for _, u := range scope {
		first, last = first && u >= scope[p.k], last && u <= scope[p.k]
	}
	return first, last
}

// best returns the best entry of a table for every state of a variable.
func (m *messages) best(p place, into []int64) []int64 {
	t := &m.tables[p.table]
	outer, n, inner := m.block(t, p.k)
	into = into[:0]
	for range n {
		into = append(into, forbidden)
	}
	for o := range outer {
		for s := range n {
			most := into[s]
			for _, x := range t.value[(o*n+s)*inner:][:inner] {
				most = max(most, x)
			}
			into[s] = most
		}
	}
	return into
}

// move adds a number to all entries of each state, or forbids them.
func (m *messages) move(p place, by []int64) {
	t := &m.tables[p.table]
	outer, n, inner := m.block(t, p.k)
	for o := range outer {
		for s, x := range by {
			row := t.value[(o*n+s)*inner:][:inner]
			for i := range row {
				row[i] = plus(row[i], x)
			}
		}
	}
}

// bound returns the sum of the best entries.
func (m *messages) bound() int64 {
	sum := m.fixed
	for _, own := range m.own {
		sum = plus(sum, most(own))
	}
	for k := range m.tables {
		sum = plus(sum, most(m.tables[k].value))
	}
	return sum
}

func most(xs []int64) int64 {
	m := int64(forbidden)
	for _, x := range xs {
		m = max(m, x)
	}
	return m
}

// alive reports which states can be in an assignment whose value is above the given one.
func (m *messages) alive(value int64) [][]bool {
	bound := m.bound()
	all := make([][]bool, len(m.own))
	for v, own := range m.own {
		all[v] = make([]bool, len(own))
		top := most(own)
		for s, x := range own {
			all[v][s] = x != forbidden && bound != forbidden && bound-(top-x) > value
		}
	}
	return all
}

// dominated takes from alive the states that another one of the same variable replaces in every assignment without loss (Goldstein 1994). It
// reports how many.
func (m *messages) dominated(alive [][]bool) int {
	removed := 0
	for v, own := range m.own {
		for a := range own {
			for b := range own {
				if a != b && alive[v][a] && alive[v][b] && m.replaces(v, a, b, alive) {
					alive[v][a] = false
					removed++
				}
			}
		}
	}
	return removed
}

// replaces reports whether state b of v is at least as good as a, whatever the states of others.
func (m *messages) replaces(v, a, b int, alive [][]bool) bool {
	gain := m.own[v][b] - m.own[v][a]
	for _, p := range m.at[v] {
		t := &m.tables[p.table]
		outer, n, inner := m.block(t, p.k)
		least := int64(widest)
		for o := range outer {
			x, y := t.value[(o*n+a)*inner:][:inner], t.value[(o*n+b)*inner:][:inner]
			for i := range x {
				switch {
				case x[i] == forbidden:
				case y[i] == forbidden:
					return false
				default:
					least = min(least, y[i]-x[i])
				}
			}
		}
		gain += least
	}
	return gain >= 0
}
