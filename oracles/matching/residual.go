package matching

import "github.com/dsp-go/dsp/structured/sys/vec"

// residual finds what it costs to force any pair into a matching of least cost, or any source to go without a target.
//
// If source i takes target j, then j's source k must move, and so on until somebody takes the target that i has left,
// or some target or source is left over. These are the paths from k to i in a graph over sources: an edge from k to l,
// of the reduced cost of k and l's target, means that k takes l's place. One more node, the rest, takes what is left
// over: it owns the free targets. A source gets there by taking a free target or by going without, and it takes over
// the place of l at −v, which is what l's target is worth. All lengths are at least 0, and forcing (i, j) costs its
// reduced cost plus the length of a shortest path from k to i.
//
// Duchi, Tarlow, Elidan and Koller 2006; Pillutla et al. 2019, Algorithm 12, whose edge weights here are reduced costs,
// so that all shortest paths come from Floyd and Warshall's algorithm in O(n³).
type residual struct {
	stride int
	length []float64 // [nodes×stride] row i, column k: from k to i
	u      []float64 // [n]
	free   []int32   // targets

	first [vias]float64 // of the current row, here so that the loops' calls do not allocate
}

// find computes the paths for a solved assignment.
func (r *residual) find(a *assignment) {
	nodes := (a.n + vias) / vias * vias // n+1 rounded up; no path leads to the others
	r.stride = (a.n + lanes) / lanes * lanes
	r.length, r.u = vec.Grow(r.length, nodes*r.stride), vec.Grow(r.u, a.n)
	for i := range r.length {
		r.length[i] = inf
	}
	for i := range nodes {
		r.length[i*r.stride+i] = 0 // the pairs of the matching keep it
	}
	r.free = r.free[:0]
	for j, i := range a.source {
		if i == none {
			r.free = append(r.free, int32(j))
		}
	}
	for k := range a.n {
		r.u[k] = a.price(int32(k))
		toRest, fromRest := inf, 0.0
		if j := a.target[k]; j != none {
			toRest, fromRest = a.alone[k]-r.u[k], notNegative(-a.v[j])
		}
		row := a.row(int32(k))
		for _, j := range r.free {
			toRest = min(toRest, float64(row[j])-r.u[k])
		}
		r.length[a.n*r.stride+k] = notNegative(toRest)
		r.length[k*r.stride+a.n] = fromRest
	}
	for l, j := range a.target {
		if j == none {
			continue
		}
		to, v, at := r.length[l*r.stride:][:a.n], a.v[j], int(j)
		for k, u := range r.u {
			to[k] = notNegative(float64(a.cost[at]) - v - u)
			at += a.stride
		}
	}
	r.close(nodes)
}

// close makes the lengths of edges those of shortest paths. It takes vias nodes at a time: first their own rows, then
// all others, in which a path enters these nodes once.
func (r *residual) close(nodes int) {
	for lo := 0; lo < nodes; lo += vias {
		block := r.length[lo*r.stride : (lo+vias)*r.stride]
		for via := range vias {
			for i := range vias {
				row := block[i*r.stride : (i+1)*r.stride]
				if i != via && row[lo+via] < inf {
					r.first = [vias]float64{inf, inf, inf, inf}
					r.first[via] = row[lo+via]
					fastest.through(row, block, &r.first)
				}
			}
		}
		for i := range nodes {
			if i >= lo && i < lo+vias {
				continue
			}
			row := r.length[i*r.stride : (i+1)*r.stride]
			r.first = [vias]float64(row[lo:])
			if r.first[0] < inf || r.first[1] < inf || r.first[2] < inf || r.first[3] < inf {
				fastest.through(row, block, &r.first)
			}
		}
	}
}

// scores writes the best score of a matching with every number of every source [n×(m+1)], given the best score of all.
// Number 0 is going without a target.
func (r *residual) scores(a *assignment, best float64, to []float64) {
	width := a.m + 1
	for i := range a.n {
		row, scores := a.row(int32(i)), to[i*width:(i+1)*width]
		from := r.length[i*r.stride : (i+1)*r.stride]
		rest := from[a.n]
		v, u := a.v[:len(a.source)], r.u[i]
		for j, k := range a.source {
			switch {
			case k == int32(i):
				scores[j+1] = best
			case k == none:
				scores[j+1] = best - (notNegative(float64(row[j])-u) + rest)
			default:
				scores[j+1] = best - (notNegative(float64(row[j])-v[j]-u) + from[k])
			}
		}
		scores[0] = best
		if a.target[i] != none {
			scores[0] = best - (notNegative(a.alone[i]-r.u[i]) + rest)
		}
	}
}

// notNegative removes what rounding leaves of a reduced cost of 0.
func notNegative(x float64) float64 {
	if x < 0 {
		return 0
	}
	return x
}
