package accelerator

import (
	"context"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train/engine"
)

// stepKey identifies the launches of a step, for batches of one capacity.
type stepKey struct {
	s      oracles.Smoothing
	memory engine.DeviceMemory
	open   bool    // at the iterate that is open
	leaves bool    // the gradient is sent to the host on the way
	move   moveKey // of a descent; zero: none
}

// Step implements engine.Accelerator. The second step with the same key is captured; later ones replay it.
func (a *Accelerator) Step(ctx context.Context, at engine.Place, examples []int, s oracles.Smoothing,
	memory engine.DeviceMemory, dropout uint64) error {
	return a.step(ctx, at, examples, stepKey{s: s, memory: memory}, dropout)
}

// step enqueues a step.
func (a *Accelerator) step(ctx context.Context, place engine.Place, examples []int, key stepKey, dropout uint64) error {
	l, err := a.slotFor(ctx, examples, dropout)
	if err != nil {
		return err
	}
	at, open := a.weights(place)
	key.open = open
	l.captureOrReplay(a.shared, key, func() { a.askAndPullBack(l, at, key.s, key.memory) })
	return a.d.Err()
}

// weights returns weights on the device, and whether they are the iterate that is open there.
func (a *Accelerator) weights(at engine.Place) (w device.Array[float32], open bool) {
	host, ok := at.Host()
	if !ok {
		return a.vectors.w, true
	}
	device.Upload(a.d, a.vectors.at, host)
	return a.vectors.at, false
}

// askAndPullBack enqueues a step's question: sums and gradient of the slot's batch.
func (a *Accelerator) askAndPullBack(l *slot, at device.Array[float32], s oracles.Smoothing,
	memory engine.DeviceMemory) {
	a.oracle.ClearSums()
	device.Zero(a.d, a.vectors.grad)
	l.Ask(at, s, false)
	l.Difference(memory)
	l.Pullback(a.vectors.grad)
}

func (a *Accelerator) Change(ctx context.Context, from, to []float32, examples []int, s oracles.Smoothing) error {
	l, err := a.slot(ctx, examples)
	if err != nil {
		return err
	}
	v := a.vectors
	device.Upload(a.d, v.at, to)
	device.Upload(a.d, device.Grow(a.d, &v.from, v.dim, "weights"), from)
	l.ReserveChange()
	l.use("change")
	device.Zero(a.d, v.grad)
	l.Change(v.from, v.at, s)
	l.Pullback(v.grad)
	return a.done()
}

// slotFor is slot with a seed of dropout.
func (a *Accelerator) slotFor(ctx context.Context, examples []int, dropout uint64) (*slot, error) {
	l, err := a.slot(ctx, examples)
	if err == nil && l.seed != dropout {
		l.seed = dropout
		l.batch.SetSeed(dropout)
	}
	return l, err
}

// slot returns the slot for a batch of the examples, with these examples chosen.
func (a *Accelerator) slot(ctx context.Context, examples []int) (l *slot, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := a.data.StepCapacity(examples)
	if l = a.steps[c]; l == nil {
		if l, err = a.newSlot(c); err != nil {
			return nil, err
		}
		a.steps[c] = l
	}
	l.batch.Set(examples)
	a.last = l
	a.product.known = false
	return l, nil
}

func (a *Accelerator) Remember(memory engine.DeviceMemory, γ float32) {
	a.last.Remember(memory, γ)
}

func (a *Accelerator) Sums() (engine.Sums, error) { return a.sums() }

func (a *Accelerator) Norm2() float64 {
	norm, dot := a.vectors.products(a.vectors.w)
	a.product.known, a.product.dot = true, dot
	return norm
}

func (a *Accelerator) Dot(w engine.Place) float64 {
	at, open := a.weights(w)
	if open && a.product.known {
		return a.product.dot
	}
	_, dot := a.vectors.products(at)
	return dot
}

func (a *Accelerator) Open(w, b, mean []float32) { a.vectors.open(w, b, mean) }

func (a *Accelerator) Advance(by engine.Stride) {
	a.product.known = false
	a.vectors.walk(by, device.Array[float64]{})
}

func (a *Accelerator) Ascend(memory engine.DeviceMemory, λ, share float64) {
	a.product.known = false
	v := a.vectors
	v.ascend(a.oracle.sums(), λ, a.data.Set.Len(), share)
	v.walk(engine.Stride{Rho: 1, C: 1, Share: share}, v.by)
	a.last.RememberBy(memory, v.γ)
}

func (a *Accelerator) SetBooks(b engine.DualBooks) {
	device.Upload(a.d, a.vectors.dual, []float64{b.Linear, b.Average, b.Value})
}

func (a *Accelerator) Books() (engine.DualBooks, error) {
	var b [3]float64
	device.Download(a.d, b[:], a.vectors.dual)
	return engine.DualBooks{Linear: b[0], Average: b[1], Value: b[2]}, a.d.Err()
}

func (a *Accelerator) Observe(examples int) { a.vectors.observe(a.oracle.sums(), examples) }

func (a *Accelerator) Observed() (rise, progress float64, err error) {
	var seen [2]float64
	device.Download(a.d, seen[:], a.vectors.seen)
	return seen[0], seen[1], a.d.Err()
}

func (a *Accelerator) Finish(w, mean []float32) error {
	a.vectors.read(w, mean)
	return a.done()
}

func (a *Accelerator) NewMemory() (engine.DeviceMemory, error) {
	m := a.oracle.newMemory()
	a.memories = append(a.memories, m)
	return m, a.d.Err()
}

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
	l := &slot{evaluation: a.oracle.newEvaluation(b), batch: b, capacity: c, known: map[any]bool{},
		graphs: map[stepKey]*graph{}}
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

// captureOrReplay enqueues a step: directly the first time, later from a captured graph if the evaluation supports
// capture.
func (l *slot) captureOrReplay(s *shared, key stepKey, enqueue func()) {
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
