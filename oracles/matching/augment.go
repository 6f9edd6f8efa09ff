package matching

import "math"

// augment gives free source f its place along the shortest alternating path: f takes a target, whose source takes
// another one, and so on, until a target is free or a source stays without. Lengths are sums of reduced costs, so this
// is Dijkstra's algorithm. It returns false if there is no path, and then there is no matching.
func (a *assignment) augment(f int32) bool {
	copy(a.open, a.v)
	for j := range a.distance {
		a.distance[j] = inf
	}
	a.scanned, a.final = a.scanned[:0], a.final[:0]
	alone, last := a.alone[f], f // the best source to stay without a target
	least, at := fastest.relax(a.row(f), a.open, a.distance, a.from, 0, int64(f))
	for least < alone && a.source[at] != none {
		a.scanned, a.final = append(a.scanned, int32(at)), append(a.final, least)
		a.open[at], a.distance[at] = math.Inf(-1), inf
		i := a.source[at]
		row := a.row(i)
		base := least - (float64(row[at]) - a.v[at])
		if d := base + a.alone[i]; d < alone {
			alone, last = d, i
		}
		least, at = fastest.relax(row, a.open, a.distance, a.from, base, int64(i))
	}
	end := int32(at)
	if alone <= least {
		if alone == inf {
			return false
		}
		least = alone
		end, a.target[last] = a.target[last], none
	}
	for k, j := range a.scanned {
		a.v[j] += a.final[k] - least
	}
	if end == none { // f itself stays without
		return true
	}
	for {
		i := int32(a.from[end])
		a.source[end] = i
		end, a.target[i] = a.target[i], end
		if i == f {
			return true
		}
	}
}
