package tree

import "math"

// search holds what the enumeration of a sentence's best trees has found so far. It divides what is left of the trees into
// disjoint sets (Lawler 1972): those that agree with a tree found before on all dependents before d, and give d another head.
//
// The best trees of a set are bounded by the reduced costs of some set around it: n numbers per dependent, which come with every
// contraction. Often the bound is met by giving d one other head and changing nothing else; then the set needs no contraction.
type search struct {
	arc            []float32
	n, stride      int
	offset         []float64
	duals          []dual
	costs          []float64 // [duals×n×stride]
	trees          []int32   // [trees×n]
	sets           []set     // a heap by bound
	exclusions     []exclusion
	enter, exit    []int32 // [n] when a walk through the tree enters and leaves a token
	child, sibling []int32
}

// dual is the value of a contraction; its reduced costs are in costs.
type dual struct{ value float64 }

// exclusion is a list of heads that are not allowed.
type exclusion struct{ column, next int32 }

// set is the trees that agree with tree from on dependents before d, where they do not have the excluded heads.
type set struct {
	bound    float64 // no less than the score of its best tree, which it is if solved
	from     int32   // a tree
	d        int32
	excluded int32 // a list, 0 at its end
	dual     int32 // whose reduced costs hold for it
	tree     int32 // its best one, −1 if not known
	swap     int32 // if ≥ 0, from with this column as the head of d is its best tree
}

// TopK finds the min(k, number of allowed trees) best trees, best first, and returns how many there are: heads holds n for each,
// score their scores. A set of trees that is left is contracted, in O(n²), only where its bound is among the best.
func (p *NonProjective) TopK(arc []float32, n, k int, heads []int32, score []float64) int {
	if k == 0 {
		return 0
	}
	if n == 0 {
		score[0] = 0
		return 1
	}
	c, g := &p.contraction, &p.search
	c.load(arc, n)
	if !c.run() {
		return 0
	}
	g.open(arc, n, c.stride)
	first := set{d: 0, tree: g.record(c), swap: -1, dual: 0}
	if k > 1 {
		g.addDual(c)
	}
	first.bound = Score(arc, g.tree(first.tree))
	g.push(first)
	found := 0
	for found < k && len(g.sets) > 0 {
		s := g.pop()
		if s.tree < 0 && s.swap < 0 && !p.solve(&s) {
			continue
		}
		if len(g.sets) > 0 && s.bound < g.sets[0].bound {
			g.push(s)
			continue
		}
		if s.swap >= 0 {
			s.tree = g.addTree(g.tree(s.from))
			g.tree(s.tree)[s.d] = headOf(int(s.d), int(s.swap))
		}
		copy(heads[found*n:(found+1)*n], g.tree(s.tree))
		score[found] = Score(arc, g.tree(s.tree))
		found++
		sortByScore(heads, score[:found], n)
		if found < k {
			g.divide(s)
		}
	}
	return found
}

// solve finds the best tree of a set by contraction. It reports false if there is none.
func (p *NonProjective) solve(s *set) bool {
	c, g := &p.contraction, &p.search
	c.load(g.arc, g.n)
	from := g.tree(s.from)
	for d := range int(s.d) {
		h, row := from[d], c.rowOf(d)
		if h == 0 {
			fill(row, never)
			continue
		}
		v := row[h-1]
		fill(row, never)
		row[h-1], c.root[d] = v, never
	}
	d := int(s.d)
	for at := s.excluded; at > 0; at = g.exclusions[at].next {
		if h := int(g.exclusions[at].column); h == d {
			c.root[d] = never
		} else {
			c.rowOf(d)[h] = never
		}
	}
	if !c.run() {
		return false
	}
	s.tree = g.record(c)
	s.dual = g.addDual(c)
	s.bound = Score(g.arc, g.tree(s.tree))
	return true
}

// open starts an enumeration.
func (g *search) open(arc []float32, n, stride int) {
	g.arc, g.n, g.stride = arc, n, stride
	g.offset = grow(g.offset, 2*n*stride)
	g.duals, g.costs, g.trees, g.sets = g.duals[:0], g.costs[:0], g.trees[:0], g.sets[:0]
	g.exclusions = append(g.exclusions[:0], exclusion{})
	for _, s := range []*[]int32{&g.enter, &g.exit, &g.child, &g.sibling} {
		*s = grow(*s, n+1)
	}
}

func (g *search) tree(i int32) []int32 { return g.trees[int(i)*g.n:][:g.n] }

func (g *search) addTree(heads []int32) int32 {
	g.trees = append(g.trees, heads...)
	return int32(len(g.trees)/g.n) - 1
}

// record keeps the best tree of a contraction.
func (g *search) record(c *contraction) int32 {
	for range g.n {
		g.trees = append(g.trees, 0)
	}
	added := int32(len(g.trees)/g.n) - 1
	c.expand(g.tree(added))
	return added
}

// addDual keeps the reduced costs of a contraction.
func (g *search) addDual(c *contraction) int32 {
	added, size := len(g.duals), g.n*g.stride
	if need := (added + 1) * size; need > cap(g.costs) {
		g.costs = append(make([]float64, 0, max(need, 2*cap(g.costs))), g.costs...)
	}
	g.costs = g.costs[:(added+1)*size]
	g.duals = append(g.duals, dual{value: c.reducedCosts(g.costs[added*size:], g.offset)})
	return int32(added)
}

// divide pushes the sets that a set's trees other than its best are in.
func (g *search) divide(s set) {
	best, dual := g.tree(s.tree), g.duals[s.dual]
	costs := g.costs[int(s.dual)*g.n*g.stride:]
	g.walk(best)
	score := Score(g.arc, best)
	bound := dual.value
	for d := range g.n {
		row := costs[d*g.stride:][:g.stride]
		own := column(d, best[d])
		if d >= int(s.d) {
			g.pushOthers(s, d, row, own, bound, score)
		}
		bound += row[own]
	}
}

// pushOthers pushes the set of the trees of s that agree with its best tree on all dependents before d and differ on d. They
// score at most bound plus the reduced cost of d's arc; the best tree itself has the given score.
func (g *search) pushOthers(s set, d int, row []float64, own int, bound, score float64) {
	part := set{from: s.tree, d: int32(d), dual: s.dual, tree: -1, swap: -1}
	if d == int(s.d) {
		part.excluded = s.excluded
	}
	g.exclusions = append(g.exclusions, exclusion{int32(own), part.excluded})
	part.excluded = int32(len(g.exclusions)) - 1
	h := g.bestOther(row, part.excluded)
	if h < 0 {
		return
	}
	part.bound = bound + row[h]
	if h != d && own != d && !g.descends(h, d) {
		scores := g.arc[d*g.n:]
		if v := score - float64(scores[own]) + float64(scores[h]); v >= part.bound-1e-10*(math.Abs(v)+1) {
			part.bound, part.swap = v, int32(h)
		}
	}
	g.push(part)
}

// bestOther returns the column with the largest number that is not excluded, −1 if there is none.
func (g *search) bestOther(row []float64, excluded int32) int {
	best, m := -1, never
next:
	for h, v := range row[:g.n] {
		if v <= m {
			continue
		}
		for at := excluded; at > 0; at = g.exclusions[at].next {
			if g.exclusions[at].column == int32(h) {
				continue next
			}
		}
		best, m = h, v
	}
	return best
}

// walk numbers the tokens of a tree so that descends can tell who descends from whom.
func (g *search) walk(heads []int32) {
	for i := range g.child {
		g.child[i] = -1
	}
	for d, h := range heads {
		g.sibling[d+1] = g.child[h]
		g.child[h] = int32(d + 1)
	}
	at, time := g.child[0], int32(0)
	g.enter[at] = 0
	for {
		if down := g.child[at]; down >= 0 {
			time++
			g.enter[down] = time
			at = down
			continue
		}
		for {
			g.exit[at] = time
			if next := g.sibling[at]; next >= 0 && heads[at-1] != 0 {
				time++
				g.enter[next] = time
				at = next
				break
			}
			if heads[at-1] == 0 {
				return
			}
			at = heads[at-1]
		}
	}
}

// descends reports whether token h descends from token d, or is it.
func (g *search) descends(h, d int) bool {
	return g.enter[h+1] >= g.enter[d+1] && g.enter[h+1] <= g.exit[d+1]
}

// push adds a set to the heap.
func (g *search) push(s set) {
	g.sets = append(g.sets, s)
	i := len(g.sets) - 1
	for i > 0 {
		up := (i - 1) / 2
		if g.sets[up].bound >= s.bound {
			break
		}
		g.sets[i] = g.sets[up]
		i = up
	}
	g.sets[i] = s
}

// pop takes the set with the largest bound.
func (g *search) pop() set {
	top, last := g.sets[0], g.sets[len(g.sets)-1]
	g.sets = g.sets[:len(g.sets)-1]
	n, i := len(g.sets), 0
	for {
		down := 2*i + 1
		if down+1 < n && g.sets[down+1].bound > g.sets[down].bound {
			down++
		}
		if down >= n || g.sets[down].bound <= last.bound {
			break
		}
		g.sets[i] = g.sets[down]
		i = down
	}
	if n > 0 {
		g.sets[i] = last
	}
	return top
}
