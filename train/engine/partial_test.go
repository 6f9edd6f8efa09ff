package engine_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/vec"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/traintest"
)

// everyLabeling calls do with all labelings of the given number of positions.
func everyLabeling(positions, y int, do func(labels []int32)) {
	labels := make([]int32, positions)
	var fill func(t int)
	fill = func(t int) {
		if t == positions {
			do(labels)
			return
		}
		for l := range int32(y) {
			labels[t] = l
			fill(t + 1)
		}
	}
	fill(0)
}

// agrees reports whether example i's labels allow a labeling.
func agrees(d *structured.Dataset, i int, labels []int32) bool {
	for t, g := range d.Gold(i) {
		if g >= 0 && g != labels[t] || g < 0 && d.LabelSets[-1-g] != nil && !slices.Contains(d.LabelSets[-1-g], labels[t]) {
			return false
		}
	}
	return true
}

// softmax returns μ log Σ exp(z/μ), or max z if μ = 0.
func softmax(z []float64, μ float64) float64 {
	most, sum := slices.Max(z), 0.0
	if μ == 0 {
		return most
	}
	for _, x := range z {
		sum += math.Exp((x - most) / μ)
	}
	return most + μ*math.Log(sum)
}

// enumerated is the mean loss at w computed from its definition by enumeration: h over all labelings, with the loss to
// the nearest allowed one, minus h over the allowed ones.
func enumerated(t *testing.T, p *train.Problem, w []float32, μ float64) float64 {
	t.Helper()
	d, y, total := p.Data, traintest.LabelsOf(p), 0.0
	worker := p.Scorer.NewWorker()
	for i := range d.Len() {
		var batch structured.Batch
		var θ structured.Potentials
		batch.Reset(d, []int{i})
		if err := worker.Score(w, &batch, &θ); err != nil {
			t.Fatal(err)
		}
		var allowed [][]int32
		everyLabeling(d.Length(i), y, func(labels []int32) {
			if agrees(d, i, labels) && traintest.Allows(p, labels) {
				allowed = append(allowed, slices.Clone(labels))
			}
		})
		var all, some []float64
		everyLabeling(d.Length(i), y, func(labels []int32) {
			if !traintest.Allows(p, labels) {
				return
			}
			loss := 0.0
			for t, g := range d.Gold(i) { // allowed labelings are a product of sets, and the loss is a sum
				least := math.Inf(1)
				for k := range int32(y) {
					if g == k || g < 0 && (d.LabelSets[-1-g] == nil || slices.Contains(d.LabelSets[-1-g], k)) {
						least = min(least, p.Task.Loss(labels[t:t+1], structured.Gold{Output: []int32{k}}))
					}
				}
				loss += least
			}
			if p.Loss == engine.CRF {
				loss = 0
			}
			all = append(all, θ.Score(0, labels)+loss)
		})
		for _, labels := range allowed {
			some = append(some, θ.Score(0, labels))
		}
		total += d.Weight(i) * (softmax(all, μ) - softmax(some, μ))
	}
	return total / float64(d.Len())
}

// Values match the definition and gradients match the values, in full passes and in steps.
func TestPartialLosses(t *testing.T) {
	ctx := context.Background()
	for _, c := range traintest.FullPassCases {
		for name, p := range traintest.PartialProblems(t, c.Loss) {
			t.Run(c.Name+", "+name, func(t *testing.T) {
				if err := p.Check(); err != nil {
					t.Fatal(err)
				}
				if !p.Partial() {
					t.Fatal("all labels are known")
				}
				r := rand.New(rand.NewPCG(5, 6))
				w := traintest.DrawWeights(r, p.Scorer.Dim(), 0.7)
				pass, err := p.FullPass(ctx, w, c.Smoothing, nil)
				if err != nil {
					t.Fatal(err)
				}
				μ := 0.0
				if c.Loss.Smooth() {
					μ = 1
				}
				traintest.Near(t, "F(w)", pass.Primal, enumerated(t, p, w, μ)+p.Regulariser(w), 1e-6)
				traintest.Near(t, "F(w) alone", traintest.Value(t, p.Engine, w), pass.Primal, 1e-9)
				if c.Smoothing.Kind == oracles.Entropy {
					traintest.Near(t, "F_μ(w)", pass.Smoothed, enumerated(t, p, w, c.Smoothing.Mu)+p.Regulariser(w), 1e-6)
				}
				if pass.Smoothed < p.Regulariser(w) {
					t.Errorf("the mean loss is %g", pass.Smoothed-p.Regulariser(w))
				}

				// Along a random direction.
				ε := float32(1. / 256)
				if c.Name == "hinge" { // not smooth everywhere
					ε /= 16
				}
				direction := traintest.DrawWeights(r, len(w), 1)
				smoothed := func(ε float32) float64 {
					at := slices.Clone(w)
					vec.Axpy(ε, direction, at)
					pass, err := p.FullPass(ctx, at, c.Smoothing, nil)
					if err != nil {
						t.Fatal(err)
					}
					return pass.Smoothed - p.Regulariser(at)
				}
				if c.Name != "hinge, l2 on 3" { // not smooth
					slope, before, at, after := vec.Dot64(pass.Grad, direction), smoothed(-ε), smoothed(0), smoothed(ε)
					want := (after - before) / (2 * float64(ε))
					if c.Name == "hinge" { // linear on at least one side, where the best labels stay the same
						want = (after - at) / float64(ε)
						if left := (at - before) / float64(ε); math.Abs(left-slope) < math.Abs(want-slope) {
							want = left
						}
					}
					traintest.Near(t, "slope", slope, want, 2e-3)
				}

				g := make([]float32, len(w))
				loss := 0.0
				for lo := 0; lo < p.Len(); lo += 7 {
					batch := []int{}
					for i := lo; i < min(lo+7, p.Len()); i++ {
						batch = append(batch, i)
					}
					st, err := p.Step(ctx, w, batch, c.Smoothing, nil)
					if err != nil {
						t.Fatal(err)
					}
					st.Grad.AddTo(1/float32(p.Len()), g)
					loss += st.Smoothed / float64(p.Len())
				}
				traintest.NearAll(t, "gradient by steps", g, pass.Grad, 1e-5)
				traintest.Near(t, "loss by steps", loss+p.Regulariser(w), pass.Smoothed, 1e-7) // steps add in float32
			})
		}
	}
}

// Examples without label information have zero loss. Examples whose labels are all known have the same loss as before,
// to the bit.
func TestPartialEnds(t *testing.T) {
	ctx := context.Background()
	for _, c := range traintest.FullPassCases {
		p := traintest.NoisyProblem(20, c.Loss, c.Smoothing, 0.1)
		w := traintest.DrawWeights(rand.New(rand.NewPCG(1, 2)), p.Scorer.Dim(), 0.5)
		want, err := p.FullPass(ctx, w, c.Smoothing, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Data.LabelSets = [][]int32{nil}
		got, err := p.FullPass(ctx, w, c.Smoothing, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p.Partial() || got.Primal != want.Primal || got.Smoothed != want.Smoothed || !slices.Equal(got.Grad, want.Grad) {
			t.Errorf("%s: other bits where there might have been sets of labels", c.Name)
		}
		for i := range p.Data.Labels {
			p.Data.Labels[i] = -1
		}
		if got, err = p.FullPass(ctx, w, c.Smoothing, nil); err != nil {
			t.Fatal(err)
		}
		if f := p.Regulariser(w); got.Primal != f || got.Smoothed != f || vec.Norm2(got.Grad) != 0 {
			t.Errorf("%s: F is %g, want the regulariser's %g alone; ‖g‖² %g", c.Name, got.Primal, f, vec.Norm2(got.Grad))
		}
	}
}
