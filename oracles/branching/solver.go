package branching

import (
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles/factors"
)

// Settings limit a solver.
type Settings struct {
	Entries float64 // of all tables together, 8 bytes each
	Seed    uint64
	Gap     float64 // the part of the value by which the bound may be above it at the end; 0 asks for a proof
}

// Answer is what is known of the best assignment. Values are natural logarithms.
type Answer struct {
	States []int   // the best assignment known, nil if none is
	Value  float64 // of States; −∞ if there are none
	Bound  float64 // at least the best value, with all rounding
	// no assignment is better than States by more than Rounding; without States, every assignment is forbidden
	Proven bool
	Error  float64 // Rounding: the tables' in whole numbers
	Doing  string  // what runs
	Nodes  int     // of the tree
	Width  int     // of the order of elimination
}

// Solver looks for the best assignment of a model.
type Solver struct {
	model  *factors.Model
	joined *joined
	whole  *network // the model without the variables that others settle
	states []int    // the best assignment of whole, nil if none is known
	value  int64
	upper  int64
	first  int64 // the bound before messages
	answer Answer

	stop   func() bool
	report func(*Answer)
	gap    float64
	r      *rand.Rand
	local  *local

	tree *tree
	best *bestFirst
	kept [][]int // states of the reduced network, by their numbers in whole
}

// New prepares to solve a model.
func New(m *factors.Model, s Settings) *Solver {
	v := &Solver{model: m, joined: join(newNetwork(m)), value: forbidden, r: rand.New(rand.NewPCG(s.Seed, 21))}
	v.whole = v.joined.of
	v.upper = v.whole.fixed
	for k := range v.whole.tables {
		v.upper = plus(v.upper, most(v.whole.tables[k].value))
	}
	return v
}

// Solve runs until the best assignment is proven, or stop, which is asked often, says so. report, which may be nil,
// hears of every new assignment, bound and stage.
func (v *Solver) Solve(s Settings, stop func() bool, report func(*Answer)) *Answer {
	v.stop, v.report, v.gap = stop, report, s.Gap
	if report == nil {
		v.report = func(*Answer) {}
	}
	if v.upper != forbidden {
		v.run(s)
	}
	return v.now("done")
}

// now returns what is known.
func (v *Solver) now(doing string) *Answer {
	a := &v.answer
	a.Value, a.Bound, a.Error, a.Proven = math.Inf(-1), math.Inf(-1), 2*v.whole.error, v.proven()
	if v.states != nil {
		a.States = v.joined.all(v.states)
		a.Value = v.model.Value(a.States)
	}
	if v.upper != forbidden {
		a.Bound = float64(v.upper)*v.whole.unit + v.whole.error
	}
	if a.Proven {
		a.Bound = max(a.Value, a.Bound)
	}
	if doing != "" {
		a.Doing = doing
	}
	return a
}

func (v *Solver) say(doing string) { v.report(v.now(doing)) }

// take takes an assignment of whole if it is better.
func (v *Solver) take(states []int) {
	if value := v.whole.value(states); value > v.value {
		v.value, v.states = value, append([]int{}, states...)
		v.say("")
	}
}

// lower takes a bound if it is lower. No bound is below a known value.
func (v *Solver) lower(bound int64) {
	if bound = max(bound, v.value); bound < v.upper {
		v.upper = bound
		v.say("")
	}
}

// proven reports whether nothing but rounding is between the best assignment and the bound.
func (v *Solver) proven() bool {
	return v.value >= v.upper || v.value != forbidden && float64(v.upper-v.value)*v.whole.unit <= v.whole.error
}

func (v *Solver) done() bool {
	return v.proven() || v.value != forbidden && float64(v.upper-v.value) <= v.gap*math.Abs(float64(v.value)) || v.stop()
}

// Passes of messages.
const (
	passes    = 300
	converged = 1e-5 // of what messages have lowered the bound by: a pass must lower it by more to be followed by another
	rounds    = 20   // of reductions

	firstLocal = 1 << 9  // entries of local search before the tree, for each of the model
	mostFirst  = 1 << 25 // entries of it in all
)

func (v *Solver) run(s Settings) {
	n := v.whole.clone()
	v.say("messages")
	v.local = newLocal(v, s, newMessages(n.clone()).decode())
	m := v.pass(n)
	v.take(m.decode())
	v.say("local search")
	v.local.improve(min(mostFirst, firstLocal*(64+n.entries())))
	if v.done() {
		return
	}
	v.reduce(m, s)
	if !v.done() {
		v.branch(s)
	}
}

// pass passes messages until the bound has settled.
func (v *Solver) pass(n *network) *messages {
	untouched := n.clone()
	m := newMessages(n)
	last := m.bound()
	if v.first == 0 {
		v.first = last
	}
	for range passes {
		if v.done() {
			return m
		}
		m.floor, m.above = v.value, last
		m.pass()
		if m.wide() { // whole numbers have no room for so large messages
			return newMessages(untouched)
		}
		bound := m.bound()
		v.lower(bound)
		if bound == forbidden || float64(last-bound) <= converged*float64(v.first-bound) {
			return m
		}
		last = bound
		v.local.beside(4 * n.entries())
	}
	return m
}

// reduce takes states out of the network that no better assignment needs, and makes the tree.
func (v *Solver) reduce(m *messages, s Settings) {
	v.say("reduction")
	v.kept = make([][]int, len(v.whole.states))
	for i, n := range v.whole.states {
		for k := range n {
			v.kept[i] = append(v.kept[i], k)
		}
	}
	for round := 0; !v.done(); round++ {
		alive := m.alive(v.value)
		m.dominated(alive)
		m.end()
		small, kept := m.keep(alive)
		if kept == nil { // nothing is better than what is known
			v.lower(v.value)
			return
		}
		removed := false
		for i, states := range kept {
			removed = removed || len(states) < len(v.kept[i])
			for k, s := range states {
				states[k] = v.kept[i][s]
			}
		}
		v.kept = kept
		if !removed || round == rounds {
			m = newMessages(small)
			break
		}
		m = v.pass(small)
	}
	if v.done() {
		return
	}
	m.end()
	v.best = newBestFirst(v, m.network.clone(), s.Entries)
	v.say("order of elimination")
	v.tree = newTree(m.network, order(m.network, v.r, v.stop))
	for i := range v.tree.context {
		v.answer.Width = max(v.answer.Width, len(v.tree.context[i]))
	}
}

// original returns the states of whole of a search.
func (v *Solver) original(s *search) []int {
	states := make([]int, len(v.kept))
	for i, u := range v.tree.original {
		states[u] = v.kept[u][s.states[i]]
	}
	return states
}

// Possible lists the states of each variable that messages do not exclude from all allowed assignments; nil if they
// exclude every assignment.
func Possible(m *factors.Model, stop func() bool) [][]int {
	v := &Solver{model: m, whole: newNetwork(m), value: forbidden, upper: widest, stop: stop, report: func(*Answer) {}}
	q := v.pass(v.whole.clone())
	kept := make([][]int, len(m.States))
	for i, own := range q.own {
		for s, x := range own {
			if x != forbidden {
				kept[i] = append(kept[i], s)
			}
		}
		if kept[i] == nil {
			return nil
		}
	}
	return kept
}
