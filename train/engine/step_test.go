package engine_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/traintest"
)

// A step on more examples than fit into one shard per lane is the sum of steps on its parts. It moves the memory of all
// examples and needs no more lanes than a full pass. Sums of small steps, and of all steps on sparse inputs, equal the
// sums of their parts in order, to the bit.
func TestStepOnManyExamples(t *testing.T) {
	for name, p := range map[string]*train.Problem{
		"dense":  traintest.Shifted(traintest.NoisyProblem(300, engine.Hinge, traintest.Entropy, 0.1)),
		"sparse": traintest.Shifted(traintest.SparseProblem(300, engine.Hinge, traintest.Entropy, 0.1)),
	} {
		t.Run(name, func(t *testing.T) {
			const size = 2*engine.PassLanes*engine.StepExamples + 3
			r := rand.New(rand.NewPCG(2, 1))
			w, s := traintest.DrawWeights(r, p.Scorer.Dim(), 0.5), oracles.Smoothing{Kind: oracles.Entropy, Mu: 0.5}
			order := r.Perm(p.Len())[:size]
			memory, others := engine.NewMemory(p.Objective), engine.NewMemory(p.Objective)
			part := engine.NewEngine(p.Objective, 1)
			var want engine.Step
			sum := make([]float32, len(w))
			for lo := 0; lo < size; lo += engine.StepExamples {
				st, err := part.Step(t.Context(), w, order[lo:min(lo+engine.StepExamples, size)], s, others)
				if err != nil {
					t.Fatal(err)
				}
				st.Grad.AddTo(1, sum)
				want.Linear, want.Smoothed, want.Moved = want.Linear+st.Linear, want.Smoothed+st.Smoothed, want.Moved+st.Moved
				part.Remember(others, 0.25)
			}
			st, err := p.Step(t.Context(), w, order, s, memory)
			if err != nil {
				t.Fatal(err)
			}
			if st.Linear != want.Linear || st.Smoothed != want.Smoothed || st.Moved != want.Moved {
				t.Errorf("linear %v, loss %v, %d moved; of parts %v, %v, %d", st.Linear, st.Smoothed, st.Moved, want.Linear, want.Smoothed, want.Moved)
			}
			got := make([]float32, len(w))
			st.Grad.AddTo(1, got)
			traintest.NearAll(t, "gradient", got, sum, 1e-5)
			if _, rows := p.Rows(); rows && !slices.Equal(got, sum) {
				t.Error("the gradient of sparse inputs has other bits than its parts in order")
			}
			traintest.Near(t, "⟨D,w⟩", st.Grad.Dot(w), vec.Dot64(got, w), 1e-5)
			traintest.Near(t, "‖D‖²", st.Grad.Norm2(), vec.Norm2(got), 1e-5)
			p.Remember(memory, 0.25)
			if !slices.Equal(memory.Parts[0].Values, others.Parts[0].Values) || !slices.Equal(memory.Parts[1].Values, others.Parts[1].Values) {
				t.Error("not all examples are remembered")
			}
			if lanes, _, _ := p.Made(); lanes > engine.PassLanes {
				t.Errorf("%d lanes", lanes)
			}
		})
	}
}

// A step without a memory keeps only as many answers as there are lanes.
func TestStepForgets(t *testing.T) {
	p := traintest.NoisyProblem(300, engine.Hinge, traintest.Entropy, 0.1)
	if _, err := p.Step(t.Context(), make([]float32, p.Scorer.Dim()), p.Rand(0).Perm(p.Len()), oracles.Smoothing{}, nil); err != nil {
		t.Fatal(err)
	}
	if _, results, _ := p.Made(); results > engine.PassLanes {
		t.Errorf("%d results", results)
	}
}

// Steps on many examples have the same bits for any number of threads.
func TestLargeStepThreads(t *testing.T) {
	for name, problem := range map[string]func() *train.Problem{
		"dense":  func() *train.Problem { return traintest.NoisyProblem(400, engine.Hinge, traintest.Entropy, 0.05) },
		"sparse": func() *train.Problem { return traintest.SparseProblem(400, engine.Hinge, traintest.Entropy, 0.05) },
	} {
		var want []float32
		for _, threads := range []int{1, 2, 7} {
			p := problem()
			p.Engine = engine.NewEngine(p.Objective, threads)
			p.Batch = 200
			m := &methods.SVRG{}
			s := traintest.Start(t, m, p)
			traintest.Passes(t, m, p, s, 2)
			if want == nil {
				want = s.W
			} else if !slices.Equal(want, s.W) {
				t.Errorf("%s: other weights with %d threads", name, threads)
			}
		}
	}
}

// The memory of steps grows with the batch by answers, not by gradients.
func TestStepBytes(t *testing.T) {
	bytes := func(p *train.Problem, batch int) float64 {
		p.Batch = batch
		return p.StepBytes(p.BatchSize())
	}
	dense, sparse := traintest.NoisyProblem(4096, engine.CRF, traintest.Entropy, 0.1), traintest.SparseProblem(400, engine.CRF, traintest.Entropy, 0.1)
	dense.Scorer = &traintest.Net{Inputs: 1 << 20, Labels: 4}
	gradients := 4 * engine.PassLanes * float64(dense.Scorer.Dim())
	if few, many := bytes(dense, 1), bytes(dense, 4096); few < gradients || many <= few || many > 1.1*few {
		t.Errorf("%g bytes, in large steps %g, of which gradients are %g", few, many, gradients)
	}
	if b := bytes(sparse, 1); !(b > 0) || b > 1e6 {
		t.Errorf("%g bytes for sparse inputs", b)
	}
}
