package matching

import "github.com/dsp-go/dsp/structured/sys/vec"

// sweeps is how often the augmenting row reduction goes through the free sources, and patience bounds the steps of one
// sweep, per source: sources that outbid each other by small amounts take many.
const sweeps, patience = 2, 8

// reduceColumns is the column reduction with the reduction transfer, for problems in which every source and every
// target must be matched. Every target takes the source with the least cost, from the last to the first target, unless
// that source is taken already; a source that takes its only target gives up what it gains over its next best one. The
// other sources become free. It returns false if a target has no possible source.
func (a *assignment) reduceColumns() bool {
	a.first, a.least = vec.Grow(a.first, a.stride), vec.Grow(a.least, a.stride)
	clear(a.first)
	if a.n > 0 {
		copy(a.least, a.row(0))
	}
	for i := 1; i < a.n; i++ {
		fastest.lower(a.least, a.row(int32(i)), a.first, int32(i))
	}
	for j := a.m - 1; j >= 0; j-- {
		if a.v[j] = float64(a.least[j]); a.v[j] == inf {
			return false
		}
		switch i := a.first[j]; a.target[i] {
		case none:
			a.target[i], a.source[j] = int32(j), i
		default:
			a.target[i] |= several
		}
	}
	for i, j := range a.target {
		switch {
		case j == none:
			a.free = append(a.free, int32(i))
		case j&several != 0:
			a.target[i] = j &^ several
		default:
			if _, _, second := fastest.leastTwo(a.row(int32(i)), a.v); second < inf {
				a.v[j] -= second
			}
		}
	}
	return true
}

// several marks the target of a source that is the best of several targets.
const several = 1 << 30

// reduceRows is augmenting row reduction: one sweep over the free sources. Each takes its best target, even from
// another source, and lowers the target's price until its second best is as good. A source that loses its target is
// next. It leaves in free the sources without a target, and returns false if one of them can have none.
func (a *assignment) reduceRows() bool {
	a.later = a.later[:0]
	steps := patience * len(a.free)
	for k := 0; k < len(a.free); {
		i := a.free[k]
		k++
		row, alone := a.row(i), a.alone[i]
		least, at, second := fastest.leastTwo(row, a.v)
		if alone <= least {
			if alone == inf {
				return false
			}
			continue // the source stays without a target
		}
		second = min(second, alone)
		if second == inf { // its only target: the search for paths decides
			a.later = append(a.later, i)
			continue
		}
		j, rises := int32(at), false
		if lowered := a.v[j] - (second - least); lowered < a.v[j] {
			a.v[j], rises = lowered, true
		} else if a.source[j] != none {
			if alone == second {
				continue
			}
			j = a.another(row, j, second)
		}
		out := a.source[j]
		a.target[i], a.source[j] = j, i
		if out == none {
			continue
		}
		a.target[out] = none
		if steps--; rises && steps > 0 {
			k--
			a.free[k] = out
		} else {
			a.later = append(a.later, out)
		}
	}
	a.free, a.later = a.later, a.free
	return true
}

// another returns the first target after j whose cost less its price is second, or j if there is none.
func (a *assignment) another(row []float32, j int32, second float64) int32 {
	for k := int(j) + 1; k < a.m; k++ {
		if float64(row[k])-a.v[k] == second {
			return int32(k)
		}
	}
	return j
}
