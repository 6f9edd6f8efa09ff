package minibucket

import (
	"container/heap"
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles/factors"
)

// bucket is a mini-bucket: a table over some variables, of which one is summed up.
type bucket struct {
	v        int   // the variable that is summed up
	vars     []int // of the table, increasing; v is one of them
	rest     []int // vars without v
	factors  []int // that the table includes
	children []int // mini-buckets whose messages it includes
	parent   int   // the mini-bucket that includes its message, −1 if the message is a number
}

// plan is the order of elimination and the mini-buckets of every variable.
type plan struct {
	buckets []bucket // those of a variable are consecutive; children before parents
	first   []int    // [V+1] the buckets of the variable that is eliminated k-th are buckets[first[k]:first[k+1]]
	entries float64  // of all tables
	exact   bool     // no bucket is split
}

// source is a factor or a message that waits for the elimination of its variables.
type source struct {
	vars   []int
	factor int // −1 for a message
	bucket int // that sent the message
}

// planner eliminates variables, the one with the smallest bucket first.
type planner struct {
	*plan
	model   *factors.Model
	most    float64 // entries of a table
	sources []source
	at      []map[int]struct{} // [V] the sources that mention each variable
	beside  []map[int]int      // [V] how many sources mention the variable and a later one
	// [V] the logarithm of the number of states, in multiples of 2⁻³⁶, so that sums that grow and shrink stay exact
	logs []float64
	// [V] of the table that the variable's whole bucket would have: logs summed over it and those beside it
	weight  []float64
	version []int
	queue   queue
}

// newPlan splits buckets so that tables have at most that many entries, unless a single factor has more.
func newPlan(m *factors.Model, most float64) *plan {
	n := len(m.States)
	p := &planner{
		plan: &plan{first: []int{0}, exact: true}, model: m, most: most, version: make([]int, n),
		at: make([]map[int]struct{}, n), beside: make([]map[int]int, n), logs: make([]float64, n), weight: make([]float64, n),
	}
	for v, states := range m.States {
		p.at[v], p.beside[v] = map[int]struct{}{}, map[int]int{}
		p.logs[v] = math.Ldexp(math.Round(math.Ldexp(math.Log(float64(states)), 36)), -36)
	}
	copy(p.weight, p.logs)
	for k, f := range m.Factors {
		vars := slices.Clone(f.Scope)
		slices.Sort(vars)
		p.add(source{vars: vars, factor: k})
	}
	for v := range m.States {
		p.push(v)
	}
	for len(p.first) <= len(m.States) {
		if c := heap.Pop(&p.queue).(candidate); c.version == p.version[c.v] {
			p.eliminate(c.v)
		}
	}
	return p.plan
}

func (p *planner) add(s source) {
	for _, v := range s.vars {
		p.at[v][len(p.sources)] = struct{}{}
	}
	p.sources = append(p.sources, s)
	for i, v := range s.vars {
		for _, u := range s.vars[:i] {
			if p.beside[u][v]++; p.beside[u][v] == 1 {
				p.weight[u] += p.logs[v]
				p.weight[v] += p.logs[u]
			}
		}
	}
}

// remove removes source s, after its variables are in a mini-bucket.
func (p *planner) remove(s int) {
	vars := p.sources[s].vars
	for i, v := range vars {
		delete(p.at[v], s)
		for _, u := range vars[:i] {
			if p.beside[u][v]--; p.beside[u][v] == 0 {
				delete(p.beside[u], v)
				p.weight[u] -= p.logs[v]
				p.weight[v] -= p.logs[u]
			}
		}
	}
}

// size returns the number of entries of a table.
func (p *planner) size(vars []int) float64 {
	n := 1.0
	for _, v := range vars {
		n *= float64(p.model.States[v])
	}
	return n
}

// of returns the sources that mention v, the largest first.
func (p *planner) of(v int) []int {
	all := make([]int, 0, len(p.at[v]))
	for s := range p.at[v] {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b int) int {
		if d := len(p.sources[b].vars) - len(p.sources[a].vars); d != 0 {
			return d
		}
		return a - b
	})
	return all
}

// push queues v by the size of the table that its whole bucket would have.
func (p *planner) push(v int) {
	p.version[v]++
	heap.Push(&p.queue, candidate{v, p.version[v], p.weight[v]})
}

// eliminate makes the mini-buckets of v. A source joins the first one that stays small enough with it.
func (p *planner) eliminate(v int) {
	begin := len(p.buckets)
	for _, s := range p.of(v) {
		from := p.sources[s]
		into := -1
		for r := begin; r < len(p.buckets) && into < 0; r++ {
			if union := union(p.buckets[r].vars, from.vars); len(union) == len(p.buckets[r].vars) || p.size(union) <= p.most {
				into, p.buckets[r].vars = r, union
			}
		}
		if into < 0 {
			into = len(p.buckets)
			p.buckets = append(p.buckets, bucket{v: v, vars: from.vars, parent: -1})
		}
		if b := &p.buckets[into]; from.factor >= 0 {
			b.factors = append(b.factors, from.factor)
		} else {
			b.children = append(b.children, from.bucket)
			p.buckets[from.bucket].parent = into
		}
		p.remove(s)
	}
	if len(p.buckets) == begin {
		p.buckets = append(p.buckets, bucket{v: v, vars: []int{v}, parent: -1})
	}
	p.exact = p.exact && len(p.buckets) == begin+1
	p.first, p.version[v] = append(p.first, len(p.buckets)), 0
	var changed []int
	for r := begin; r < len(p.buckets); r++ {
		b := &p.buckets[r]
		p.entries += p.size(b.vars)
		b.rest = slices.DeleteFunc(slices.Clone(b.vars), func(u int) bool { return u == v })
		if len(b.rest) > 0 {
			p.add(source{vars: b.rest, factor: -1, bucket: r})
		}
		changed = append(changed, b.rest...)
	}
	slices.Sort(changed)
	for _, u := range slices.Compact(changed) {
		p.push(u)
	}
}

// union returns the increasing list of what is in a or b, which increase.
func union(a, b []int) []int {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// candidate is a variable that could be eliminated next; it is stale if its version is not the variable's.
type candidate struct {
	v, version int
	weight     float64
}

// queue is a heap of candidates, the smallest first.
type queue []candidate

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	return q[i].weight < q[j].weight || q[i].weight == q[j].weight && q[i].v < q[j].v
}
func (q *queue) Push(x any) { *q = append(*q, x.(candidate)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
