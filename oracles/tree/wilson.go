package tree

import (
	"math"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Sample draws trees with probabilities proportional to exp(score/μ). heads are [count×n]. It returns false if no tree
// is allowed.
//
// The root token comes from its marginals, by the matrix-tree theorem in O(n³) once, and the tree under it from
// Wilson's algorithm (Wilson 1996): from each token in turn, walk to heads drawn by their own weights until the walk
// meets the tree, and erase the loops of the walk. That takes few steps unless tokens want each other for a head: two
// of them with large mutual scores may trap a walk for ever. But the loops that are erased are independent of the tree
// that remains (Propp and Wilson 1998, Theorem 5.1 and its remarks), and so is the number of steps. So a walk may be
// given up when it takes too many, and what it has seen does not matter to what is drawn next. Then the token that was
// visited most gets a head from its marginals, given all that is known, and the walk begins again with that head fixed.
func (p *NonProjective) Sample(arc []float64, n int, μ float64, count int, r *oracles.Draws, heads []int32) bool {
	if n == 0 {
		return true
	}
	w := &p.walks
	w.resize(n)
	if p.Exp(arc, n, μ, w.marginals) == minusInf {
		return false
	}
	for d := range n {
		w.roots[d] = w.marginals[d*n+d]
	}
	w.weigh(arc, μ)
	for k := range count {
		p.draw(arc, μ, r, heads[k*n:(k+1)*n])
	}
	return true
}

func (p *NonProjective) draw(arc []float64, μ float64, r *oracles.Draws, heads []int32) {
	w := &p.walks
	n := w.n
	root := oracles.Pick(w.roots, r.Uniform()*total(w.roots))
	for d := range w.fixed {
		w.fixed[d] = free
	}
	w.fixed[root] = 0
	for given := false; !w.walk(root, r, heads); {
		if !given {
			given = true
			copy(w.given, arc)
			for d := range n {
				w.given[d*n+d] = minusInf
			}
			keep(w.given[root*n:(root+1)*n], root)
			w.given[root*n+root] = 0
		}
		d := w.trap()
		p.Exp(w.given, n, μ, w.marginals)
		row := w.marginals[d*n : (d+1)*n]
		h := oracles.Pick(row, r.Uniform()*total(row))
		keep(w.given[d*n:(d+1)*n], h)
		w.fixed[d] = int32(h) + 1
	}
}

func total(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}

// keep forbids all entries of a row but one.
func keep(row []float64, at int) {
	for i := range row {
		if i != at {
			row[i] = minusInf
		}
	}
}

// free marks a token whose head is not fixed.
const free = -1

// walks is the memory of random walks from dependents to heads.
type walks struct {
	n         int
	sums      []float64 // [n×n] running sums of the weights of each token's heads, the root apart
	fixed     []int32   // [n] heads that are known, in CoNLL's numbering, or free
	joined    []bool    // [n] the token is part of the tree
	visits    []int     // [n] of the latest walk
	roots     []float32 // [n] the probabilities of root tokens
	given     []float64 // [n×n] scores of arcs, given all that is known
	marginals []float32 // [n×n]
}

func (w *walks) resize(n int) {
	w.n = n
	w.sums, w.given, w.marginals = vec.Grow(w.sums, n*n), vec.Grow(w.given, n*n), vec.Grow(w.marginals, n*n)
	w.fixed, w.joined, w.visits, w.roots = vec.Grow(w.fixed, n), vec.Grow(w.joined, n),
		vec.Grow(w.visits, n), vec.Grow(w.roots, n)
}

// weigh computes the running sums.
func (w *walks) weigh(arc []float64, μ float64) {
	n := w.n
	for d := range n {
		from, row := arc[d*n:(d+1)*n], w.sums[d*n:(d+1)*n]
		largest := minusInf
		for h, v := range from {
			if h != d {
				largest = max(largest, v)
			}
		}
		if largest == minusInf {
			clear(row)
			continue
		}
		fastest.exps(row, from, largest, 1/μ, 1)
		row[d] = 0
		sum := 0.0
		for h, v := range row {
			sum += v
			row[h] = sum
		}
	}
}

// walk draws a tree under a root token, whose fixed heads are known. It returns false if that takes more than about n²
// steps.
func (w *walks) walk(root int, r *oracles.Draws, heads []int32) bool {
	clear(w.joined)
	clear(w.visits)
	heads[root], w.joined[root] = 0, true
	for d, steps := 0, 4*w.n+w.n*w.n; d < w.n; d++ {
		i := d
		for !w.joined[i] {
			if steps--; steps < 0 {
				return false
			}
			w.visits[i]++
			heads[i] = w.fixed[i]
			if heads[i] == free {
				heads[i] = int32(firstAbove(w.sums[i*w.n:(i+1)*w.n], r.Uniform())) + 1
			}
			i = int(heads[i]) - 1
		}
		for i := d; !w.joined[i]; i = int(heads[i]) - 1 {
			w.joined[i] = true
		}
	}
	return true
}

// firstAbove returns the first i whose running sum exceeds a share of the last one, which is positive.
func firstAbove(sums []float64, share float64) int {
	all := sums[len(sums)-1]
	at := min(share*all, math.Nextafter(all, 0))
	lo, hi := 0, len(sums)-1
	for lo < hi {
		if mid := (lo + hi) / 2; sums[mid] > at {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// trap returns the token without a fixed head that the latest walk visited most.
func (w *walks) trap() int {
	most := free
	for d, v := range w.visits {
		if w.fixed[d] == free && (most == free || v > w.visits[most]) {
			most = d
		}
	}
	return most
}
