package matching

import "github.com/dsp-go/dsp/structured/vec"

// residual finds what it costs to force any pair into a matching of least cost, or any source to go without a target.
//
// If source i takes target j, then j's source k must move, and so on until somebody takes the target that i has left, or some target
// or source is left over. These are the paths from k to i in a graph over sources: an edge from k to l, of the reduced cost of k and
// l's target, means that k takes l's place. One more node, the rest, takes what is left over: it owns the free targets. A source gets
// there by taking a free target or by going without, and it takes over the place of l at −v, which is what l's target is worth.
// All lengths are at least 0, and forcing (i, j) costs its reduced cost plus the length of a shortest path from k to i.
//
// Duchi, Tarlow, Elidan and Koller 2006; Pillutla et al. 2019, Algorithm 12, whose edge weights here are reduced costs, so that all
// shortest paths come from Floyd and Warshall's algorithm in O(n³).
type residual struct {
	stride int
	length []float64 // [(n+1)×stride] row i, column k: from k to i
	u      []float64 // [n]
}

// find computes the paths for a solved assignment.
func (r *residual) find(a *assignment) {
	nodes := a.n + 1
	r.stride = (nodes + lanes - 1) / lanes * lanes
	r.length, r.u = vec.Grow(r.length, nodes*r.stride), vec.Grow(r.u, a.n)
	for i := range r.length {
		r.length[i] = inf
	}
	for i := range nodes {
		r.length[i*r.stride+i] = 0
	}
	for k := range a.n {
		r.u[k] = a.price(int32(k))
		row := a.row(int32(k))
		for l, j := range a.target {
			if j != none && l != k {
				r.length[l*r.stride+k] = max(0, float64(row[j])-a.v[j]-r.u[k])
			}
		}
		toRest, fromRest := inf, 0.0
		if j := a.target[k]; j != none {
			toRest, fromRest = a.alone[k]-r.u[k], max(0, -a.v[j])
		}
		for j, i := range a.source {
			if i == none {
				toRest = min(toRest, float64(row[j])-r.u[k])
			}
		}
		r.length[a.n*r.stride+k] = max(0, toRest)
		r.length[k*r.stride+a.n] = fromRest
	}
	for via := range nodes {
		x := r.length[via*r.stride : (via+1)*r.stride]
		for i := range nodes {
			if first := r.length[i*r.stride+via]; i != via && first < inf {
				fastest.through(r.length[i*r.stride:(i+1)*r.stride], x, first)
			}
		}
	}
}

// scores writes the best score of a matching with every number of every source [n×(m+1)], given the best score of all. Number 0
// is going without a target.
func (r *residual) scores(a *assignment, best float64, to []float64) {
	width := a.m + 1
	for i := range a.n {
		row, scores := a.row(int32(i)), to[i*width:(i+1)*width]
		from := r.length[i*r.stride : (i+1)*r.stride]
		rest := from[a.n]
		for j, k := range a.source {
			switch {
			case k == int32(i):
				scores[j+1] = best
			case k == none:
				scores[j+1] = best - (max(0, float64(row[j])-r.u[i]) + rest)
			default:
				scores[j+1] = best - (max(0, float64(row[j])-a.v[j]-r.u[i]) + from[k])
			}
		}
		scores[0] = best
		if a.target[i] != none {
			scores[0] = best - (max(0, a.alone[i]-r.u[i]) + rest)
		}
	}
}
