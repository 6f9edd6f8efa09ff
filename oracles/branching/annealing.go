package branching

import (
	"math"
	"math/rand/v2"
	"slices"
)

// annealing improves an assignment by changes of one variable, or of two that a table ties together. A change for the
// worse is accepted with probability exp(−loss/T) (Kirkpatrick, Gelatt and Vecchi 1983), so that it leaves assignments
// that no block of a neighbourhood leaves. The first run cools from a temperature at which everything is accepted,
// which measures the range of temperatures where something happens. Of the later ones, which take longer and longer,
// every other one is as hot, and forgets everything; those between warm the best states up to a temperature drawn from
// that range, and cool them again.
//
// What a variable's tables sum up to in each of its states, given the others, is kept: a change that is refused, as
// most are, costs no sum.
type annealing struct {
	*network
	at     [][]place
	turned [][]int64 // [T] pairs with the first variable fastest, nil for other tables
	r      *rand.Rand
	free   []int // variables of several states

	states  []int
	gains   [][]int64 // [V] the sum of the variable's tables in each of its states, given the others
	value   int64     // of states, where a forbidden entry counts as least of its table
	broken  int       // forbidden entries
	least   []int64   // [T] the least entry of the table less the penalty
	penalty int64
	most    int64 // that the penalty may be: no single change pays for it

	best       []int
	bestValue  int64
	bestBroken int
	changed    []int // variables since the states were the best; any if there are as many as all

	// temperatures between which changes for the worse are accepted now and then; 0 before they are known
	hot, cold   float64
	temperature float64
	cooling     float64 // factor of the temperature for every few proposals
	length      int     // proposals of a run
	left        int     // of this run
	warm        bool    // this run began between hot and cold
	worse       int     // changes for the worse that were accepted since the temperature was lowered
	alone, tied int     // work on proposals of one variable, and of two

	row []int64
}

// Of runs.
const (
	few       = 64         // proposals at one temperature
	firstRun  = 4          // proposals for each state of all variables
	lengthen  = 1.35       // every run
	often     = 0.2        // of proposals are accepted for the worse at the hottest
	seldom    = 1.0 / 2048 // at the coldest
	measured  = 1 << 9     // proposals at each temperature of the first run, at least
	proposing = 8          // entries that are computed in the time of a proposal
)

func newAnnealing(n *network, r *rand.Rand, states []int, turnable int) *annealing {
	a := &annealing{network: n, at: n.touching(), r: r, least: make([]int64, len(n.tables)),
		turned: make([][]int64, len(n.tables))}
	spread, around, room := int64(1), make([]int64, len(n.states)), turnable
	for k, t := range n.tables {
		low, high := int64(math.MaxInt64), int64(math.MinInt64)
		for _, x := range t.value {
			if x != forbidden {
				low, high = min(low, x), max(high, x)
			}
		}
		if low > high {
			low, high = 0, 0
		}
		a.least[k] = low
		spread = max(spread, high-low)
		for _, v := range t.scope {
			around[v] += high - low
			a.most = max(a.most, around[v])
		}
		if room -= len(t.value); len(t.scope) == 2 && room >= 0 {
			a.turned[k] = turn(t.value, n.states[t.scope[0]], n.states[t.scope[1]])
		}
	}
	widestRow, all := 0, 0
	for v, m := range n.states {
		a.gains = append(a.gains, make([]int64, m))
		if widestRow, all = max(widestRow, m), all+m; m > 1 {
			a.free = append(a.free, v)
		}
	}
	a.row, a.length = make([]int64, widestRow), max(1<<12, firstRun*all)
	a.most = min(a.most+1, widest/4/int64(1+len(n.tables)))
	a.states, a.changed = make([]int, len(n.states)), make([]int, len(n.states))
	a.fine(min(2*spread, a.most))
	a.put(states)
	a.best, a.bestValue, a.bestBroken = slices.Clone(states), a.value, a.broken
	return a
}

// turn returns a table of m × n entries with its axes exchanged.
func turn(value []int64, m, n int) []int64 {
	turned := make([]int64, len(value))
	for i := range m {
		for j, x := range value[i*n:][:n] {
			turned[j*m+i] = x
		}
	}
	return turned
}

// adopt takes an allowed assignment for the best one, from which the next run begins.
func (a *annealing) adopt(states []int, value int64) {
	copy(a.best, states)
	a.bestValue, a.bestBroken = value, 0
	a.changed = a.changed[:len(states)]
}

// fine makes forbidden entries cost more, as much as that.
func (a *annealing) fine(penalty int64) {
	for k := range a.least {
		a.least[k] -= penalty - a.penalty
	}
	a.penalty = penalty
}

// stricter doubles the penalty, if it may be larger.
func (a *annealing) stricter() {
	if a.penalty == a.most {
		return
	}
	a.fine(min(2*a.penalty, a.most))
	now := slices.Clone(a.states)
	a.put(a.best)
	a.bestValue = a.value
	a.put(now)
}

// put goes on from an assignment.
func (a *annealing) put(states []int) {
	copy(a.states, states)
	a.changed = a.changed[:len(states)]
	a.value, a.broken = a.fixed, 0
	for k := range a.tables {
		x := a.tables[k].value[a.entry(k)]
		if a.value += max(x, a.least[k]); x == forbidden {
			a.broken++
		}
	}
	for v, g := range a.gains {
		clear(g)
		for _, p := range a.at[v] {
			a.each(p, a.entry(p.table)-a.states[v]*p.inner, v, func(s int, x int64) { g[s] += x })
		}
	}
}

func (a *annealing) each(p place, first, v int, f func(s int, x int64)) {
	t, least := &a.tables[p.table], a.least[p.table]
	for s := range a.network.states[v] {
		f(s, max(t.value[first+s*p.inner], least))
	}
}

// entry returns the present entry of a table.
func (a *annealing) entry(k int) int {
	at := 0
	for _, v := range a.tables[k].scope {
		at = at*a.network.states[v] + a.states[v]
	}
	return at
}

// set changes a variable's state, and returns its work.
func (a *annealing) set(v, s int) (work int) {
	old := a.states[v]
	a.value += a.gains[v][s] - a.gains[v][old]
	for _, p := range a.at[v] {
		t, least := &a.tables[p.table], a.least[p.table]
		now := a.entry(p.table)
		delta := (s - old) * p.inner
		if t.value[now] == forbidden {
			a.broken--
		}
		if t.value[now+delta] == forbidden {
			a.broken++
		}
		if turned := a.turned[p.table]; turned != nil {
			u, from := t.scope[1-p.k], t.value
			if p.k == 1 {
				from = turned
			}
			g := a.gains[u]
			x, y := from[old*len(g):][:len(g)], from[s*len(g):][:len(g)]
			for i := range g {
				g[i] += max(y[i], least) - max(x[i], least)
			}
			work += len(g)
			continue
		}
		inner := 1
		for j := len(t.scope) - 1; j >= 0; j-- {
			u := t.scope[j]
			if u != v {
				g := a.gains[u]
				first := now - a.states[u]*inner
				for i := range g {
					g[i] += max(t.value[first+delta], least) - max(t.value[first], least)
					first += inner
				}
				work += len(g)
			}
			inner *= a.network.states[u]
		}
	}
	a.states[v] = s
	if len(a.changed) < len(a.states) {
		a.changed = append(a.changed, v)
	}
	return work
}

// leave keeps the states, which the next change may lose, if they are the best.
func (a *annealing) leave() {
	switch {
	case a.broken > 0 && a.bestBroken == 0:
		if a.value > a.bestValue { // breaking a rule pays
			a.stricter()
		}
		return
	case (a.broken == 0) == (a.bestBroken == 0) && a.value <= a.bestValue:
		return
	}
	a.bestValue, a.bestBroken = a.value, a.broken
	if len(a.changed) == len(a.states) {
		copy(a.best, a.states)
	}
	for _, v := range a.changed {
		a.best[v] = a.states[v]
	}
	a.changed = a.changed[:0]
}

// step makes proposals for about so much work, and reports whether the best states became better.
func (a *annealing) step(most int) (improved bool, work int) {
	value, broken := a.bestValue, a.bestBroken
	if len(a.free) == 0 {
		return false, most
	}
	for work < most {
		if a.left <= 0 {
			a.next()
		}
		n := few
		if a.cold == 0 {
			n = measured
		}
		for range n {
			work += a.propose()
		}
		a.left -= n
		if a.cold == 0 {
			a.measure(n)
		}
		a.temperature *= a.cooling
	}
	a.leave()
	return a.bestBroken < broken || a.bestValue > value, work
}

// measure notes at which temperatures changes for the worse are accepted often, and seldom.
func (a *annealing) measure(n int) {
	part := float64(a.worse) / float64(n)
	if a.worse = 0; a.hot == 0 && part < often {
		a.hot = a.temperature
	}
	if part < seldom || a.temperature < 1 {
		a.cold = a.temperature
		a.hot = max(a.hot, a.cold)
		a.left = 0
	}
}

// next begins a run.
func (a *annealing) next() {
	a.leave()
	if a.bestBroken > 0 {
		a.stricter()
	}
	if a.cold == 0 { // the first
		a.temperature, a.cooling, a.left = 1, 0.5, math.MaxInt
		for _, v := range a.free {
			a.temperature = max(a.temperature, float64(slices.Max(a.gains[v])-slices.Min(a.gains[v])))
		}
		return
	}
	a.put(a.best)
	a.temperature = a.hot
	if a.warm = !a.warm; a.warm {
		a.temperature = a.cold * math.Pow(a.hot/a.cold, a.r.Float64())
	}
	a.cooling = math.Pow(a.cold/a.temperature, few/float64(a.length))
	a.left = a.length
	a.length = int(lengthen * float64(a.length))
}

func (a *annealing) accept(gain int64) bool {
	if gain >= 0 {
		return true
	}
	if a.r.ExpFloat64()*a.temperature <= float64(-gain) {
		return false
	}
	a.worse++
	a.leave()
	return true
}

// propose draws a state for a variable, and takes it or not. If not, it proposes as well to change another variable,
// that of the table which loses most.
func (a *annealing) propose() (work int) {
	v := a.free[a.r.IntN(len(a.free))]
	s, old := a.r.IntN(a.network.states[v]-1), a.states[v]
	if s >= old {
		s++
	}
	gain := a.gains[v][s] - a.gains[v][old]
	a.alone += proposing
	if a.accept(gain) {
		return proposing + a.set(v, s)
	}
	if a.tied > a.alone {
		return proposing
	}
	u, tied := a.loser(v, s)
	if u >= 0 {
		row := a.given(u, v, s)
		w := a.topmost(row, a.states[u])
		tied += 2 * len(row)
		if gain += row[w] - a.gains[u][a.states[u]]; w != a.states[u] && a.accept(gain) {
			tied += a.set(v, s) + a.set(u, w)
		}
	}
	a.tied += tied
	return proposing + tied
}

// loser returns a variable of the table that loses most when v takes state s, −1 if none loses.
func (a *annealing) loser(v, s int) (u, work int) {
	worst, loss := -1, int64(0)
	for _, p := range a.at[v] {
		t, least := &a.tables[p.table], a.least[p.table]
		if len(t.scope) == 1 {
			continue
		}
		now := a.entry(p.table)
		if x := max(t.value[now], least) - max(t.value[now+(s-a.states[v])*p.inner], least); x > loss {
			worst, loss = p.table, x
		}
	}
	work = 2 * len(a.at[v])
	if worst < 0 {
		return -1, work
	}
	scope := a.tables[worst].scope
	for u = v; u == v; {
		u = scope[a.r.IntN(len(scope))]
	}
	return u, work
}

// given returns the gains of u if v took state s.
func (a *annealing) given(u, v, s int) []int64 {
	row := a.row[:a.network.states[u]]
	copy(row, a.gains[u])
	for _, p := range a.at[v] {
		t, least := &a.tables[p.table], a.least[p.table]
		delta := (s - a.states[v]) * p.inner
		inner := 1
		for j := len(t.scope) - 1; j >= 0; j-- {
			if t.scope[j] == u {
				first := a.entry(p.table) - a.states[u]*inner
				for i := range row {
					row[i] += max(t.value[first+delta], least) - max(t.value[first], least)
					first += inner
				}
			}
			inner *= a.network.states[t.scope[j]]
		}
	}
	return row
}

// topmost returns the best state but one, any of several; that one if there is no other.
func (a *annealing) topmost(row []int64, but int) int {
	top, ties := but, 0
	for s, x := range row {
		switch {
		case s == but || ties > 0 && x < row[top]:
		case ties == 0 || x > row[top]:
			top, ties = s, 1
		default:
			if ties++; a.r.IntN(ties) == 0 {
				top = s
			}
		}
	}
	return top
}
