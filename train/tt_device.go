package train

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// hostDevice is an Accelerator that is no device: another engine does its work. Potentials that are not finite it tells of
// late, as a device does.
type hostDevice struct {
	engine *Engine
	bare   *Engine // for the objective without its regulariser
	*hostVectors
	step Step
	late error
}

// hostVectors are of the path at work, and of D.
type hostVectors struct {
	w, b, mean, d  []float32
	walks          int
	books          DualBooks
	start          []float32
	rise, progress float64
}

type hostMemory struct{ *Memory }

func newHostDevice(o *Objective) *hostDevice {
	return &hostDevice{engine: NewEngine(o, 1), bare: bareEngine(o), hostVectors: &hostVectors{}}
}

// bareEngine returns an engine for the objective without its regulariser.
func bareEngine(o *Objective) *Engine {
	bare := *o
	bare.Lambda, bare.Center, bare.Constant = 0, nil, 0
	return NewEngine(&bare, 1)
}

// accelerated is p with such a device.
func accelerated(p *Problem) *Problem {
	q := *p
	q.Engine = NewAcceleratedEngine(p.Objective, 1, newHostDevice(p.Objective))
	return &q
}

func (h *hostDevice) Also(o *Objective) (Accelerator, error) {
	return &hostDevice{engine: NewEngine(o, 1), bare: bareEngine(o), hostVectors: h.hostVectors}, nil
}
func (h *hostDevice) MoveTo(w []float32) { h.engine.Scorer.(Linearised).MoveTo(w) }
func (h *hostDevice) Close()             {}
func (h *hostDevice) NewMemory() (RemoteMemory, error) {
	m := NewMemory(h.engine.Objective)
	for k := range m.Parts {
		fill(m.Parts[k].Values, float32(math.NaN()))
	}
	return &hostMemory{m}, nil
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
	m.Memory.toGold(γ)
}

func memoryOf(m RemoteMemory) *Memory {
	if m == nil {
		return nil
	}
	return m.(*hostMemory).Memory
}

func (h *hostDevice) FullPass(ctx context.Context, w []float32, s oracles.Smoothing, memory RemoteMemory, g []float32) (Sums, error) {
	if h.late != nil {
		return Sums{}, h.late
	}
	pass, err := h.bare.FullPass(ctx, w, s, memoryOf(memory))
	if err != nil {
		return Sums{}, err
	}
	n := float64(h.bare.Len())
	vec.Axpy(float32(n), pass.Grad, g)
	return Sums{
		Primal:   n * pass.Primal,
		Smoothed: n * pass.Smoothed,
		Linear:   n * (pass.Linear + vec.Dot64(pass.Grad, w)),
		Exact:    int(math.Round(n * pass.Exact)),
	}, nil
}

func (h *hostDevice) Value(ctx context.Context, w []float32, examples []int) (float64, error) {
	if h.late != nil {
		return 0, h.late
	}
	f, err := h.bare.ValueOf(ctx, w, examples)
	return f * float64(len(examples)), err
}

func (h *hostDevice) Recompose(ctx context.Context, w []float32, memory RemoteMemory, g []float32) (float64, error) {
	u, err := h.bare.Recompose(ctx, w, memoryOf(memory))
	if err != nil {
		return 0, err
	}
	n := float64(h.bare.Len())
	vec.Axpy(float32(n), u.Grad, g)
	return n * (u.Linear + vec.Dot64(u.Grad, w)), nil
}

func (h *hostDevice) Step(ctx context.Context, w []float32, examples []int, s oracles.Smoothing, memory RemoteMemory, dropout uint64) error {
	if w == nil {
		w = h.w
	}
	h.engine.Dropout = dropout
	step, err := h.engine.Step(ctx, w, examples, s, memoryOf(memory))
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

func (h *hostDevice) keep(g Gradient) {
	h.d = make([]float32, h.engine.Scorer.Dim())
	g.AddTo(1, h.d)
}

func (h *hostDevice) Change(ctx context.Context, from, to []float32, examples []int, s oracles.Smoothing) error {
	g, err := h.engine.Change(ctx, from, to, examples, s)
	if err == nil {
		h.keep(g)
	}
	return err
}

func (h *hostDevice) Remember(memory RemoteMemory, γ float32) {
	h.engine.Remember(memoryOf(memory), γ)
}

func (h *hostDevice) Sums() (Sums, error) {
	s := h.step
	return Sums{Linear: s.Linear, Smoothed: s.Smoothed, Exact: s.Exact, Moved: s.Moved}, h.late
}

func (h *hostDevice) Norm2() float64 { return vec.Norm2(h.d) }
func (h *hostDevice) Dot(w []float32) float64 {
	if w == nil {
		w = h.w
	}
	return vec.Dot64(h.d, w)
}

func (h *hostDevice) Ascend(memory RemoteMemory, λ, share float64) {
	n, γ := float64(h.engine.Len()), 0.0
	gap, norm := h.step.Linear/n, h.Norm2()/(λ*n*n)
	if gap > 0 && norm > 0 {
		γ = float64(float32(min(gap/norm, 1)))
	}
	b := &h.books
	b.Linear += γ / n * (h.step.Linear - h.Dot(nil))
	b.Value += γ*gap - γ*γ/2*norm
	b.Average += share * (b.Linear - b.Average)
	h.Walk(Stride{Rho: 1, C: -γ / (λ * n), Share: share})
	h.Remember(memory, float32(γ))
}
func (h *hostDevice) Observe(b int) {
	if h.step.Exact == b && h.step.Moved > 0 {
		h.rise += h.Norm2() / float64(b*b)
		h.progress += (h.Dot(nil) - h.Dot(h.start)) / float64(b)
	}
}
func (h *hostDevice) Observed() (rise, progress float64, err error) {
	return h.rise, h.progress, h.late
}

func (h *hostDevice) SetBooks(b DualBooks)      { h.books = b }
func (h *hostDevice) Books() (DualBooks, error) { return h.books, h.late }

func (h *hostDevice) Open(w, b, mean []float32) {
	h.w, h.start, h.b, h.mean = slices.Clone(w), slices.Clone(w), slices.Clone(b), slices.Clone(mean)
	h.rise, h.progress = 0, 0
}

func (h *hostDevice) Walk(by Stride) {
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

func (h *hostDevice) Settle(w, mean []float32) error {
	late := h.late
	h.late = nil
	copy(w, h.w)
	if mean != nil {
		copy(mean, h.mean)
	}
	return late
}
