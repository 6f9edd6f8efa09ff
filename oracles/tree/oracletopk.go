package tree

import (
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/structured/trees"
)

// TopK implements oracles.Ranker. If a tree with some relations is among the k best, then so is the tree with its best
// relations. So TopK first finds the k best trees, and then enumerates all their labelings together, best first.
func (o *Oracle) TopK(θ *structured.Potentials, k int, best *oracles.KBest) {
	best.Resize(θ, k)
	o.guard.Begin(θ)
	for b := range θ.Len() {
		if !o.guard.Valid(θ, b) {
			best.Refuse(θ, b)
			continue
		}
		lo, hi := θ.Outputs[b], θ.Outputs[b+1]
		s := sentenceOf(θ, b)
		o.open(θ, b, nil)
		o.bestRelations(&s)
		g := &o.lists
		g.open(s, k)
		if g.siblings = nil; len(θ.Parts) > 2 {
			g.siblings = θ.Parts[2].Of(b)
		}
		g.count = o.solver.TopK(o.arc, s.n, k, g.heads, g.scores)
		count := 0
		for count < k && g.advance() {
			y := best.Output(count, lo, hi)
			g.write(y)
			best.Place(b, count, lo, hi, θ.Score(b, y))
			count++
		}
		best.Count[b] = count
	}
}

// rankedRelations enumerates the labelings of several trees, best first. The successors of a labeling change one
// dependent to its next best relation: the dependent that was changed last or a later one, so that every labeling
// occurs once.
type rankedRelations struct {
	s      sentence
	heads  []int32   // [k×n] trees, best first
	scores []float64 // [k]
	count  int       // number of trees
	opened int       // number of trees that take part so far

	siblings []float32 // scores of siblings, in the rows of trees.SiblingRow, or nil

	labelings []labeling
	heap      []int32 // of labelings
	last      int32   // the latest labeling

	first     []int32 // [n×n] index of an arc's best relation in relations, 0 until it is needed
	relations []relation
}

// labeling assigns relations to the arcs of a tree. It differs from another labeling in one dependent.
type labeling struct {
	score    float64
	tree     int32
	from     int32 // the other labeling, −1 for the tree's best relations
	d        int32
	relation int32 // of d, an index into relations
}

// relation is one of an arc's relations.
type relation struct {
	label int32
	next  int32 // the next best of the same arc, 0 until found, −1 if there is none
}

func (g *rankedRelations) open(s sentence, k int) {
	g.s, g.opened = s, 0
	g.heads, g.scores = vec.Grow(g.heads, k*s.n), vec.Grow(g.scores, k)
	g.first = vec.Grow(g.first, s.n*s.n)
	clear(g.first)
	g.labelings, g.heap, g.last = g.labelings[:0], g.heap[:0], -1
	g.relations = append(g.relations[:0], relation{})
}

// advance finds the next best labeling. It returns false if there is none.
func (g *rankedRelations) advance() bool {
	if g.last >= 0 {
		g.pushAfter(g.last)
	}
	if g.last < 0 || g.labelings[g.last].from < 0 { // a tree joins once the tree before it has been output
		if g.opened < g.count {
			g.push(labeling{score: g.scoreOfBest(g.opened), tree: int32(g.opened), from: -1})
			g.opened++
		}
	}
	if len(g.heap) == 0 {
		return false
	}
	g.last = g.pop()
	return true
}

func (g *rankedRelations) scoreOfBest(tree int) float64 {
	sum := 0.0
	if g.siblings != nil {
		trees.EachSibling(g.tree(tree), func(row int) { sum += float64(g.siblings[row]) })
	}
	for d, h := range g.tree(tree) {
		row := trees.Row(g.s.n, d, h)
		sum += float64(g.s.arc[row]) + float64(g.s.row(row)[g.relations[g.bestOf(row)].label])
	}
	return sum
}

func (g *rankedRelations) tree(i int) []int32 { return g.heads[i*g.s.n : (i+1)*g.s.n] }

// bestOf returns an arc's best relation.
func (g *rankedRelations) bestOf(row int) int32 {
	if g.first[row] == 0 {
		g.first[row] = int32(len(g.relations))
		g.relations = append(g.relations, relation{label: best(g.s.row(row))})
	}
	return g.first[row]
}

// after returns an arc's relation that follows relation i, or −1 if no further one is allowed.
func (g *rankedRelations) after(row int, i int32) int32 {
	if next := g.relations[i].next; next != 0 {
		return next
	}
	scores, from := g.s.row(row), int(g.relations[i].label)
	at := -1
	for r, v := range scores {
		if v > scores[from] || v == scores[from] && r <= from {
			continue
		}
		if v > float32(minusInf) && (at < 0 || v > scores[at]) {
			at = r
		}
	}
	next := int32(-1)
	if at >= 0 {
		next = int32(len(g.relations))
		g.relations = append(g.relations, relation{label: int32(at)})
	}
	g.relations[i].next = next
	return next
}

// pushAfter pushes the successors of a labeling.
func (g *rankedRelations) pushAfter(i int32) {
	l := g.labelings[i]
	heads := g.tree(int(l.tree))
	for d := int(l.d); d < g.s.n; d++ {
		row := trees.Row(g.s.n, d, heads[d])
		current := l.relation
		if d > int(l.d) || l.from < 0 {
			current = g.bestOf(row)
		}
		next := g.after(row, current)
		if next < 0 {
			continue
		}
		scores := g.s.row(row)
		worse := float64(scores[g.relations[next].label]) - float64(scores[g.relations[current].label])
		g.push(labeling{score: l.score + worse, tree: l.tree, from: i, d: int32(d), relation: next})
	}
}

// write writes the latest labeling.
func (g *rankedRelations) write(y []int32) {
	n, l := g.s.n, g.labelings[g.last]
	heads := g.tree(int(l.tree))
	copy(y, heads)
	for d, h := range heads {
		y[n+d] = g.relations[g.bestOf(trees.Row(n, d, h))].label
	}
	for done := int32(n); l.from >= 0; l = g.labelings[l.from] {
		if l.d < done { // the first change found for a dependent is its latest
			y[n+int(l.d)] = g.relations[l.relation].label
			done = l.d
		}
	}
}

// push adds a labeling to the heap.
func (g *rankedRelations) push(l labeling) {
	added := int32(len(g.labelings))
	g.labelings = append(g.labelings, l)
	g.heap = append(g.heap, added)
	i := len(g.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if g.labelings[g.heap[up]].score >= l.score {
			break
		}
		g.heap[i] = g.heap[up]
		i = up
	}
	g.heap[i] = added
}

// pop removes and returns the best labeling.
func (g *rankedRelations) pop() int32 {
	top, last := g.heap[0], g.heap[len(g.heap)-1]
	g.heap = g.heap[:len(g.heap)-1]
	n, i := len(g.heap), 0
	score := g.labelings[last].score
	for {
		down := 2*i + 1
		if down+1 < n && g.labelings[g.heap[down+1]].score > g.labelings[g.heap[down]].score {
			down++
		}
		if down >= n || g.labelings[g.heap[down]].score <= score {
			break
		}
		g.heap[i] = g.heap[down]
		i = down
	}
	if n > 0 {
		g.heap[i] = last
	}
	return top
}
