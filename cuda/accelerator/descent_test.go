package accelerator_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/traintest"
)

// descentProblems are problems with and without row tables, some of whose rows no example reads.
func descentProblems(t *testing.T) map[string]*train.Problem {
	all := map[string]*train.Problem{
		"network":           learnable(t, nets.Config{Net: "mlp", Hidden: []int{3}}, engine.Hinge, oracles.Smoothing{}),
		"smoothed":          learnable(t, nets.Config{Net: "mlp", Hidden: []int{3}}, engine.Hinge, oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}),
		"dropout":           learnable(t, nets.Config{Net: "mlp", Hidden: []int{6}, Dropout: 0.4}, engine.CRF, oracles.Smoothing{}),
		"attributes":        traintest.SparseProblem(14, engine.CRF, oracles.Smoothing{}, 0.05),
		"attributes, hinge": traintest.SparseProblem(14, engine.Hinge, oracles.Smoothing{}, 0.05),
		"embeddings":        traintest.EmbeddingProblem(14, engine.CRF, 0.05),
		"embeddings, hinge": traintest.EmbeddingProblem(14, engine.Hinge, 0.05),
	}
	set, net := cudatest.SparseCase(t, rand.New(rand.NewPCG(2, 3)), 3, 12, 4, nets.EdgesTransition, true, 3, 1, 4, 2, 5, 3)
	o := &engine.Objective{Scorer: net, Data: set, Loss: engine.SoftmaxMargin, Lambda: 0.05}
	all["attributes of edges"] = &train.Problem{Engine: engine.NewEngine(o, 1)}
	return all
}

// rules are the moves of a step with η and λ.
var rules = map[string]func(η, λ float64) engine.Move{
	"prox": func(η, λ float64) engine.Move { return engine.Move{Rule: engine.ProxRule, Eta: η, Lambda: λ} },
	"adam": func(η, λ float64) engine.Move {
		return engine.Move{Rule: engine.AdamRule, Eta: η / 10, Lambda: λ, Beta: 0.9}
	},
	"adam, clipped": func(η, λ float64) engine.Move {
		return engine.Move{Rule: engine.AdamRule, Eta: η / 10, Lambda: λ, Beta: 0.9, Clip: 0.3}
	},
	"momentum": func(η, λ float64) engine.Move {
		return engine.Move{Rule: engine.MomentumRule, Eta: η / 10, Lambda: λ, Beta: 0.9}
	},
	"nesterov, clipped": func(η, λ float64) engine.Move {
		return engine.Move{Rule: engine.NesterovRule, Eta: η, Lambda: λ, Beta: 0.7, Clip: 0.5}
	},
}

// A descent on the device has the iterates, means and counts of one on the host, on batches of several sizes that leave
// rows unread, and also after it was closed and opened again.
func TestDescentOnDevice(t *testing.T) {
	d := cudatest.Device(t)
	problems, inside := descentProblems(t), 0
	for _, problem := range slices.Sorted(maps.Keys(problems)) {
		for _, rule := range slices.Sorted(maps.Keys(rules)) {
			t.Run(problem+"/"+rule, func(t *testing.T) {
				a, err := accelerator.NewAccelerator(d, problems[problem].Objective, problems[problem].Smoothing, false)
				cudatest.Must(t, err)
				defer a.Close()
				inside += sameDescent(t, a, problems[problem], rule, 24, 2, 2, 1, 3)
			})
		}
	}
	if inside == 0 {
		t.Error("every γ is 0 or 1: the test checks too little")
	}
}

// sameDescent compares descents on a device and on the host, by steps on batches of the given sizes in turn. It returns
// how many γ were between 0 and 1.
func sameDescent(t *testing.T, a *accelerator.Accelerator, p *train.Problem, rule string, steps int, sizes ...int) (inside int) {
	engines := []*engine.Engine{engine.NewEngine(p.Objective, 1), engine.NewAcceleratedEngine(p.Objective, 1, a)}
	w := traintest.Initial(p)
	if net, ok := p.Scorer.(network); ok {
		w = net.Init(1)
	}
	var descents [2]engine.ScaledDescent
	for k, e := range engines {
		descents[k].Start(e, w, 0.99)
	}
	r := rand.New(rand.NewPCG(4, 4))
	included := 0
	for step := range steps {
		batch := r.Perm(p.Len())[:sizes[step%len(sizes)]]
		η := 0.2 / float64(1+step/4)
		var γ [2]float64
		for k := range descents {
			var err error
			q := engine.Question{Examples: batch, Smoothing: p.Smoothing, Dropout: uint64(step + 1)}
			γ[k], err = descents[k].Step(t.Context(), q, rules[rule](η, p.Lambda))
			cudatest.Must(t, err)
		}
		if rule == "prox" {
			if γ[1] = a.Gamma(); !(math.Abs(γ[0]-γ[1]) <= 1e-3) {
				t.Fatalf("step %d: γ is %v, on the host %v", step, γ[1], γ[0])
			}
			if γ[0] > 0 && γ[0] < 1 {
				inside++
			}
		}
		if step%5 == 4 {
			included++
			for k := range descents {
				descents[k].Include(1 / float64(included))
			}
		}
		if step == steps/2-1 {
			for k := range descents {
				cudatest.Must(t, descents[k].Finish())
			}
		}
	}
	var shelves [2]*traintest.Shelf
	for k := range descents {
		cudatest.Must(t, descents[k].Finish())
		shelves[k] = &traintest.Shelf{Values: map[string]any{}}
		descents[k].Archive(shelves[k])
	}
	for name, want := range shelves[0].Values {
		if x, ok := want.([]float32); ok {
			got := shelves[1].Values[name].([]float32)
			if len(got) != len(x) {
				t.Fatalf("%s has %d numbers, on the host %d", name, len(got), len(x))
			}
			cudatest.Near(t, name, got, x, 2e-4)
		} else if got := shelves[1].Values[name]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s is %v, on the host %v", name, got, want)
		}
	}
	return inside
}

// A batch without any violation of the hinge has no gradient: the step only shrinks weights.
func TestDescentWithoutViolations(t *testing.T) {
	d := cudatest.Device(t)
	p := learnable(t, nets.Config{Net: "linear"}, engine.Hinge, oracles.Smoothing{})
	good := train.NewState(p.Scorer.(network).Init(1))
	p.Lambda = 1e-4
	m := &methods.SGD{Rate: 0.5}
	cudatest.Must(t, m.Start(t.Context(), p, good))
	for range 30 {
		cudatest.Must(t, m.Pass(t.Context(), p, good))
	}
	var easy []int
	for i := range p.Len() {
		st, err := p.Step(t.Context(), good.W, []int{i}, oracles.Smoothing{}, nil)
		cudatest.Must(t, err)
		if st.Smoothed == 0 {
			easy = append(easy, i)
		}
	}
	if len(easy) == 0 || len(easy) == p.Len() {
		t.Fatalf("%d examples of %d without a violation", len(easy), p.Len())
	}
	hard := slices.DeleteFunc(p.Rand(1).Perm(p.Len()), func(i int) bool { return slices.Contains(easy, i) })
	a, err := accelerator.NewAccelerator(d, p.Objective, p.Smoothing, false)
	cudatest.Must(t, err)
	defer a.Close()
	var w [2][]float32
	for k, e := range []*engine.Engine{p.Engine, engine.NewAcceleratedEngine(p.Objective, 1, a)} {
		var x engine.ScaledDescent
		x.Start(e, good.W, 0.9)
		for _, batch := range [][]int{easy[:1], hard[:1], easy[:1], easy[:1]} {
			_, err := x.Step(t.Context(), engine.Question{Examples: batch}, rules["prox"](0.01, 0.5))
			cudatest.Must(t, err)
		}
		if k == 1 && a.Gamma() != 0 {
			t.Errorf("γ is %v without a gradient", a.Gamma())
		}
		cudatest.Must(t, x.Finish())
		w[k] = x.W
	}
	cudatest.Near(t, "w", w[1], w[0], 1e-5)
}

// Methods that walk by a descent give on the device what they give on the CPU, and a second run gives the same bits.
func TestWalksOnDevice(t *testing.T) {
	d := cudatest.Device(t)
	walks := map[string]func() train.Method{
		"prox-linear": func() train.Method { return &methods.BatchProxLinear{ModelBatch: 3, Passes: 3} },
		"adam":        func() train.Method { return &methods.Adam{Clip: 1} },
		"momentum":    func() train.Method { return &methods.SGD{Rate: 0.02, Momentum: 0.9} },
		"nesterov": func() train.Method {
			return &methods.SGD{Rate: 0.02, Momentum: 0.9, Nesterov: true, Clip: 1, Averaging: methods.ExponentialAverage}
		},
	}
	problems := descentProblems(t)
	for _, problem := range slices.Sorted(maps.Keys(problems)) {
		for _, name := range slices.Sorted(maps.Keys(walks)) {
			t.Run(problem+"/"+name, func(t *testing.T) {
				p := *problems[problem]
				p.Batch, p.Seed = 3, 3
				run := func(p *train.Problem) *train.State {
					s := train.NewState(traintest.Initial(p))
					if net, ok := p.Scorer.(network); ok {
						s.W = net.Init(1)
					}
					m := walks[name]()
					cudatest.Must(t, m.Start(t.Context(), p, s))
					for range 3 {
						cudatest.Must(t, m.Pass(t.Context(), p, s))
					}
					return s
				}
				want, got, again := run(&p), run(deviceProblem(t, d, &p)), run(deviceProblem(t, d, &p))
				cudatest.Near(t, "w", got.W, want.W, 1e-3)
				if !(math.Abs(got.Primal-want.Primal) <= 1e-4*(1+want.Primal)) {
					t.Errorf("F is %v, on the CPU %v", got.Primal, want.Primal)
				}
				if !slices.Equal(got.W, again.W) {
					t.Error("a second run gives other bits")
				}
			})
		}
	}
}

// Steps of a descent are captured as one graph: after the first on a batch of some capacity, no kernel of theirs is
// launched by itself.
func TestDescentIsCaptured(t *testing.T) {
	d := cudatest.Device(t)
	p := traintest.EmbeddingProblem(14, engine.CRF, 0.05)
	q := deviceProblem(t, d, p)
	var x engine.ScaledDescent
	x.Start(q.Engine, traintest.Initial(p), 0.99)
	step := func(batch []int) {
		_, err := x.Step(t.Context(), engine.Question{Examples: batch}, rules["prox"](0.1, p.Lambda))
		cudatest.Must(t, err)
	}
	kernels := []string{"mark_rows", "observe_common", "observe_squares", "prox_mix", "prox_step"}
	batch := []int{0, 1}
	step(batch)
	step(batch)
	before := map[string]int{}
	for _, k := range kernels {
		before[k] = d.Launches(k)
	}
	step(batch)
	step(batch)
	for _, k := range kernels {
		if n := d.Launches(k); n != before[k] || n == 0 {
			t.Errorf("%s: %d launches, then %d", k, before[k], n)
		}
	}
	cudatest.Must(t, x.Finish())
}

// A descent whose weights are no longer finite ends with an error that names an example.
func TestDescentDiverges(t *testing.T) {
	d := cudatest.Device(t)
	p := learnable(t, nets.Config{Net: "mlp", Hidden: []int{3}}, engine.Hinge, oracles.Smoothing{})
	for name, m := range map[string]train.Method{
		"adam":     &methods.Adam{Rate: 1e38},
		"momentum": &methods.SGD{Rate: 1e30, Momentum: 0.5},
		"prox":     &methods.BatchProxLinear{ModelBatch: 2, Eta: 1e38},
	} {
		q := deviceProblem(t, d, p)
		w := p.Scorer.(network).Init(1)
		if name == "prox" { // its steps are never that long
			w[0] = float32(math.Inf(1))
		}
		s := train.NewState(w)
		cudatest.Must(t, m.Start(t.Context(), q, s))
		var err error
		for range 3 {
			if err == nil {
				err = m.Pass(t.Context(), q, s)
			}
		}
		var bad *engine.NonFiniteError
		if !errors.As(err, &bad) || !strings.HasPrefix(bad.Where, "example ") {
			t.Errorf("%s ended with %v", name, err)
		}
	}
}
