package train

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/vec"
)

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
	c.Hold() // never due
	run(c, 3)
	if c.Pass() != 3 {
		t.Errorf("in the end the checkpoint is of pass %d, not 3", c.Pass())
	}
	c = openCheckpoint(t, dir)
	c.Hold()
	if r := run(c, 6); !slices.Equal(r.W, straight.W) {
		t.Error("resumed, it has other weights")
	}

	c = newCheckpoint(t, t.TempDir())
	c.Hold()
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
