package accelerator_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
	"github.com/dsp-go/dsp/train/traintest"
)

// inParts calls do as each of some ranks, with an engine whose accelerator evaluates in parts on a device of the rank's
// own, and returns the numbers that do returns, which must be the same on all ranks. prepare, if there is one, is
// called with each accelerator first.
func inParts(t *testing.T, devices []*device.Device, o *engine.Objective, parts int, prepare func(rank int, a *accelerator.Accelerator) error, do func(ctx context.Context, e *engine.Engine) ([]float32, error)) []float32 {
	t.Helper()
	all := make([][]float32, len(devices))
	var turn sync.Mutex
	err := rankstest.InProcess(t.Context(), len(devices), func(ctx context.Context, g ranks.Group) error {
		turn.Lock()
		defer turn.Unlock()
		a, err := accelerator.NewAccelerator(devices[g.Rank()], o, oracles.Smoothing{}, false)
		if err != nil {
			return err
		}
		defer a.Close()
		if prepare != nil {
			turn.Unlock()
			err = prepare(g.Rank(), a)
			turn.Lock()
			if err != nil {
				return err
			}
		}
		e := engine.NewAcceleratedEngine(o, 1, a)
		e.Cut(parts)
		if err = e.Join(inTurn{g, &turn}); err == nil {
			all[g.Rank()], err = do(ctx, e)
		}
		return err
	})
	cudatest.Must(t, err)
	for rank, x := range all {
		if !sameBits(x, all[0]) {
			t.Errorf("rank %d of %d has other bits than rank 0", rank, len(all))
		}
	}
	return all[0]
}

// inTurn is a group whose ranks hold a lock while they do not wait for each other: they are processes elsewhere, and
// the emulator serves one thread at a time.
type inTurn struct {
	ranks.Group
	turn *sync.Mutex
}

func (g inTurn) SumToLast(ctx context.Context, pieces [][]byte, all, window int, add func(lo, hi int) error) error {
	g.turn.Unlock()
	defer g.turn.Lock()
	return g.Group.SumToLast(ctx, pieces, all, window, add)
}

func (g inTurn) AllGather(ctx context.Context, mine []byte) ([][]byte, error) {
	g.turn.Unlock()
	defer g.turn.Lock()
	return g.Group.AllGather(ctx, mine)
}

func (g inTurn) AllGatherV(ctx context.Context, x []byte, ends []int) error {
	g.turn.Unlock()
	defer g.turn.Lock()
	return g.Group.AllGatherV(ctx, x, ends)
}

func (g inTurn) Ended(ctx context.Context) error {
	g.turn.Unlock()
	defer g.turn.Lock()
	return g.Group.Ended(ctx)
}

func sameBits(x, y []float32) bool {
	return slices.EqualFunc(x, y, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
}

// Several ranks that share batches in parts have the bits of one that evaluates the same parts, in steps of descents
// and of paths and in full passes, and numbers near those of batches that are not cut.
func TestRanksShareParts(t *testing.T) {
	t.Setenv("DSP_EMULATED_STREAMS", "late") // so that gradients that leave too early, or are read too early, have other bits
	var devices []*device.Device
	for range 3 {
		devices = append(devices, cudatest.Device(t))
	}
	problems := descentProblems(t)
	work := map[string]func(ctx context.Context, p *train.Problem) ([]float32, error){
		"path": pathInParts, "pass": passInParts,
	}
	for name, rule := range rules {
		work[name] = func(ctx context.Context, p *train.Problem) ([]float32, error) { return descendInParts(ctx, p, rule) }
	}
	differs := 0
	for _, name := range []string{"network", "smoothed", "dropout", "embeddings", "embeddings, hinge"} {
		for _, what := range slices.Sorted(maps.Keys(work)) {
			t.Run(name+"/"+what, func(t *testing.T) {
				p := problems[name]
				do := func(ctx context.Context, e *engine.Engine) ([]float32, error) {
					q := *p
					q.Engine = e
					return work[what](ctx, &q)
				}
				whole := inParts(t, devices[:1], p.Objective, 1, nil, do)
				one := inParts(t, devices[:1], p.Objective, 3, nil, do)
				cudatest.Near(t, "numbers of three parts", one, whole, 1e-3)
				if !sameBits(one, whole) {
					differs++
				}
				for n := 2; n <= 3; n++ {
					if several := inParts(t, devices[:n], p.Objective, 3, nil, do); !sameBits(several, one) {
						t.Errorf("%d ranks have other bits than one", n)
					}
				}
			})
		}
	}
	if differs == 0 {
		t.Error("three parts always have the bits of one: the test checks too little")
	}
}

// start returns weights to begin with.
func start(p *train.Problem) []float32 {
	if net, ok := p.Scorer.(network); ok {
		return net.Init(1)
	}
	return traintest.Initial(p)
}

// batches are those of some steps, of several sizes: one has fewer examples than there are parts.
func batches(n int) (all [][]int) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, size := range []int{7, 2, 5, 9} {
		all = append(all, r.Perm(n)[:size])
	}
	return all
}

func descendInParts(ctx context.Context, p *train.Problem, rule func(η, λ float64) engine.Move) ([]float32, error) {
	var d engine.ScaledDescent
	d.Start(p.Engine, start(p), 0.99)
	for k, batch := range batches(p.Len()) {
		q := engine.Question{Examples: batch, Smoothing: p.Smoothing, Dropout: uint64(k + 1)}
		if _, err := d.Step(ctx, q, rule(0.2, p.Lambda)); err != nil {
			return nil, err
		}
		d.Include(1 / float64(k+1))
	}
	err := d.Finish()
	return append(d.W, d.Mean...), err
}

// pathInParts takes steps along a path, and returns its iterate and what the steps say.
func pathInParts(ctx context.Context, p *train.Problem) (all []float32, err error) {
	var path engine.AffinePath
	w := start(p)
	path.Start(p.Engine, w, nil)
	for k, batch := range batches(p.Len()) {
		st, err := p.StepAt(ctx, path.At(), batch, p.Smoothing, nil, uint64(k+1))
		if err == nil {
			err = st.Fetch()
		}
		if err != nil {
			return nil, err
		}
		path.Observe(&st, w, len(batch))
		all = append(all, float32(st.Linear), float32(st.Smoothed), float32(st.Exact), float32(st.Moved), float32(st.Grad.Norm2()), float32(st.Product()))
		path.Step(0.9, 0, -0.1, 0, st.Grad)
	}
	rise, progress, err := path.Observed()
	return append(all, append(path.W, float32(rise), float32(progress))...), errors.Join(err, path.Finish())
}

// passInParts evaluates the objective and its gradient at weights.
func passInParts(ctx context.Context, p *train.Problem) ([]float32, error) {
	w := start(p)
	pass, err := p.FullPass(ctx, w, p.Smoothing, nil)
	if err != nil {
		return nil, err
	}
	f, err := p.Value(ctx, w)
	g, gerr := p.ValueOf(ctx, w, []int{5, 1})
	return append(pass.Grad, float32(pass.Primal), float32(pass.Smoothed), float32(pass.Linear), float32(pass.Exact), float32(f), float32(g)), errors.Join(err, gerr)
}

// Potentials of a part that are not finite stop all ranks alike, in steps and in passes, and afterwards they can go on.
func TestPartsAreNotFinite(t *testing.T) {
	devices := []*device.Device{cudatest.Device(t), cudatest.Device(t)}
	p := descentProblems(t)["network"]
	o, data := *p.Objective, *p.Data
	bad := p.Len() - 1 // in the part of the last rank
	data.Features = slices.Clone(data.Features)
	data.Features[data.Offsets[bad]*data.Dim] = float32(math.NaN())
	o.Data = &data
	inParts(t, devices, &o, 2, nil, func(ctx context.Context, e *engine.Engine) ([]float32, error) {
		w, not := start(p), (*engine.NonFiniteError)(nil)
		if _, err := e.FullPass(ctx, w, oracles.Smoothing{}, nil); !errors.As(err, &not) {
			return nil, fmt.Errorf("a pass: %w", err)
		}
		if _, err := e.Step(ctx, w, []int{0, bad}, oracles.Smoothing{}, nil); !errors.As(err, &not) {
			return nil, fmt.Errorf("a step: %w", err)
		}
		st, err := e.Step(ctx, w, []int{0, 1}, oracles.Smoothing{}, nil)
		return []float32{float32(st.Smoothed)}, err
	})
}
