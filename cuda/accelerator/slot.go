package accelerator

import (
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/oracles"
)

// slot evaluates batches of one capacity, and keeps captured graphs of its steps.
type slot struct {
	evaluation
	batch    *resident.Batch
	capacity resident.Capacity
	seed     uint64
	known    map[any]bool // kinds of work that have run, whose scratch memory is allocated
	graphs   map[stepKey]*graph
}

// graph is a captured step. When scratch memory has moved since, it may use memory that is gone.
type graph struct {
	*device.Graph
	moves int // of the device, at its capture
}

// mostGraphs is how many graphs a slot keeps; those for an earlier μ are not needed again.
const mostGraphs = 8

func (a *Accelerator) newSlot(c resident.Capacity) (*slot, error) {
	b := a.data.NewBatch(c)
	l := &slot{evaluation: a.oracle.newEvaluation(b), batch: b, capacity: c, known: map[any]bool{}, graphs: map[stepKey]*graph{}}
	if err := a.scorer.Reserve(b); err != nil {
		l.free()
		return nil, err
	}
	return l, nil
}

func (l *slot) free() {
	l.forget()
	l.evaluation.Free()
	l.batch.Free()
}

// forget frees the graphs.
func (l *slot) forget() {
	for _, g := range l.graphs {
		g.Free()
	}
	clear(l.graphs)
}

// use records that work of a kind runs, and reports whether it is the first time.
func (l *slot) use(kind any) (first bool) {
	first = !l.known[kind]
	l.known[kind] = true
	return first
}

// scratchOf returns the fields of a smoothing that determine the size of an oracle's scratch memory.
func scratchOf(s oracles.Smoothing) oracles.Smoothing { return oracles.Smoothing{Kind: s.Kind, K: s.K} }

// do enqueues a step: directly the first time, later from a captured graph if the evaluation supports capture.
func (l *slot) do(s *shared, key stepKey, enqueue func()) {
	if l.use(scratchOf(key.s)) || !l.captured() {
		enqueue()
		return
	}
	g := l.graphs[key]
	if g != nil && g.moves != s.d.Moves() {
		g.Free()
		g = nil
	}
	if g == nil {
		if len(l.graphs) >= mostGraphs {
			l.forget()
		}
		g = &graph{s.d.Capture(enqueue), s.d.Moves()}
		l.graphs[key] = g
	}
	s.d.Replay(g.Graph)
}
