package branching

import (
	"cmp"
	"slices"

	"github.com/dsp-go/dsp/oracles/factors"
)

// buckets bounds the best value of every subtree of a tree, given the variables above it, by mini-bucket elimination
// (Dechter and Rish 2003). What is multiplied before a variable is maximised out is split into tables of limited size,
// each of which maximises on its own. Before that value moves between them, so that they agree on the best value of
// each state (Ihler, Flerova, Dechter and Otten 2012). Where nothing is split the bound is the value.
type buckets struct {
	*tree
	from     [][]*view // [V] messages of the variable's mini-buckets, those without variables left out
	into     [][]*view // [V] messages out of the subtree whose first eliminated variable is the parent
	above    [][]*view // [V] the other messages out of the subtree
	constant []int64   // [V] messages without variables from the subtree
	exact    []bool    // [V] nothing is split in the subtree
}

// part is a mini-bucket: tables that are maximised together.
type part struct {
	scope []int
	views []*view
}

// split shares the tables of a variable out among mini-buckets of at most that many entries; a single table may be
// larger.
func (t *tree) split(i int, inputs []*view, most float64) []part {
	inputs = slices.Clone(inputs)
	slices.SortStableFunc(inputs, func(a, b *view) int { return cmp.Compare(t.entries(b.scope), t.entries(a.scope)) })
	var parts []part
	for _, f := range inputs {
		into := -1
		for k := range parts {
			if u := union(parts[k].scope, f.scope); len(u) == len(parts[k].scope) || t.entries(u) <= most {
				into, parts[k].scope = k, u
				break
			}
		}
		if into < 0 {
			into, parts = len(parts), append(parts, part{scope: f.scope})
		}
		parts[into].views = append(parts[into].views, f)
	}
	if len(parts) == 0 {
		parts = []part{{scope: []int{i}}}
	}
	return parts
}

// union returns the decreasing list of what is in a or b, which decrease.
func union(a, b []int) []int {
	u := make([]int, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] > b[0]:
			u, a = append(u, a[0]), a[1:]
		case a[0] < b[0]:
			u, b = append(u, b[0]), b[1:]
		default:
			u, a, b = append(u, a[0]), a[1:], b[1:]
		}
	}
	return append(append(u, a...), b...)
}

func (t *tree) entries(scope []int) float64 {
	n := 1.0
	for _, v := range scope {
		n *= float64(t.states[v])
	}
	return n
}

// plan returns how many entries the messages of a limit and its largest bucket have, without computing any, and whether
// nothing is split.
func (t *tree) plan(most float64) (size float64, exact bool) {
	to, largest := make([][]*view, len(t.states)), 0.0
	exact = true
	for i := range t.states {
		parts := t.split(i, append(slices.Clone(t.tables[i]), to[i]...), most)
		exact = exact && len(parts) == 1
		now := 0.0
		for _, p := range parts {
			now += t.entries(p.scope)
			rest := p.scope[:len(p.scope)-1]
			if size += t.entries(rest); len(rest) > 0 {
				to[rest[len(rest)-1]] = append(to[rest[len(rest)-1]], &view{scope: rest})
			}
		}
		largest = max(largest, now)
	}
	return size + largest, exact
}

// newBuckets computes all messages with tables of at most that many entries, or returns nil where stop says so.
func newBuckets(t *tree, most float64, stop func() bool) *buckets {
	n := len(t.states)
	b := &buckets{tree: t, from: make([][]*view, n), into: make([][]*view, n), above: make([][]*view, n),
		constant: make([]int64, n), exact: make([]bool, n)}
	for i := range n {
		inputs := slices.Clone(t.tables[i])
		b.exact[i] = true
		for _, c := range t.children[i] {
			inputs = append(inputs, b.into[c]...)
			b.constant[i] = plus(b.constant[i], b.constant[c])
			b.exact[i] = b.exact[i] && b.exact[c]
		}
		parts := t.split(i, inputs, most)
		b.exact[i] = b.exact[i] && len(parts) == 1
		contents := make([][]int64, len(parts))
		for k, p := range parts {
			if stop() {
				return nil
			}
			contents[k] = t.join(p)
		}
		if len(parts) > 1 {
			b.match(contents, t.states[i])
		}
		for k, p := range parts {
			f := t.newView(p.scope[:len(p.scope)-1])
			maximise(f.value, contents[k], t.states[i])
			if len(f.scope) == 0 {
				b.constant[i] = plus(b.constant[i], f.value[0])
				continue
			}
			b.from[i] = append(b.from[i], f)
			b.leave(i, f)
		}
		for _, c := range t.children[i] {
			for _, f := range b.above[c] {
				b.leave(i, f)
			}
		}
	}
	return b
}

// leave notes a message out of the subtree of i.
func (b *buckets) leave(i int, f *view) {
	if f.scope[len(f.scope)-1] == b.parent[i] {
		b.into[i] = append(b.into[i], f)
	} else {
		b.above[i] = append(b.above[i], f)
	}
}

// join adds up the tables of a mini-bucket.
func (t *tree) join(p part) []int64 {
	sizes := t.sizes(p.scope)
	sum := make([]int64, int(t.entries(p.scope)))
	for _, f := range p.views {
		strides := make([]int, len(p.scope))
		for k, v := range f.scope {
			strides[slices.Index(p.scope, v)] = f.strides[k]
		}
		factors.Walk(sizes, strides, func(i, j, n, stride int) {
			to, from := sum[i:][:n], f.value[j:]
			for k := range to {
				x := to[k] + from[k*stride]
				if x < lowest {
					x = forbidden
				}
				to[k] = x
			}
		})
	}
	return sum
}

// maximise takes the best of every n numbers that follow one another.
func maximise(into, from []int64, n int) {
	for j := range into {
		into[j] = most(from[j*n:][:n])
	}
}

// match moves value between mini-buckets of a variable with n states, so that each has the same best entry for every
// state. What a table gains, others lose, so that sums of all are as before; no more moves in all than widest allows.
func (b *buckets) match(contents [][]int64, n int) {
	room := int64(widest / 4 / (1 + len(b.states)*n*len(contents)))
	best := make([][]int64, len(contents))
	for k, c := range contents {
		best[k] = make([]int64, n)
		for s := range best[k] {
			best[k][s] = forbidden
		}
		for j := 0; j < len(c); j += n {
			for s, x := range c[j:][:n] {
				best[k][s] = max(best[k][s], x)
			}
		}
	}
	for s := range n {
		sum, can := int64(0), true
		for k := range best {
			can = can && best[k][s] != forbidden
			sum += best[k][s] / int64(len(best))
		}
		if !can {
			for _, c := range contents {
				for j := s; j < len(c); j += n {
					c[j] = forbidden
				}
			}
			continue
		}
		rest := int64(0)
		for k := range best {
			best[k][s] = sum - best[k][s]
			can = can && best[k][s] <= room && best[k][s] >= -room
			rest += best[k][s]
		}
		best[0][s] -= rest // what the division left
		for k, c := range contents {
			if by := best[k][s]; can && by != 0 {
				for j := s; j < len(c); j += n {
					if c[j] != forbidden {
						c[j] += by
					}
				}
			}
		}
	}
}
