package cuda

import (
	"math/bits"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
)

// capacity is the most chains and positions that a batch takes, and positions of one chain. Batches of a capacity are evaluated
// with the same bits whatever was before: it depends on the batch and on the data alone.
type capacity struct{ chains, rows, longest int }

// stepCapacity returns that of a step's batch.
func (data *Data) stepCapacity(examples []int) capacity {
	n, longest := 0, 0
	for _, i := range examples {
		t := data.Set.Length(i)
		n, longest = n+t, max(longest, t)
	}
	return capacity{roundedUp(len(examples)), nets.Bucket(n), roundedUp(longest)}
}

// roundedUp returns the least power of two from n on.
func roundedUp(n int) int { return 1 << bits.Len(uint(max(1, n)-1)) }

// passPositions is the most positions that a full pass takes at once, and passEdges the most numbers of edge marginals: a Y×Y for
// each chain, or each position.
const (
	passPositions = 1 << 16
	passEdges     = 1 << 28
)

// passCapacity returns that of batches of consecutive examples, each of up to so many positions or of one example, for a network.
func (data *Data) passCapacity(positions int, net nets.Scorer) capacity {
	chains := max(1, passEdges/(net.Labels()*net.Labels()))
	if net.PerPosition() {
		positions = min(positions, chains)
	}
	var most capacity
	for left := data.all(); len(left) > 0; {
		n, rows := 0, 0
		for n < len(left) {
			t := data.Set.Length(left[n])
			if n > 0 && (rows+t > positions || n == chains) {
				break
			}
			most.longest = max(most.longest, t)
			n, rows = n+1, rows+t
		}
		most.chains, most.rows = max(most.chains, n), max(most.rows, rows)
		left = left[n:]
	}
	most.rows = nets.Bucket(most.rows)
	return most
}

// fit returns how many of the examples a batch of that capacity takes at once, in their order.
func (data *Data) fit(examples []int, c capacity) int {
	rows := 0
	for k, i := range examples {
		if rows += data.Set.Length(i); k == c.chains || rows > c.rows {
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

// lane is a Lane of one capacity, with the graphs of what was done in it.
type lane struct {
	*Lane
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
	b := NewBatch(a.data, c.chains, c.rows, c.longest)
	l := &lane{Lane: a.objective.NewLane(b), capacity: c, known: map[any]bool{}, graphs: map[stepKey]*graph{}}
	a.round++
	if err := a.scorer.Reserve(b); err != nil {
		l.free()
		return nil, err
	}
	return l, nil
}

func (l *lane) free() {
	l.forget()
	l.Lane.Free()
	l.Batch.Free()
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

// do enqueues a step: as it is the first time, and from a graph later.
func (l *lane) do(s *shared, key stepKey, enqueue func()) {
	if l.use(s, scratchOf(key.s)) {
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
