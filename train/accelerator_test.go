package train_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
	"github.com/dsp-go/dsp/train/record"
	"github.com/dsp-go/dsp/train/traintest"
)

func acceleratedMethods() map[string]func() train.Method {
	return map[string]func() train.Method{
		"sgd": func() train.Method { return &methods.SGD{} },
		"sgd, constant": func() train.Method {
			return &methods.SGD{Schedule: methods.ConstantSchedule, Rate: 0.01, Averaging: methods.NoAverage}
		},
		"svrg":          func() train.Method { return &methods.SVRG{} },
		"casimir":       func() train.Method { return &methods.Casimir{} },
		"casimir-adapt": func() train.Method { return &methods.Casimir{Adaptive: true} },
		"saga":          func() train.Method { return &methods.SAGA{} },
		"bcfw":          func() train.Method { return &methods.BCFW{Resync: 2} },
		"lbfgs":         func() train.Method { return &quasinewton.LBFGS{} },
		"prox-linear":   func() train.Method { return &methods.ProxLinear{} },
		"prox, casimir": func() train.Method {
			return &methods.ProxLinear{Inner: func(int) train.Method { return &methods.Casimir{} }}
		},
		"prox, saga": func() train.Method {
			return &methods.ProxLinear{Inner: func(int) train.Method { return &methods.SAGA{} }}
		},
	}
}

// acceleratedWalks are the methods that walk by an engine.ScaledDescent.
func acceleratedWalks() map[string]func() train.Method {
	return map[string]func() train.Method{
		"sgd, momentum": func() train.Method {
			return &methods.SGD{Rate: 0.01, Momentum: 0.9, Averaging: methods.ExponentialAverage}
		},
		"sgd, nesterov": func() train.Method {
			return &methods.SGD{Momentum: 0.8, Nesterov: true, Clip: 0.5, Averaging: methods.NoAverage}
		},
		"adam":          func() train.Method { return &methods.Adam{} },
		"adam, clipped": func() train.Method { return &methods.Adam{Clip: 0.3, Averaging: methods.ExponentialAverage} },
		"prox, batches": func() train.Method { return &methods.BatchProxLinear{ModelBatch: 4, Passes: 4} },
		"prox, finish":  func() train.Method { return &methods.BatchProxLinear{ModelBatch: 5, Passes: 3, Finish: 1} },
	}
}

func acceleratedProblems() map[string]*train.Problem {
	smoothed := oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}
	net := traintest.NetProblem(24, 3, 1)
	net.Lambda, net.Smoothing = 0.1, smoothed
	return map[string]*train.Problem{
		"affine":  traintest.NoisyProblem(24, engine.Hinge, smoothed, 0.1),
		"shifted": traintest.Shifted(traintest.NoisyProblem(24, engine.Hinge, smoothed, 0.1)),
		"net":     net,
	}
}

// A method gives the same results on a device, however it works there, and resumes from a checkpoint with the same
// bits.
func TestAccelerated(t *testing.T) {
	walks := acceleratedProblems()
	delete(walks, "shifted") // walks shrink the weights towards zero (train.CheckCenter)
	walks["attributes"] = traintest.SparseProblem(24, engine.CRF, oracles.Smoothing{}, 0.1)
	walks["attributes, hinge"] = traintest.SparseProblem(24, engine.Hinge, oracles.Smoothing{}, 0.1)
	walks["embeddings"] = traintest.EmbeddingProblem(24, engine.Hinge, 0.1)
	walks["embeddings, batches"] = traintest.EmbeddingProblem(26, engine.CRF, 0.1)
	walks["embeddings, batches"].Batch = 3
	for _, run := range []struct {
		problems map[string]*train.Problem
		methods  map[string]func() train.Method
	}{{acceleratedProblems(), acceleratedMethods()}, {walks, acceleratedWalks()}} {
		for problem, p := range run.problems {
			for name, method := range run.methods {
				if method().Traits().Convex && !p.Scorer.Affine() {
					continue
				}
				t.Run(problem+"/"+name, func(t *testing.T) { sameAccelerated(t, p, method) })
			}
		}
	}
}

func sameAccelerated(t *testing.T, p *train.Problem, method func() train.Method) {
	t.Helper()
	w := func() *train.State { return train.NewState(traintest.Initial(p)) }
	m, plain := method(), w()
	traintest.Begin(t, m, p, plain)
	traintest.Passes(t, m, p, plain, 3)

	q := traintest.Accelerated(p)
	m, there := method(), w()
	traintest.Begin(t, m, q, there)
	traintest.Passes(t, m, q, there, 2)
	if r, ok := m.(train.MemoryKeeper); ok {
		if err := r.FetchMemory(q); err != nil {
			t.Fatal(err)
		}
	}
	kept, state := &traintest.Shelf{Values: map[string]any{}}, *there
	state.W = slices.Clone(there.W)
	m.Archive(kept)
	traintest.Passes(t, m, q, there, 1)
	if d := math.Sqrt(vec.Dist2(plain.W, there.W) / vec.Norm2(plain.W)); !(d < 1e-4) {
		t.Errorf("weights are %g apart, relatively", d)
	}
	traintest.Near(t, "F", there.Primal, plain.Primal, 1e-4)

	q = traintest.Accelerated(p)
	m = method()
	kept.Restoring = true
	m.Archive(kept)
	traintest.Begin(t, m, q, &state)
	traintest.Passes(t, m, q, &state, 1)
	if !slices.Equal(state.W, there.W) || state.Primal != there.Primal {
		t.Errorf("resumed, it is elsewhere: F %v, not %v", state.Primal, there.Primal)
	}
}

// If a device reports late that weights are no longer finite, the run ends as it does on the host.
func TestAcceleratedDivergence(t *testing.T) {
	p := traintest.Accelerated(traintest.NetProblem(24, 3, 1))
	_, err := (&train.Trainer{Problem: p, Method: &methods.SGD{Rate: 1e30}, Passes: 2}).Run(t.Context(), traintest.GlorotState(p))
	var diverged *train.DivergedError
	if !errors.As(err, &diverged) || !strings.HasPrefix(diverged.Where, "example ") || diverged.Pass != 1 {
		t.Errorf("ended with %v", err)
	}
}

// A device that takes no steps of a descent is refused.
func TestDescentsNeedADescender(t *testing.T) {
	plain := traintest.NetProblem(8, 2, 1)
	p := *plain
	p.Engine = engine.NewAcceleratedEngine(plain.Objective, 1, struct{ engine.Accelerator }{})
	for _, method := range []train.Method{
		&methods.BatchProxLinear{ModelBatch: 2}, &methods.Adam{}, &methods.SGD{Rate: 0.1, Momentum: 0.5},
	} {
		err := method.Start(t.Context(), &p, train.NewState(make([]float32, p.Scorer.Dim())))
		var refused *train.RequirementError
		if !errors.As(err, &refused) || refused.Needs != train.HostPotentials {
			t.Errorf("%s: %v", method.Name(), err)
		}
	}
}

// Methods that use lanes are rejected, and parameters that need the host.
func TestAcceleratedRefusals(t *testing.T) {
	for _, m := range []train.Method{&methods.BCPFW{}, &sdca.SDCA{}, &methods.BatchProxLinear{ModelBatch: 2, InnerSteps: 3}} {
		loss := engine.Hinge
		if m.Name() == "sdca" {
			loss = engine.CRF
		}
		p := traintest.Accelerated(traintest.NoisyProblem(8, loss, oracles.Smoothing{}, 0.1))
		err := m.Start(t.Context(), p, train.NewState(make([]float32, p.Scorer.Dim())))
		if want := train.CheckAccelerated(m); err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", m.Name(), err, want)
		}
	}
}

// A memory on a device is fetched when a checkpoint is due, and at the end. A run resumed from any of these has the
// same bits.
func TestAcceleratedCheckpoint(t *testing.T) {
	problem := func() *train.Problem {
		return traintest.Accelerated(traintest.NoisyProblem(24, engine.Hinge, oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}, 0.1))
	}
	run := func(c *train.Checkpoint, passes int) *train.Result {
		t.Helper()
		p := problem()
		r, err := (&train.Trainer{Problem: p, Method: &methods.SAGA{}, Passes: passes, Checkpoint: c}).Run(t.Context(), train.NewState(make([]float32, p.Scorer.Dim())))
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
	stop := recorderOf(func(r record.Record) {
		if r.Pass == 2 {
			cancel()
		}
	})
	_, err := (&train.Trainer{Problem: p, Method: &methods.SAGA{}, Passes: 6, Checkpoint: c, Recorders: []record.Recorder{stop}}).Run(ctx, train.NewState(make([]float32, p.Scorer.Dim())))
	if !errors.Is(err, train.ErrInterrupted) || c.Pass() != 0 || !strings.Contains(err.Error(), "is of pass 0") {
		t.Errorf("interrupted with a checkpoint of pass %d: %v", c.Pass(), err)
	}
}

type recorderOf func(record.Record)

func (f recorderOf) Record(r record.Record) error { f(r); return nil }
func (f recorderOf) Close() error                 { return nil }
