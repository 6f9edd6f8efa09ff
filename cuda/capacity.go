package cuda

import (
	"math/bits"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
)

// capacity is the most chains and positions that a batch takes, positions of one chain, and rows of any other table. Batches of a
// capacity are evaluated with the same bits whatever was before: it depends on the batch and on the data alone.
type capacity struct{ chains, rows, longest, others int }

// sizeOf returns the capacity that just holds the examples.
func (data *Data) sizeOf(examples []int) (n capacity) {
	n.chains = len(examples)
	for _, i := range examples {
		t := data.Set.Length(i)
		n.rows, n.longest = n.rows+t, max(n.longest, t)
	}
	for _, table := range data.Set.Tables {
		rows := 0
		for _, i := range examples {
			rows += table.Offsets[i+1] - table.Offsets[i]
		}
		n.others = max(n.others, rows)
	}
	return n
}

// stepCapacity returns that of a step's batch.
func (data *Data) stepCapacity(examples []int) capacity {
	n := data.sizeOf(examples)
	n.chains, n.rows, n.longest = roundedUp(n.chains), nets.Bucket(n.rows), roundedUp(n.longest)
	if n.others > 0 {
		n.others = nets.Bucket(n.others)
	}
	return n
}

// roundedUp returns the least power of two from n on.
func roundedUp(n int) int { return 1 << bits.Len(uint(max(1, n)-1)) }

// passPositions is the most positions that a full pass takes at once, and passNumbers the most numbers of a part of its marginals,
// which for what is tied has a row for each example.
const (
	passPositions = 1 << 16
	passNumbers   = 1 << 28
)

// passCapacity returns that of batches of consecutive examples, each of up to so many positions or of one example, for potentials of
// a form.
func (data *Data) passCapacity(positions int, form structured.Form) capacity {
	widest, others := 1, passNumbers
	for _, part := range form.Parts {
		widest = max(widest, part.Width)
		switch room := max(1, passNumbers/max(1, part.Width)); part.Rows {
		case structured.Tied:
		case structured.Positions:
			positions = min(positions, room)
		default:
			others = min(others, room)
		}
	}
	chains := max(1, passNumbers/widest)
	var most capacity
	for left := data.all(); len(left) > 0; {
		now := data.sizeOf(left[:1])
		for now.chains < len(left) {
			next := data.sizeOf(left[now.chains : now.chains+1])
			if now.rows+next.rows > positions || now.chains == chains || now.others+next.others > others {
				break
			}
			now = capacity{now.chains + 1, now.rows + next.rows, max(now.longest, next.longest), now.others + next.others}
		}
		left = left[now.chains:]
		most = capacity{max(most.chains, now.chains), max(most.rows, now.rows), max(most.longest, now.longest), max(most.others, now.others)}
	}
	most.rows = nets.Bucket(most.rows)
	if most.others > 0 {
		most.others = nets.Bucket(most.others)
	}
	return most
}

// fit returns how many of the examples a batch of that capacity takes at once, in their order.
func (data *Data) fit(examples []int, c capacity) int {
	rows, others := 0, 0
	for k := range examples {
		n := data.sizeOf(examples[k : k+1])
		rows, others = rows+n.rows, others+n.others
		if k == c.chains || rows > c.rows || others > c.others {
			return k
		}
	}
	return len(examples)
}

// all returns all examples of the data, in order.
func (data *Data) all() []int {
	all := make([]int, data.Set.Len())
	for i := range all {
		all[i] = i
	}
	return all
}

// lane is a strand of one capacity, with the graphs of what was done in it.
type lane struct {
	strand
	batch    *Batch
	capacity capacity
	seed     uint64
	known    map[any]bool // kinds of work that were done: their scratch memory is there
	graphs   map[stepKey]*graph
}

// graph is a captured step.
type graph struct {
	*Graph
	round int
}

// mostGraphs is how many a lane keeps: those of a μ that is no more are of no use.
const mostGraphs = 8

func (a *Accelerator) newLane(c capacity) (*lane, error) {
	b := newBatch(a.data, c)
	l := &lane{strand: a.oracle.newStrand(b), batch: b, capacity: c, known: map[any]bool{}, graphs: map[stepKey]*graph{}}
	a.round++
	if err := a.scorer.Reserve(b); err != nil {
		l.free()
		return nil, err
	}
	return l, nil
}

func (l *lane) free() {
	l.forget()
	l.strand.Free()
	l.batch.Free()
}

// forget gives up the graphs.
func (l *lane) forget() {
	for _, g := range l.graphs {
		g.Free()
	}
	clear(l.graphs)
}

// use notes that work of a kind is done, and reports whether that is the first time, in which scratch memory may grow and graphs
// captured before may become void.
func (l *lane) use(s *shared, kind any) (first bool) {
	if first = !l.known[kind]; first {
		l.known[kind] = true
		s.round++
	}
	return first
}

// scratchOf returns what of a smoothing the size of an oracle's scratch memory depends on.
func scratchOf(s oracles.Smoothing) oracles.Smoothing { return oracles.Smoothing{Kind: s.Kind, K: s.K} }

// do enqueues a step: as it is the first time, and from a graph later, where its strand can be captured.
func (l *lane) do(s *shared, key stepKey, enqueue func()) {
	if l.use(s, scratchOf(key.s)) || !l.captured() {
		enqueue()
		return
	}
	g := l.graphs[key]
	if g != nil && g.round != s.round {
		g.Free()
		g = nil
	}
	if g == nil {
		if len(l.graphs) >= mostGraphs {
			l.forget()
		}
		g = &graph{s.d.Capture(enqueue), s.round}
		l.graphs[key] = g
	}
	s.d.Replay(g.Graph)
}
