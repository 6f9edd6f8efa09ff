package branching

import (
	"math"
	"math/rand/v2"

	"github.com/dsp-go/dsp/oracles/factors"
)

// neighbourhood improves an assignment: it frees a connected block of variables, keeps all others, and sets the block
// to its best states by elimination. Blocks grow while none improves (variable neighbourhood search, Hansen and
// Mladenović 1997).
type neighbourhood struct {
	*network
	at     [][]place
	r      *rand.Rand
	states []int
	value  int64 // of states, where a forbidden entry costs penalty
	size   int   // of the next block
	failed int   // blocks of that size
	idle   int   // variables of all blocks since the last one that improved

	best      []int // the best states since begin, which a kick starts from
	bestValue int64

	penalty int64
	freed   int   // work on the tables of the last block
	inside  []int // [V] the variable's number in the block, −1 outside
}

// Limits of blocks.
const (
	smallest  = 4
	widestRun = 400     // variables
	blockSize = 1 << 14 // entries of a block's tables
	patience  = 12      // after so many times as many variables as there are without an improvement, the states are kicked
	tableWork = 1 << 7  // entries that are computed in the time in which a table is made
	kicked    = 8       // one of so many variables
)

func newNeighbourhood(n *network, r *rand.Rand, states []int) *neighbourhood {
	h := &neighbourhood{network: n, at: n.touching(), r: r, size: smallest, inside: make([]int, len(n.states)),
		penalty: widest / 2 / int64(1+len(n.tables))}
	for v := range h.inside {
		h.inside[v] = -1
	}
	h.begin(states)
	return h
}

// begin goes on from an assignment.
func (h *neighbourhood) begin(states []int) {
	h.states = append(h.states[:0], states...)
	h.value = h.fixed
	for k := range h.tables {
		h.value += h.cost(h.entry(&h.tables[k]))
	}
	h.idle, h.best, h.bestValue = 0, append(h.best[:0], h.states...), h.value
}

// stuck reports whether many blocks have not improved the states.
func (h *neighbourhood) stuck() bool { return h.idle > patience*len(h.states) }

// kick goes on from the best states with those of a block drawn anew, which blocks of any size that can be eliminated
// do not leave (iterated local search, Lourenço, Martin and Stützle 2003).
func (h *neighbourhood) kick() {
	if h.value > h.bestValue {
		h.best, h.bestValue = append(h.best[:0], h.states...), h.value
	}
	best, value := append([]int(nil), h.best...), h.bestValue
	copy(h.states, best)
	h.size = max(smallest, len(h.states)/kicked)
	for _, v := range h.draw() {
		h.states[v], h.inside[v] = h.r.IntN(h.network.states[v]), -1
	}
	h.begin(h.states)
	h.best, h.bestValue, h.size, h.failed = best, value, smallest, 0
}

func (h *neighbourhood) cost(x int64) int64 {
	if x == forbidden {
		return -h.penalty
	}
	return x
}

func (h *neighbourhood) entry(t *table) int64 {
	at := 0
	for _, v := range t.scope {
		at = at*h.network.states[v] + h.states[v]
	}
	return t.value[at]
}

// step tries one block, reports whether it improved the assignment, and counts its work in entries.
func (h *neighbourhood) step() (improved bool, work int) {
	block := h.draw()
	h.idle += len(block)
	small, old := h.free(block)
	for _, v := range block {
		h.inside[v] = -1
	}
	work = 4*len(block)*(8+len(block)) + h.freed
	var order []int
	if small != nil {
		order, _ = drawOrder(small, h.r, blockSize)
	}
	if order == nil {
		h.size = max(smallest, h.size*3/4)
		return false, work
	}
	t := newTree(small, order)
	b := newBuckets(t, math.Inf(1), func() bool { return false })
	for i := range b.from {
		work += 4 * int(t.entries(t.context[i])) * t.states[i]
	}
	s := newSearch(b, newMemory(ways), func(int) bool { return false })
	new := small.fixed
	for i := len(t.states) - 1; i >= 0; i-- {
		if t.parent[i] < 0 {
			new += s.bound(i)
			s.assign(i, s.bound(i))
		}
	}
	for i, v := range t.original {
		h.states[block[v]] = s.states[i]
	}
	h.value += new - old
	if new > old {
		h.size, h.failed, h.idle = max(smallest, h.size/2), 0, 0
		return true, work
	}
	if h.failed++; h.failed*h.size > 2*len(h.states) {
		h.size, h.failed = min(widestRun, len(h.states), h.size*3/2), 0
	}
	return false, work
}

// draw returns a block that grows from a variable along tables.
func (h *neighbourhood) draw() []int {
	block := []int{h.r.IntN(len(h.states))}
	h.inside[block[0]] = 0
	for tries := 0; len(block) < h.size && tries < 8*h.size; tries++ {
		v := block[h.r.IntN(len(block))]
		if len(h.at[v]) == 0 {
			break
		}
		scope := h.tables[h.at[v][h.r.IntN(len(h.at[v]))].table].scope
		if u := scope[h.r.IntN(len(scope))]; h.inside[u] < 0 {
			h.inside[u] = len(block)
			block = append(block, u)
		}
	}
	return block
}

// free returns the tables of a block, given the states of others, and the value of the block's present states; nil
// where a table is too large.
func (h *neighbourhood) free(block []int) (small *network, old int64) {
	small, h.freed = &network{unit: h.unit}, 0
	for _, v := range block {
		small.states = append(small.states, h.network.states[v])
	}
	for b, v := range block {
		for _, p := range h.at[v] {
			from := &h.tables[p.table]
			to, first, size := table{}, 0, 1
			var sizes, strides []int
			step, owner := 1, b
			for k := len(from.scope) - 1; k >= 0; k-- {
				u := from.scope[k]
				n := h.network.states[u]
				if i := h.inside[u]; i >= 0 {
					owner = min(owner, i)
					to.scope, sizes, strides = append(to.scope, i), append(sizes, n), append(strides, step)
					size *= n
				} else {
					first += h.states[u] * step
				}
				step *= n
			}
			if owner < b { // another variable of the block has brought the table
				continue
			}
			if size > blockSize {
				return nil, 0
			}
			h.freed += 4*size + tableWork
			to.value = make([]int64, size)
			factors.Walk(sizes, strides, func(i, j, n, stride int) {
				for k := range n {
					to.value[i+k] = h.cost(from.value[first+j+k*stride])
				}
			})
			old += h.cost(h.entry(from))
			small.add(to)
		}
	}
	return small, old
}
