package traintest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// device is a fake Accelerator: another engine does its work. It reports potentials that are not finite late, as a
// device does.
type device struct {
	engine *engine.Engine
	bare   *engine.Engine // for the objective without its regulariser
	*hostVectors
	step engine.Step
	late error
}

// hostVectors are the open path's vectors and D.
type hostVectors struct {
	w, b, mean, d  []float32
	walks          int
	descent        *hostDescent
	books          engine.DualBooks
	start          []float32
	rise, progress float64
}

type hostMemory struct {
	*engine.Memory
	engine *engine.Engine
}

func newHostDevice(o *engine.Objective) *device {
	return &device{engine: engine.NewEngine(o, 1), bare: bareEngine(o), hostVectors: &hostVectors{}}
}

// bareEngine returns an engine for the objective without its regulariser.
func bareEngine(o *engine.Objective) *engine.Engine {
	bare := *o
	bare.Lambda, bare.Center, bare.Constant = 0, nil, 0
	return engine.NewEngine(&bare, 1)
}

// Accelerated returns p on such a device.
func Accelerated(p *train.Problem) *train.Problem {
	q := *p
	q.Engine = engine.NewAcceleratedEngine(p.Objective, 1, newHostDevice(p.Objective))
	return &q
}

func (h *device) Sibling(o *engine.Objective) (engine.Accelerator, error) {
	return &device{engine: engine.NewEngine(o, 1), bare: bareEngine(o), hostVectors: h.hostVectors}, nil
}
func (h *device) MoveTo(w []float32) { h.engine.Scorer.(engine.Linearised).MoveTo(w) }
func (h *device) Close()             {}
func (h *device) NewMemory() (engine.DeviceMemory, error) {
	m := engine.NewMemory(h.engine.Objective)
	for k := range m.Parts {
		fill(m.Parts[k].Values, float32(math.NaN()))
	}
	return &hostMemory{m, h.engine}, nil
}

func fill(x []float32, v float32) {
	for i := range x {
		x[i] = v
	}
}

func (m *hostMemory) Load(parts []structured.Part) {
	for k := range parts {
		copy(m.Parts[k].Values, parts[k].Values)
	}
}
func (m *hostMemory) Store(parts []structured.Part) error {
	if len(parts) != len(m.Parts) {
		return fmt.Errorf("%d parts, expected %d", len(parts), len(m.Parts))
	}
	for k := range parts {
		if got, want := len(parts[k].Values), len(m.Parts[k].Values); got != want {
			return fmt.Errorf("part %d has %d numbers, expected %d", k, got, want)
		}
		copy(parts[k].Values, m.Parts[k].Values)
	}
	return nil
}
func (m *hostMemory) ToGold(γ float32) {
	if γ == 0 {
		m.Clear()
	}
	m.engine.ToGold(m.Memory, γ)
}

func memoryOf(m engine.DeviceMemory) *engine.Memory {
	if m == nil {
		return nil
	}
	return m.(*hostMemory).Memory
}

func (h *device) FullPass(ctx context.Context, w []float32, s oracles.Smoothing, memory engine.DeviceMemory, g []float32) (engine.Sums, error) {
	if h.late != nil {
		return engine.Sums{}, h.late
	}
	pass, err := h.bare.FullPass(ctx, w, s, memoryOf(memory))
	if err != nil {
		return engine.Sums{}, err
	}
	n := float64(h.bare.Len())
	vec.Axpy(float32(n), pass.Grad, g)
	return engine.Sums{
		Primal:   n * pass.Primal,
		Smoothed: n * pass.Smoothed,
		Linear:   n * (pass.Linear + vec.Dot64(pass.Grad, w)),
		Exact:    int(math.Round(n * pass.Exact)),
	}, nil
}

func (h *device) Value(ctx context.Context, w []float32, examples []int) (float64, error) {
	if h.late != nil {
		return 0, h.late
	}
	f, err := h.bare.ValueOf(ctx, w, examples)
	return f * float64(len(examples)), err
}

func (h *device) Recompose(ctx context.Context, w []float32, memory engine.DeviceMemory, g []float32) (float64, error) {
	u, err := h.bare.Recompose(ctx, w, memoryOf(memory))
	if err != nil {
		return 0, err
	}
	n := float64(h.bare.Len())
	vec.Axpy(float32(n), u.Grad, g)
	return n * (u.Linear + vec.Dot64(u.Grad, w)), nil
}

func (h *device) Step(ctx context.Context, at engine.Place, examples []int, s oracles.Smoothing, memory engine.DeviceMemory, dropout uint64) error {
	step, err := h.engine.StepAt(ctx, engine.At(h.weights(at)), examples, s, memoryOf(memory), dropout)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		h.late = err
		return nil
	}
	h.keep(step.Grad)
	h.step = step
	return nil
}

func (h *device) keep(g engine.Gradient) {
	h.d = make([]float32, h.engine.Scorer.Dim())
	g.AddTo(1, h.d)
}

func (h *device) Change(ctx context.Context, from, to []float32, examples []int, s oracles.Smoothing) error {
	g, err := h.engine.Change(ctx, from, to, examples, s)
	if err == nil {
		h.keep(g)
	}
	return err
}

func (h *device) Remember(memory engine.DeviceMemory, γ float32) {
	h.engine.Remember(memoryOf(memory), γ)
}

func (h *device) Sums() (engine.Sums, error) {
	s := h.step
	return engine.Sums{Linear: s.Linear, Smoothed: s.Smoothed, Exact: s.Exact, Moved: s.Moved}, h.late
}

func (h *device) Norm2() float64             { return vec.Norm2(h.d) }
func (h *device) Dot(w engine.Place) float64 { return vec.Dot64(h.d, h.weights(w)) }

func (h *device) weights(at engine.Place) []float32 {
	if w, ok := at.Host(); ok {
		return w
	}
	return h.w
}

func (h *device) Ascend(memory engine.DeviceMemory, λ, share float64) {
	n, γ := float64(h.engine.Len()), 0.0
	gap, norm := h.step.Linear/n, h.Norm2()/(λ*n*n)
	if gap > 0 && norm > 0 {
		γ = float64(float32(min(gap/norm, 1)))
	}
	b := &h.books
	b.Linear += γ / n * (h.step.Linear - h.Dot(engine.Iterate))
	b.Value += γ*gap - γ*γ/2*norm
	b.Average += share * (b.Linear - b.Average)
	h.Advance(engine.Stride{Rho: 1, C: -γ / (λ * n), Share: share})
	h.Remember(memory, float32(γ))
}
func (h *device) Observe(b int) {
	if h.step.Exact == b && h.step.Moved > 0 {
		h.rise += h.Norm2() / float64(b*b)
		h.progress += (h.Dot(engine.Iterate) - h.Dot(engine.OnHost(h.start))) / float64(b)
	}
}
func (h *device) Observed() (rise, progress float64, err error) {
	return h.rise, h.progress, h.late
}

func (h *device) SetBooks(b engine.DualBooks)      { h.books = b }
func (h *device) Books() (engine.DualBooks, error) { return h.books, h.late }

func (h *device) Open(w, b, mean []float32) {
	h.w, h.start, h.b, h.mean = slices.Clone(w), slices.Clone(w), slices.Clone(b), slices.Clone(mean)
	h.rise, h.progress = 0, 0
}

func (h *device) Advance(by engine.Stride) {
	h.walks++
	if by.Q != 0 {
		vec.Axpby(float32(by.Q), h.b, float32(by.Rho), h.w)
	} else {
		vec.Scale(float32(by.Rho), h.w)
	}
	if by.C != 0 {
		vec.Axpy(float32(by.C), h.d, h.w)
	}
	if by.Beta != 0 {
		vec.Axpy(float32(by.Beta), h.d, h.b)
	}
	switch by.Share {
	case 0:
	case 1:
		h.mean = append(h.mean[:0], h.w...)
	default:
		vec.Axpby(float32(by.Share), h.w, float32(1-by.Share), h.mean)
	}
}

func (h *device) Finish(w, mean []float32) error {
	late := h.late
	h.late = nil
	copy(w, h.w)
	if mean != nil {
		copy(mean, h.mean)
	}
	return late
}
