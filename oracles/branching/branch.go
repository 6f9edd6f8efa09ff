package branching

import (
	"fmt"
	"math"
)

// component is a tree of its own, whose best value adds to those of the others.
type component struct {
	root  int
	bound int64
	exact bool  // bound is the value
	step  int64 // by how much the next question is below the bound
	nodes int   // spent
}

// Sizes of buckets, which grow where a search gets long.
const (
	firstBucket = 1 << 10
	growth      = 8
	direct      = 1 << 22 // entries that elimination without splits may have at once
	leastNodes  = 1 << 13 // of a search before buckets grow
	leastWork   = 1 << 23 // entries of a turn of best-first search
	nodeEntries = 8       // entries that are computed in the time of a node
	mostSlots   = 1 << 22
)

// limits returns the sizes of buckets to try.
func (t *tree) limits(entries float64) (most []float64) {
	if size, _ := t.plan(math.Inf(1)); size <= min(entries, direct) {
		return []float64{math.Inf(1)}
	}
	next := float64(firstBucket)
	for ; ; next *= growth {
		size, exact := t.plan(next)
		if size > entries {
			break
		}
		if most = append(most, next); exact {
			return most
		}
	}
	for next /= 2; next > 1; next /= 2 {
		if len(most) > 0 && next <= most[len(most)-1] {
			return most
		}
		if size, _ := t.plan(next); size <= entries {
			return append(most, next)
		}
	}
	return append(most, 1)
}

// branch searches the tree with buckets that grow.
func (v *Solver) branch(s Settings) {
	var parts []*component
	for i, p := range v.tree.parent {
		if p < 0 {
			parts = append(parts, &component{root: i, bound: widest})
		}
	}
	slots := ways
	for 2*slots*slotBytes <= int(2*s.Entries) && slots < mostSlots {
		slots *= 2
	}
	memory := newMemory(slots)
	limits := v.tree.limits(s.Entries)
	budget := leastNodes
	for k, most := range limits {
		what := fmt.Sprintf("buckets of %.0f entries", most)
		if math.IsInf(most, 1) {
			what = "elimination"
		}
		if !math.IsInf(most, 1) {
			v.inOrder(max(budget*nodeEntries, leastWork))
		}
		if v.done() {
			return
		}
		v.say(what)
		b := newBuckets(v.tree, most, v.stop)
		if b == nil {
			return
		}
		computed, _ := v.tree.plan(most)
		v.local.beside(4 * int(computed))
		if k+1 < len(limits) {
			size, _ := v.tree.plan(limits[k+1])
			budget = max(leastNodes, int(size/nodeEntries))
		}
		for v.search(b, memory, parts, budget); k+1 == len(limits) && !v.done(); v.search(b, memory, parts, budget) {
			v.inOrder(max(budget*nodeEntries, leastWork))
			budget *= 2
		}
		if v.done() {
			return
		}
	}
}

// inOrder goes on with nodes in the order of bounds.
func (v *Solver) inOrder(work int) {
	if v.best == nil {
		return
	}
	v.say("best first")
	if !v.best.run(work) {
		v.best = nil
	}
}

// search asks questions about the components until the best assignment is proven, or the nodes are spent.
func (v *Solver) search(b *buckets, memory *memory, parts []*component, budget int) {
	again, floor := false, int64(forbidden)
	var s *search
	s = newSearch(b, memory, func(nodes int) bool {
		v.answer.Nodes += pollEvery
		if v.stop() || nodes >= budget {
			return true
		}
		v.local.beside(s.work)
		s.work = 0
		again = v.value > floor
		return again
	})
	for _, p := range parts {
		if h := s.bound(p.root); !p.exact && h < p.bound {
			p.bound = h
		}
		p.exact, p.step = p.exact || b.exact[p.root], 0
	}
	v.lower(v.sum(parts))
	v.say("limited discrepancies")
	for d := 0; d < 4 && !v.done(); d++ {
		nodes := 4*len(v.tree.states) + min(budget/8, 1<<16)
		floor = widest
		start := v.tree.fixed
		for _, p := range parts {
			start = plus(start, s.bound(p.root))
		}
		value := v.value
		s.dive(len(v.tree.states)-1, start, d, &value, &nodes, func() { v.take(v.original(s)) })
		if s.stopped = false; b.exact[len(b.exact)-1] && len(parts) == 1 {
			break
		}
	}
	v.say("branch and bound")
	total := 0
	for !v.done() {
		p := least(parts)
		if p == nil {
			v.finish(s, parts)
			return
		}
		rest := v.sum(parts) - p.bound
		low, gap := int64(forbidden), int64(1)<<(digits-10)
		if v.value != forbidden {
			low = v.value - rest
			gap = p.bound - low
		}
		if p.step == 0 {
			p.step = gap/16 + 1
		}
		need := max(low, p.bound-p.step)
		floor = plus(need, rest)
		before := s.nodes
		value, found := s.solve(p.root, need)
		p.nodes += s.nodes - before
		total += s.nodes - before
		if s.stopped {
			if !again || v.stop() || s.nodes >= budget {
				return
			}
			s.stopped, again = false, false
			continue
		}
		p.bound, p.exact = value, found
		v.lower(v.sum(parts))
		if 2*(s.nodes-before) < total || s.nodes == before {
			p.step *= 2
		}
	}
}

// least returns the component without a known value that took the fewest nodes, nil if all are known.
func least(parts []*component) *component {
	var best *component
	for _, p := range parts {
		if !p.exact && (best == nil || p.nodes < best.nodes) {
			best = p
		}
	}
	return best
}

func (v *Solver) sum(parts []*component) int64 {
	sum := v.tree.fixed
	for _, p := range parts {
		sum = plus(sum, p.bound)
	}
	return sum
}

// finish finds the assignment of components whose values are known.
func (v *Solver) finish(s *search, parts []*component) {
	v.lower(v.sum(parts))
	if v.done() {
		return
	}
	s.poll = func(int) bool { return v.stop() }
	for _, p := range parts {
		if !s.assign(p.root, p.bound) {
			return
		}
	}
	v.take(v.original(s))
}
