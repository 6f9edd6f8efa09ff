package branching

// messages moves value between the tables of a network, so that the sum of the tables' best entries, a bound of the
// best value, falls. It is sequential reweighted message passing (Kolmogorov 2015), in whole numbers: value moves as it
// is, nothing is kept beside the tables.
type messages struct {
	*network
	own   [][]int64 // [V] what a variable holds
	at    [][]place // [V] tables of two variables or more
	score [][]int64 // scratch, one row per table of a variable
	total []int64   // scratch
	floor int64     // states go that are in no assignment above it; forbidden keeps all that are allowed
	above int64     // at least bound(), for floor
}

func newMessages(n *network) *messages {
	m := &messages{network: n, own: make([][]int64, len(n.states)), floor: forbidden}
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

// visit takes from v's tables the best entry of each of its states, and hands equal shares of the sum to the tables
// that are visited later.
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
		if !p.last {
			ahead++
		}
		if !p.first {
			behind++
		}
	}
	if m.floor != forbidden {
		top := most(own)
		for s, x := range own {
			if m.above-(top-x) <= m.floor {
				own[s] = forbidden
			}
		}
	}
	parts := int64(max(ahead, behind, 1))
	m.total = append(m.total[:0], own...)
	total := m.total
	for r, p := range m.at[v] {
		later := !backward && !p.last || backward && !p.first
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

// decode gives each variable in turn the state whose bound is best, given the variables before it.
func (m *messages) decode() []int {
	states := make([]int, len(m.own))
	for v, own := range m.own {
		q := append([]int64(nil), own...)
		for _, p := range m.at[v] {
			m.given(p, states, q)
		}
		for s, x := range q {
			if x > q[states[v]] {
				states[v] = s
			}
		}
	}
	return states
}

// given adds to q, for each state of p's variable, the best entry of a table in which the variables before it have
// their states.
func (m *messages) given(p place, states []int, q []int64) {
	t := &m.tables[p.table]
	var sizes, strides []int // of the variables after it, the last one first
	first, step, mine, free := 0, 1, 0, 1
	for k := len(t.scope) - 1; k >= 0; k-- {
		u, n := t.scope[k], m.states[t.scope[k]]
		switch {
		case k == p.k:
			mine = step
		case u < t.scope[p.k]:
			first += states[u] * step
		default:
			sizes, strides, free = append(sizes, n), append(strides, step), free*n
		}
		step *= n
	}
	for s := range q {
		top := int64(forbidden)
		for k := range free {
			at := first + s*mine
			for j, n := range sizes {
				at += k % n * strides[j]
				k /= n
			}
			top = max(top, t.value[at])
		}
		q[s] = plus(q[s], top)
	}
}

// best returns the best entry of a table for every state of a variable.
func (m *messages) best(p place, into []int64) []int64 {
	t := &m.tables[p.table]
	n := m.states[t.scope[p.k]]
	into = into[:0]
	for range n {
		into = append(into, forbidden)
	}
	if p.inner == 1 {
		for at := 0; at < len(t.value); at += n {
			for s, x := range t.value[at:][:n] {
				into[s] = max(into[s], x)
			}
		}
		return into
	}
	for o := range p.outer {
		for s := range n {
			most := into[s]
			for _, x := range t.value[(o*n+s)*p.inner:][:p.inner] {
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
	n := len(by)
	if p.inner == 1 {
		for at := 0; at < len(t.value); at += n {
			row := t.value[at:][:n]
			for s, x := range by {
				row[s] = plus(row[s], x)
			}
		}
		return
	}
	for o := range p.outer {
		for s, x := range by {
			row := t.value[(o*n+s)*p.inner:][:p.inner]
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

// dominated takes from alive the states that another one of the same variable replaces in every assignment without loss
// (Goldstein 1994). It reports how many.
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
		n := m.states[v]
		least := int64(widest)
		for o := range p.outer {
			x, y := t.value[(o*n+a)*p.inner:][:p.inner], t.value[(o*n+b)*p.inner:][:p.inner]
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
