package branching

// search is depth-first branch and bound over a tree: given the variables above them, subtrees are solved apart from
// each other (AND/OR search, Marinescu and Dechter 2009). Bounds come from buckets; a memory of solved subtrees, by
// what they depend on, saves solving them again.
//
// One question is answered at a time: is the best value of a subtree above need? An answer is the value itself, or a
// bound that is not above need. Asked with needs that fall from the bound to the value of the best known assignment,
// this visits subtrees about as best-first search does, in the memory of depth-first search, and each answer lowers the
// bound.
type search struct {
	*buckets
	memory *memory
	states []int // [V] the assignment above the current variable

	scores [][]int64 // [V] bound for each state of the variable
	shares [][]int64 // [V] what the subtree adds to the score of each state of its parent

	poll    func(nodes int) bool // says whether to stop; it is asked every pollEvery nodes
	nodes   int
	work    int // entries that were added up
	stopped bool
}

const pollEvery = 1024

func newSearch(b *buckets, memory *memory, poll func(nodes int) bool) *search {
	s := &search{buckets: b, memory: memory, poll: poll, states: make([]int, len(b.states))}
	for i, n := range b.states {
		s.scores = append(s.scores, make([]int64, n))
		share := 0
		if p := b.parent[i]; p >= 0 {
			share = b.states[p]
		}
		s.shares = append(s.shares, make([]int64, share))
	}
	return s
}

// bound returns the bound of the subtree of i, given the variables above it.
func (s *search) bound(i int) int64 {
	sum := s.constant[i]
	for _, f := range s.above[i] {
		sum = plus(sum, f.at(s.states))
	}
	for _, f := range s.into[i] {
		sum = plus(sum, f.at(s.states))
	}
	return sum
}

// score computes the bounds for all states of i, given the variables above it.
func (s *search) score(i int) []int64 {
	q := s.scores[i]
	clear(q)
	s.work += len(q) * (nodeEntries + len(s.tables[i]))
	for _, f := range s.tables[i] {
		for k, x := range f.row(s.states)[:len(q)] {
			q[k] = plus(q[k], x)
		}
	}
	for _, c := range s.children[i] {
		s.work += len(q) * (2 + len(s.into[c]))
		h, sum := s.shares[c], s.constant[c]
		for _, f := range s.above[c] {
			sum = plus(sum, f.at(s.states))
		}
		for k := range h {
			h[k] = sum
		}
		for _, f := range s.into[c] {
			for k, x := range f.row(s.states)[:len(h)] {
				h[k] = plus(h[k], x)
			}
		}
		for k, x := range h {
			q[k] = plus(q[k], x)
		}
	}
	return q
}

// count counts a node and reports whether to stop.
func (s *search) count() bool {
	if s.nodes++; s.nodes%pollEvery == 0 && !s.stopped {
		s.stopped = s.poll(s.nodes)
	}
	return s.stopped
}

// solve returns the value of the subtree of i, given the variables above it, and true, if that is above need, and
// otherwise a bound that is not. If it is stopped, neither is true and the number says nothing.
func (s *search) solve(i int, need int64) (value int64, found bool) {
	if s.exact[i] {
		h := s.bound(i)
		return h, h > need
	}
	if need < forbidden {
		need = forbidden
	}
	slot := s.memory.find(i, s.key(i))
	if slot != nil && (slot.bound <= need || slot.exact) {
		return slot.bound, slot.bound > need
	}
	if s.count() {
		return forbidden, false
	}
	before := s.nodes
	q := s.score(i)
	best, upper := need, int64(forbidden)
	for {
		state := 0
		for k, x := range q {
			if x > q[state] {
				state = k
			}
		}
		if q[state] <= best {
			upper = max(upper, q[state])
			break
		}
		sum := q[state]
		q[state] = forbidden
		for _, c := range s.children[i] { // what is remembered of them costs nothing
			if s.exact[c] {
				continue
			}
			s.states[i] = state
			if r := s.memory.find(c, s.key(c)); r != nil && r.bound < s.shares[c][state] {
				sum = plus(sum, r.bound-s.shares[c][state])
				s.shares[c][state] = r.bound
			}
		}
		sum, full := s.descend(i, state, sum, best)
		if s.stopped {
			return forbidden, false
		}
		if full {
			best, found = sum, true
		} else {
			upper = max(upper, sum)
		}
	}
	if found {
		upper = best
	}
	s.memory.keep(i, s.key(i), upper, found, s.nodes-before)
	return upper, found
}

// descend solves the children of i in a state whose bound is sum, as long as that stays above best. It returns the
// value and true, or a bound that is not above best.
func (s *search) descend(i, state int, sum, best int64) (int64, bool) {
	if sum <= best {
		return sum, false
	}
	for _, c := range s.children[i] {
		if s.exact[c] {
			continue
		}
		s.states[i] = state
		share := s.shares[c][state]
		value, _ := s.solve(c, best-(sum-share))
		if s.stopped || value == forbidden {
			return forbidden, false
		}
		if sum += value - share; sum <= best {
			return sum, false
		}
	}
	return sum, true
}

// assign sets the states of the subtree of i to a best assignment, whose value is known, given the variables above it.
// It reports whether it was not stopped.
func (s *search) assign(i int, value int64) bool {
	q := append([]int64(nil), s.score(i)...)
	for state, bound := range q {
		if bound < value {
			continue
		}
		s.states[i] = state
		sum := bound
		values := make([]int64, len(s.children[i]))
		for k, c := range s.children[i] {
			values[k] = s.shares[c][state]
			if !s.exact[c] {
				v, _ := s.solve(c, value-(sum-values[k])-1)
				if s.stopped {
					return false
				}
				sum = plus(sum, v-values[k])
				values[k] = v
			}
			if sum < value {
				break
			}
		}
		if sum != value {
			continue
		}
		for k, c := range s.children[i] {
			if !s.assign(c, values[k]) {
				return false
			}
		}
		return true
	}
	panic("no state has the value that was found")
}

// dive completes the states of variables above i downwards, each with the state whose bound is best; every other state
// that it takes is a discrepancy, of which there may be some (Harvey and Ginsberg 1995). bound is that of the
// assignment so far. It calls found with the value of each assignment that is above *value, and ends where found, or a
// limit of nodes, says so.
func (s *search) dive(i int, bound int64, discrepancies int, value *int64, nodes *int, found func()) bool {
	if i < 0 {
		*value = bound
		found()
		return true
	}
	if *nodes--; *nodes < 0 || s.count() {
		return false
	}
	for _, f := range s.from[i] {
		bound -= f.at(s.states)
	}
	bound -= s.alone(i)
	q := make([]int64, len(s.scores[i]))
	s.work += len(q) * (nodeEntries + len(s.tables[i]) + len(s.children[i]))
	for _, f := range s.tables[i] {
		for k, x := range f.row(s.states)[:len(q)] {
			q[k] = plus(q[k], x)
		}
	}
	for _, c := range s.children[i] {
		for _, f := range s.into[c] {
			for k, x := range f.row(s.states)[:len(q)] {
				q[k] = plus(q[k], x)
			}
		}
	}
	for left := discrepancies; left >= 0; left-- {
		state := 0
		for k, x := range q {
			if x > q[state] {
				state = k
			}
		}
		if q[state] == forbidden || plus(bound, q[state]) <= *value {
			return true
		}
		s.states[i] = state
		if !s.dive(i-1, bound+q[state], left, value, nodes, found) {
			return false
		}
		if s.exact[i] {
			return true
		}
		q[state] = forbidden
	}
	return true
}

// alone returns the part of the constant of i that its own mini-buckets sent.
func (s *search) alone(i int) int64 {
	sum := s.constant[i]
	for _, c := range s.children[i] {
		sum -= s.constant[c]
	}
	return sum
}
