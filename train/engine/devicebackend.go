package engine

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/oracles"
)

// deviceBackend does an engine's work on a device.
type deviceBackend struct {
	engine *Engine
	device Accelerator
	cut    int         // parts of a batch; up to 1: it is not cut
	parts  [][]float32 // scratch memory: gradients of this rank's parts
}

// NewAcceleratedEngine returns an engine that runs on a, the accelerator of the same objective.
func NewAcceleratedEngine(o *Objective, threads int, a Accelerator) *Engine {
	e := NewEngine(o, threads)
	e.backend = &deviceBackend{engine: e, device: a}
	return e
}

func (r *deviceBackend) accelerator() Accelerator { return r.device }
func (r *deviceBackend) moveTo(w []float32)       { r.device.MoveTo(w) }

func (r *deviceBackend) sibling(o *Objective) (*Engine, error) {
	a, err := r.device.Sibling(o)
	other := NewAcceleratedEngine(o, r.engine.team.threads, a)
	other.group.Group = r.engine.group.Group
	other.Cut(r.cut)
	return other, err
}

func (r *deviceBackend) newMemory() (*Memory, error) {
	content, err := r.device.NewMemory()
	if err == nil {
		content.ToGold(0)
	}
	return &Memory{device: content}, err
}

func (r *deviceBackend) attach(m *Memory) (_ *Memory, err error) {
	m.device, err = r.device.NewMemory()
	if err == nil {
		m.device.Load(m.Parts)
	}
	return m, err
}

func (r *deviceBackend) toGold(m *Memory, γ float32)   { m.device.ToGold(γ) }
func (r *deviceBackend) remember(m *Memory, γ float32) { r.device.Remember(m.device, γ) }

func (r *deviceBackend) fetch(m *Memory) error {
	m.Form(r.engine.Objective)
	return m.device.Store(m.Parts)
}

func (r *deviceBackend) fullPass(ctx context.Context, w []float32, s oracles.Smoothing, memory *Memory,
	g []float64) (sums Sums, err error) {
	s = r.engine.smoothing(s)
	err = r.gradient(g, func(to []float32) error {
		if device, cut := r.inParts(); cut && memory == nil {
			sums, err = r.passInParts(ctx, device, w, s, to)
			return err
		}
		sums, err = r.device.FullPass(ctx, w, s, memory.Device(), to)
		return err
	})
	return sums, err
}

// gradient calls compute with a gradient of zeros in float32 and copies the result to g.
func (r *deviceBackend) gradient(g []float64, compute func(to []float32) error) error {
	narrow := r.engine.vectors.narrowZeros(len(g))
	err := compute(narrow)
	for j, x := range narrow {
		g[j] = float64(x)
	}
	return err
}

// pullBack pulls back a memory. Other dual points are on the host, and so is their work.
func (r *deviceBackend) pullBack(ctx context.Context, w []float32, of DualPoint, g []float64) (Sums, error) {
	m, ok := of.(*Memory)
	if !ok {
		return hostBackend{r.engine}.pullBack(ctx, w, of, g)
	}
	var sums Sums
	err := r.gradient(g, func(to []float32) (err error) {
		sums.Linear, err = r.device.Recompose(ctx, w, m.device, to)
		return err
	})
	return sums, err
}

func (r *deviceBackend) value(ctx context.Context, w []float32, examples []int, _ [][]int) (Sums, error) {
	e := r.engine
	if device, cut := r.inParts(); cut {
		return r.valueInParts(ctx, device, w, examples)
	}
	lo, hi := e.group.share(len(examples)) // so that all ranks see the same bits of it, too, on whatever devices
	if len(examples) == e.Len() {          // a rank may have the inputs of its own examples alone
		examples = e.Own()
		lo, hi = 0, len(examples)
	}
	f, err := r.device.Value(ctx, w, examples[lo:hi])
	if err = e.SameOnAll(ctx, err); err == nil {
		f, err = e.SumOverRanks(ctx, f)
	}
	return Sums{Primal: f}, err
}

func (r *deviceBackend) step(ctx context.Context, w Point, examples []int, s oracles.Smoothing, memory *Memory,
	dropout uint64) (Step, error) {
	s = r.engine.smoothing(s)
	var err error
	if device, cut := r.inParts(); cut && memory == nil {
		err = r.stepInParts(ctx, device, w.place(), examples, s, dropout, nil)
	} else {
		err = r.device.Step(ctx, w.place(), examples, s, memory.Device(), dropout)
	}
	return Step{Grad: deviceGradient{r}, Moved: len(examples), at: w, pending: r}, err
}

func (r *deviceBackend) change(ctx context.Context, from, to []float32, examples []int, s oracles.Smoothing) (Gradient,
	error) {
	return deviceGradient{r}, r.device.Change(ctx, from, to, examples, r.engine.smoothing(s))
}

func (r *deviceBackend) pathStepper(x *AffinePath) pathStepper {
	return &devicePath{AffinePath: x, device: r.device}
}

// rounder is an accelerator with fewer digits than float32.
type rounder interface {
	// Unit returns the largest relative error of a rounded operation.
	Unit() float64
}

func (r *deviceBackend) precise() bool { return false }

func (r *deviceBackend) answering(oracles.Maximiser) oracles.Maximiser { return nil }

func (r *deviceBackend) unit() float64 {
	if device, ok := r.device.(rounder); ok {
		return device.Unit()
	}
	return Unit
}

// deviceScores is the multiple of the losses, linear parts and products with w that replaces the scores on a device,
// because a device does not sum scores.
const deviceScores = 16

func (r *deviceBackend) scores(sums Sums, product float64) float64 {
	inv := 1 / float64(r.engine.Len())
	return deviceScores * (math.Abs(sums.Primal)*inv + math.Abs(sums.Linear)*inv + math.Abs(product))
}

// deviceGradient is the D that a device holds. It has no entries on the host, and no method asks for them.
type deviceGradient struct{ *deviceBackend }

const noEntries = "engine: a gradient on a device has no entries on the host"

func (g deviceGradient) AddTo(float32, []float32)                        { panic(noEntries) }
func (g deviceGradient) AddToTwo(float32, []float32, float32, []float32) { panic(noEntries) }
func (g deviceGradient) Times(float32, *[]float32) []float32             { panic(noEntries) }
func (g deviceGradient) eachRow(func(d []float32, lo, hi int))           { panic(noEntries) }

func (g deviceGradient) Norm2() float64           { return g.device.Norm2() }
func (g deviceGradient) Dot(w []float32) float64  { return g.device.Dot(OnHost(w)) }
func (g deviceGradient) product(st *Step) float64 { return g.device.Dot(st.at.place()) }
