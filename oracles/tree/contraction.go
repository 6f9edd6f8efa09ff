package tree

import "github.com/dsp-go/dsp/structured/sys/vec"

// contraction finds a maximum spanning tree by contracting cycles (Chu and Liu 1965; Edmonds 1967) along one growing
// path (Tarjan 1977; the version for dense graphs).
//
// A node is a token, or a cycle of nodes contracted into one. row[h] of a node is the score of token h, outside the
// node, as its head, minus the scores of the arcs inside the node that this arc replaces. For a token row[h] is the
// arc's score. For a cycle it is the max over the members m of row_m[h] − best_m, where best_m is the largest entry of
// m's row and head_m its index. So best ≤ 0 for all cycles.
//
// Contraction uses the arcs between tokens only: the root becomes a head only if no token can. Since every root arc
// counts as worse than all others, the trees found have as few root arcs as possible, and the best tree with one root
// arc is the best of those (Gabow and Tarjan 1984). If the allowed arcs connect the tokens, everything contracts into
// one node, and the root enters it where it scores most.
type contraction struct {
	n, stride int // stride is n rounded up to whole vectors

	row   []float64 // [nodes×stride]
	root  []float64 // [nodes] the root's score as head of the node
	best  []float64 // [nodes]
	head  []int32   // [nodes] the head with the best score
	nodes int
	top   int // the node that the root enters, −1 if there is none

	parent  []int32 // [nodes] the cycle that contains the node, −1 if there is none
	member  []int32 // [nodes] a cycle's first member, −1 for tokens
	sibling []int32 // [nodes] the next member of the same cycle, −1 at the end

	node       []int32 // [n] the outermost node that contains a token
	next       []int32 // [n] the next token in the same outermost node, −1 at the end
	first, end []int32 // [nodes] the tokens of a node

	state []int8 // [nodes]
	path  []int32
}

// States of an outermost node: not visited, on the path, or connected to the root permanently.
const (
	unseen int8 = iota
	onPath
	connected
)

// load initialises the tokens' rows.
func (c *contraction) load(arc []float32, n int) {
	c.n, c.stride = n, (n+3)&^3
	most := 2 * n
	c.row = vec.Grow(c.row, most*c.stride)
	c.root, c.best = vec.Grow(c.root, most), vec.Grow(c.best, most)
	for _, s := range []*[]int32{&c.head, &c.parent, &c.member, &c.sibling, &c.first, &c.end} {
		*s = vec.Grow(*s, most)
	}
	c.state = vec.Grow(c.state, most)
	c.node, c.next = vec.Grow(c.node, n), vec.Grow(c.next, n)
	for d := range n {
		row := c.rowOf(d)
		fastest.widen(row, arc[d*n:(d+1)*n])
		c.root[d], row[d] = row[d], minusInf
	}
}

func (c *contraction) rowOf(node int) []float64 { return c.row[node*c.stride : (node+1)*c.stride] }

// run contracts until all nodes are connected. It returns false if there is no tree.
func (c *contraction) run() bool {
	c.nodes, c.top = c.n, -1
	for d := range c.n {
		c.parent[d], c.member[d], c.state[d] = -1, -1, unseen
		c.node[d], c.next[d], c.first[d], c.end[d] = int32(d), -1, int32(d), int32(d)
	}
	for d := range c.n {
		if c.state[c.node[d]] == unseen && !c.connect(c.node[d]) {
			return false
		}
	}
	return true
}

// connect follows best heads from a node until it meets a connected node, and contracts the cycles that it closes. A
// node without a possible head gets the root; connect returns false if a second node would need it.
func (c *contraction) connect(node int32) bool {
	c.path = append(c.path[:0], node)
	for {
		at := c.path[len(c.path)-1]
		c.state[at] = onPath
		row := c.rowOf(int(at))
		h := fastest.argmax(row)
		if h < 0 {
			if c.top >= 0 || !(c.root[at] > minusInf) {
				return false
			}
			c.top = int(at)
			break
		}
		c.head[at], c.best[at] = int32(h), row[h]
		to := c.node[h]
		if c.state[to] == connected {
			break
		}
		if c.state[to] == onPath {
			to = c.contract(to)
		}
		c.path = append(c.path, to)
	}
	for _, at := range c.path {
		c.state[at] = connected
	}
	return true
}

// contract merges the path from the given node to its end into one node.
func (c *contraction) contract(from int32) int32 {
	added := int32(c.nodes)
	c.nodes++
	row := c.rowOf(int(added))
	fill(row, minusInf)
	c.root[added], c.member[added], c.parent[added] = minusInf, -1, -1
	c.first[added] = -1
	for {
		m := c.path[len(c.path)-1]
		c.path = c.path[:len(c.path)-1]
		fastest.contract(row, c.rowOf(int(m)), c.best[m])
		c.root[added] = max(c.root[added], c.root[m]-c.best[m])
		c.sibling[m], c.parent[m] = c.member[added], added
		c.member[added] = m
		if c.first[added] < 0 {
			c.first[added] = c.first[m]
		} else {
			c.next[c.end[added]] = c.first[m]
		}
		c.end[added] = c.end[m]
		if m == from {
			break
		}
	}
	for d := c.first[added]; d >= 0; d = c.next[d] {
		c.node[d] = added
		row[d] = minusInf
	}
	return added
}

// expand writes the heads of the best tree and, unless entries is nil, lists its arcs there.
func (c *contraction) expand(heads []int32, entries *[]entry) {
	if entries != nil {
		*entries = (*entries)[:0]
	}
	for node := range int32(c.nodes) {
		if c.parent[node] >= 0 {
			continue
		}
		c.path = append(c.path[:0], node)
		for len(c.path) > 0 {
			at := c.path[len(c.path)-1]
			c.path = c.path[:len(c.path)-1]
			e := c.enter(at)
			heads[e.d] = e.head + 1
			if entries != nil {
				*entries = append(*entries, e)
			}
		}
	}
}

// enter finds the token at which a node's arc enters it. It leaves the other members of the cycles on the way there on
// the path: their arcs stay.
func (c *contraction) enter(node int32) entry {
	root, h, at := int(node) == c.top, c.head[node], node
	if root {
		h = -1
	}
	other, less := minusInf, 0.0
	for c.member[at] >= 0 {
		into, best, score := int32(-1), 0.0, c.score(at, root, h)
		for m := c.member[at]; m >= 0; m = c.sibling[m] {
			v := c.score(m, root, h) - c.best[m]
			if into < 0 && (v == score || c.sibling[m] < 0) { // without NaN scores, some member always has v == score
				into, best = m, c.best[m]
				continue
			}
			other = max(other, v-less)
			c.path = append(c.path, m)
		}
		at, less = into, less+best
	}
	return entry{node: node, d: at, head: h, other: other}
}

// score returns a node's score of the root or of head h.
func (c *contraction) score(node int32, root bool, h int32) float64 {
	if root {
		return c.root[node]
	}
	return c.row[int(node)*c.stride+int(h)]
}
