package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/vec"
)

// hostDevice is an Accelerator that is no device: another engine does its work. Potentials that are not finite it tells of
// late, as a device does.
type hostDevice struct {
	engine *Engine
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
	return &hostDevice{engine: NewEngine(o, 1), hostVectors: &hostVectors{}}
}

// accelerated is p with such a device.
func accelerated(p *Problem) *Problem {
	q := *p
	q.Engine = NewAcceleratedEngine(p.Objective, 1, newHostDevice(p.Objective))
	return &q
}

func (h *hostDevice) Also(o *Objective) (Accelerator, error) {
	return &hostDevice{engine: NewEngine(o, 1), hostVectors: h.hostVectors}, nil
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
	return h.engine.sumAll(ctx, w, s, memoryOf(memory), g)
}

func (h *hostDevice) Value(ctx context.Context, w []float32, examples []int) (float64, error) {
	if h.late != nil {
		return 0, h.late
	}
	f, err := h.engine.ValueOf(ctx, w, examples)
	return (f - h.engine.regulariser(w)) * float64(len(examples)), err
}

func (h *hostDevice) Recompose(ctx context.Context, w []float32, memory RemoteMemory, g []float32) (float64, error) {
	sums, err := h.engine.recall(ctx, w, memoryOf(memory), g)
	return sums.Linear, err
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
	return Sums{Linear: s.Linear, Smoothed: s.Smoothed, Exact: s.Exact, Moved: s.Moved, Loss: s.loss}, h.late
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
		scaleTo(by.Rho, h.w)
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

func acceleratedMethods() map[string]func() Method {
	return map[string]func() Method{
		"sgd":           func() Method { return &SGD{} },
		"sgd, constant": func() Method { return &SGD{Schedule: ConstantSchedule, Rate: 0.01, Averaging: NoAverage} },
		"svrg":          func() Method { return &SVRG{} },
		"casimir":       func() Method { return &Casimir{} },
		"casimir-adapt": func() Method { return &Casimir{Adaptive: true} },
		"saga":          func() Method { return &SAGA{} },
		"bcfw":          func() Method { return &BCFW{Resync: 2} },
		"lbfgs":         func() Method { return &LBFGS{} },
		"prox-linear":   func() Method { return &ProxLinear{} },
		"prox, casimir": func() Method {
			return &ProxLinear{Inner: func(int) Method { return &Casimir{} }}
		},
		"prox, saga": func() Method { return &ProxLinear{Inner: func(int) Method { return &SAGA{} }} },
	}
}

func acceleratedProblems() map[string]*Problem {
	smoothed := oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}
	net := netProblem(24, 3, 1)
	net.Lambda, net.Smoothing = 0.1, smoothed
	return map[string]*Problem{
		"affine":  noisyProblem(24, Hinge, smoothed, 0.1),
		"shifted": shifted(noisyProblem(24, Hinge, smoothed, 0.1)),
		"net":     net,
	}
}

// A method does the same on a device, however it does it there, and goes on from a checkpoint with the same bits.
func TestAccelerated(t *testing.T) {
	for problem, p := range acceleratedProblems() {
		for name, method := range acceleratedMethods() {
			if method().Convex() && !p.Scorer.Affine() {
				continue
			}
			t.Run(problem+"/"+name, func(t *testing.T) {
				w := func() *State { return &State{W: p.Scorer.(*testNet).glorot(1)} }
				m, plain := method(), w()
				begin(t, m, p, plain)
				passes(t, m, p, plain, 3)

				q := accelerated(p)
				m, there := method(), w()
				begin(t, m, q, there)
				passes(t, m, q, there, 2)
				if r, ok := m.(remembering); ok {
					if err := r.fetchMemory(q); err != nil {
						t.Fatal(err)
					}
				}
				kept, state := &shelf{values: map[string]any{}}, *there
				state.W = slices.Clone(there.W)
				m.Archive(kept)
				passes(t, m, q, there, 1)
				if d := math.Sqrt(vec.Dist2(plain.W, there.W) / vec.Norm2(plain.W)); !(d < 1e-4) {
					t.Errorf("weights are %g apart, relatively", d)
				}
				near(t, "F", there.Primal, plain.Primal, 1e-4)

				q = accelerated(p)
				m = method()
				kept.restoring = true
				m.Archive(kept)
				begin(t, m, q, &state)
				passes(t, m, q, &state, 1)
				if !slices.Equal(state.W, there.W) || state.Primal != there.Primal {
					t.Errorf("resumed, it is elsewhere: F %v, not %v", state.Primal, there.Primal)
				}
			})
		}
	}
}

// Where a device tells late that weights are no longer finite, the run ends as it does without one.
func TestAcceleratedDivergence(t *testing.T) {
	p := accelerated(netProblem(24, 3, 1))
	_, err := (&Trainer{Problem: p, Method: &SGD{Rate: 1e30}, Passes: 2}).Run(t.Context(), glorotState(p))
	var diverged *DivergedError
	if !errors.As(err, &diverged) || !strings.HasPrefix(diverged.Where, "example ") || diverged.Pass != 1 {
		t.Errorf("ended with %v", err)
	}
}

// Methods that look into lanes are refused.
func TestAcceleratedRefusals(t *testing.T) {
	for _, m := range []Method{&BCPFW{}, &SDCA{}} {
		loss := Hinge
		if m.Name() == "sdca" {
			loss = CRF
		}
		p := accelerated(noisyProblem(8, loss, oracles.Smoothing{}, 0.1))
		err := m.Start(t.Context(), p, &State{W: make([]float32, p.Scorer.Dim())})
		if err == nil || err.Error() != Accelerates(m.Name()).Error() {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
}

// A memory on a device is fetched when a checkpoint is due, and in the end; a run goes on from any of these to the same bits.
func TestAcceleratedCheckpoint(t *testing.T) {
	problem := func() *Problem {
		return accelerated(noisyProblem(24, Hinge, oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}, 0.1))
	}
	run := func(c *Checkpoint, passes int) *Result {
		t.Helper()
		p := problem()
		r, err := (&Trainer{Problem: p, Method: &SAGA{}, Passes: passes, Checkpoint: c}).Run(t.Context(), &State{W: make([]float32, p.Scorer.Dim())})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	straight := run(nil, 6)
	dir := t.TempDir()
	c := newCheckpoint(t, dir)
	c.throttle.cost, c.throttle.last = time.Hour, time.Now() // never due
	run(c, 3)
	if c.Pass() != 3 {
		t.Errorf("in the end the checkpoint is of pass %d, not 3", c.Pass())
	}
	c = openCheckpoint(t, dir)
	c.throttle.cost, c.throttle.last = time.Hour, time.Now()
	if r := run(c, 6); !slices.Equal(r.W, straight.W) {
		t.Error("resumed, it has other weights")
	}

	c = newCheckpoint(t, t.TempDir())
	c.throttle.cost, c.throttle.last = time.Hour, time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	p := problem()
	stop := recorderOf(func(r Record) {
		if r.Pass == 2 {
			cancel()
		}
	})
	_, err := (&Trainer{Problem: p, Method: &SAGA{}, Passes: 6, Checkpoint: c, Recorders: []Recorder{stop}}).Run(ctx, &State{W: make([]float32, p.Scorer.Dim())})
	if !errors.Is(err, ErrInterrupted) || c.Pass() != 0 || !strings.Contains(err.Error(), "is of pass 0") {
		t.Errorf("interrupted with a checkpoint of pass %d: %v", c.Pass(), err)
	}
}

type recorderOf func(Record)

func (f recorderOf) Record(r Record) error { f(r); return nil }
func (f recorderOf) Close() error          { return nil }
