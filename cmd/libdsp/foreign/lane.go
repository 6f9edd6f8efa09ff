package foreign

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/chart"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// Run says how a question is answered.
type Run struct {
	Threads int           // how many threads answer; at least 1
	First   int           // the first example to answer
	Budget  time.Duration // after which no further examples are begun; 0: no end. A caller who has to look at signals asks in pieces.
}

// lane is what one thread needs: an oracle with its scratch memory, and the tables of its share of a batch.
type lane struct {
	oracle  oracles.Maximiser
	θ       structured.Potentials
	u       structured.Marginals
	best    oracles.KBest
	samples oracles.Samples
	offsets [][]int
	outputs []int
	rooted  rooted
	node    []float32 // with ends

	chart     *chart.Oracle         // what answers questions that the oracle does not
	direction structured.Potentials // of Hessian
	widened   rooted                // the direction for the trees of several roots
	each      []int                 // 0, 1, 2, …: offsets of a direction of its own for every example
	turned    []float32             // the direction of node, with ends
}

// Work of the shares that a batch is divided into: a thread is not worth starting for less than leastWork, and
// shareWork takes the slower oracles a few milliseconds, after which a budget is looked at.
const (
	leastWork = 1 << 11
	shareWork = 1 << 17
)

// inLane calls do, which works on examples lo to hi−1, with a lane. A panic becomes an error.
func (t *Batch) inLane(lo, hi int, do func(l *lane)) (err error) {
	l := t.form.lanes.Get().(*lane)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error, examples %d to %d: %v", lo, hi-1, r)
			return
		}
		t.form.lanes.Put(l)
	}()
	do(l)
	return nil
}

// each calls do with shares of the examples from run.First on, each with examples lo to hi-1, and returns the number of
// the first example that was not begun. A panic becomes an error.
func (t *Batch) each(values [][]float32, run Run, do func(l *lane, lo, hi int)) (next int, err error) {
	n, threads := t.Len(), max(1, run.Threads)
	if run.First < 0 || run.First > n {
		return 0, fmt.Errorf("first example %d of %d", run.First, n)
	}
	if len(values) != len(t.parts) {
		return 0, fmt.Errorf("%d parts, expected %d", len(values), len(t.parts))
	}
	for k := range t.parts {
		if len(values[k]) != t.Size(k) {
			return 0, fmt.Errorf("part %q has %d numbers, expected %d", t.parts[k].Name, len(values[k]), t.Size(k))
		}
	}
	one := func(lo, hi int) error {
		return t.inLane(lo, hi, func(l *lane) {
			l.share(t, values, lo, hi)
			do(l, lo, hi)
		})
	}
	total := t.work[n] - t.work[run.First]
	most := shareWork
	if threads > 1 {
		most = min(most, max(leastWork, total/(4*threads)))
	} else if run.Budget == 0 {
		most = total
	}
	if total <= most || run.First+1 >= n {
		return n, one(run.First, n)
	}
	shares := []int{run.First}
	for b := run.First; b < n; b++ {
		if last := shares[len(shares)-1]; t.work[b+1]-t.work[last] >= most || b+1 == n {
			shares = append(shares, b+1)
		}
	}
	var taken atomic.Int64 // shares are taken in order, so that those before the last one that was taken are done in the end
	start := time.Now()
	var wait sync.WaitGroup
	errs := make([]error, threads)
	work := func(k int) {
		for {
			if taken.Load() > 0 && run.Budget > 0 && time.Since(start) > run.Budget {
				return
			}
			i := int(taken.Add(1))
			if i >= len(shares) {
				return
			}
			if errs[k] = one(shares[i-1], shares[i]); errs[k] != nil {
				return
			}
		}
	}
	for k := 1; k < min(threads, len(shares)-1); k++ {
		wait.Go(func() { work(k) })
	}
	work(0)
	wait.Wait()
	for _, e := range errs {
		if e != nil {
			return 0, e
		}
	}
	return shares[min(int(taken.Load()), len(shares)-1)], nil
}

// share makes a lane's θ examples lo to hi-1 of the batch. It copies offsets, and values only where ends are added.
func (l *lane) share(t *Batch, values [][]float32, lo, hi int) {
	l.outputs = shifted(l.outputs, t.outputs, lo, hi)
	l.θ.Structure, l.θ.Outputs, l.θ.Parts = t.form.Structure, l.outputs, l.θ.Parts[:0]
	for len(l.offsets) < len(t.parts) {
		l.offsets = append(l.offsets, nil)
	}
	for k := range t.parts {
		p := t.parts[k]
		p.Values = values[k]
		if p.Offsets != nil {
			l.offsets[k] = shifted(l.offsets[k], p.Offsets, lo, hi)
			p.Values = within(p.Values, p.Offsets[lo]*p.Width, p.Offsets[hi]*p.Width)
			p.Offsets = l.offsets[k]
		}
		l.θ.Parts = append(l.θ.Parts, p)
	}
	if t.form.ends() {
		l.θ.Parts = l.θ.Parts[:start]
		l.node = addEnds(l.node, &l.θ.Parts[0], values[start], values[start+1], 0)
	}
	l.θ.Gold, l.θ.Graphs = l.θ.Gold[:0], l.θ.Graphs[:0]
	if t.gold != nil {
		l.θ.Gold = append(l.θ.Gold, t.gold[lo:hi]...)
	}
	if t.graphs != nil {
		l.θ.Graphs = append(l.θ.Graphs, t.graphs[lo:hi]...)
	}
}

// along makes a lane's direction examples lo to hi-1 of an array for each part, of the form of its θ; with own, of
// marginals: parts that examples share have a row for each.
func (l *lane) along(t *Batch, values [][]float32, own bool, lo, hi int) {
	for len(l.each) <= hi-lo {
		l.each = append(l.each, len(l.each))
	}
	l.direction.Structure, l.direction.Outputs = l.θ.Structure, l.θ.Outputs
	l.direction.Parts = append(l.direction.Parts[:0], l.θ.Parts...)
	for k := range l.direction.Parts {
		p := &l.direction.Parts[k]
		switch p.Values = values[k]; {
		case p.Offsets != nil:
			p.Values = within(p.Values, t.parts[k].Offsets[lo]*p.Width, t.parts[k].Offsets[hi]*p.Width)
		case own:
			p.Values, p.Offsets = within(p.Values, lo*p.Width, hi*p.Width), l.each[:hi-lo+1]
		}
	}
	if t.form.ends() {
		first, step := 0, 0
		if own {
			step = t.parts[start].Width
			first = lo * step
		}
		l.turned = addEnds(l.turned, &l.direction.Parts[0], values[start][first:], values[start+1][first:], step)
	}
}

// into makes a lane's marginals examples lo to hi-1 of the caller's arrays: oracles that give u the form of θ keep its
// memory.
func (l *lane) into(t *Batch, to [][]float32, lo, hi int) {
	l.u.Parts = l.u.Parts[:0]
	for k := range l.θ.Parts {
		p, first, last := &t.parts[k], lo, hi
		if p.Offsets != nil {
			first, last = p.Offsets[lo], p.Offsets[hi]
		}
		l.u.Parts = append(l.u.Parts, structured.Part{Values: within(to[k], first*p.Width, last*p.Width)})
	}
}

func within(x []float32, lo, hi int) []float32 { return x[lo:hi:hi] }

// shifted writes the offsets of examples lo to hi-1, counted from 0.
func shifted(to, from []int, lo, hi int) []int {
	to = vec.Grow(to, hi-lo+1)
	for i, x := range from[lo : hi+1] {
		to[i] = x - from[lo]
	}
	return to
}
