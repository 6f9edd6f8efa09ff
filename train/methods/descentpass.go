package methods

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// descentPass runs passes of a method that steps by an engine.ScaledDescent.
type descentPass struct {
	descent engine.ScaledDescent
	local   localSteps
}

const (
	meanIterates = 16    // iterates of a pass that a mean includes
	averageDecay = 0.999 // of the exponential average, per step
	squaresDecay = 0.999 // β of the mean of squared gradients
)

// begin begins a method's steps on an engine, or goes on with a restored one.
func (w *descentPass) begin(method string, e *engine.Engine, at []float32) error {
	if err := train.CheckDescender(method, e); err != nil {
		return err
	}
	if e.OnDevice() { // whose steps shrink the weights towards zero
		if err := train.CheckCenter(method, e.Objective); err != nil {
			return err
		}
	}
	if w.resumes() {
		w.descent.Resume(e, squaresDecay)
	} else {
		w.restart(e, at)
	}
	return nil
}

// restart begins anew.
func (w *descentPass) restart(e *engine.Engine, at []float32) {
	w.descent.Start(e, at, squaresDecay)
}

// resumes reports whether the steps were restored.
func (w *descentPass) resumes() bool { return len(w.descent.W) > 0 }

func (w *descentPass) archive(a engine.Archive) { w.descent.Archive(a) }

// stepping returns a function for pass that asks about the batch and moves the descent as next says.
func (w *descentPass) stepping(ctx context.Context, p *train.Problem, next func() engine.Move) func(batch []int, dropout uint64) (float64, error) {
	return func(batch []int, dropout uint64) (float64, error) {
		m := next()
		_, err := w.descent.Step(ctx, engine.Question{Examples: batch, Smoothing: subgradient(p), Dropout: dropout}, m)
		return m.Eta, err
	}
}

// pass visits every example once, in random order and in batches. move moves the descent by a batch, with the given
// seed of the dropout masks, and returns the step size. s.W becomes the mean of iterates that kind asks for, and F is
// evaluated there.
func (w *descentPass) pass(ctx context.Context, p *train.Problem, s *train.State, kind Averaging, move func(batch []int, dropout uint64) (float64, error)) error {
	batches := w.local.batches(p, s.Passes)
	steps := len(batches)
	d := &w.descent
	if kind == PassAverage {
		d.ResetMean()
	}
	last := -1 // step whose iterate the mean included last
	err := w.local.each(ctx, p, batches, func(t int, batch []int) error {
		if len(batch) == 0 {
			return nil
		}
		γ, err := move(batch, w.local.mask(p, s.Passes*steps+t))
		if err != nil {
			return err // s.Step tells the last step size
		}
		s.Step = γ
		if kind != NoAverage && includes(t, steps) {
			d.Include(kind.share(d.Count(), t-last))
			last = t
		}
		return nil
	}, func() error { return d.Average(ctx) })
	if err == nil {
		err = d.Finish()
	}
	if err == nil && w.local.apart(p) {
		err = p.Average(ctx, d.Mean)
	}
	if err != nil {
		return err
	}
	s.Passes++
	s.OracleCalls += p.Len()
	if kind == NoAverage {
		copy(s.W, d.W)
	} else {
		copy(s.W, d.Mean)
		if p.L1 > 0 {
			for j, x := range d.W {
				if x == 0 {
					s.W[j] = 0
				}
			}
		}
	}
	s.Mu, s.Kappa = subgradient(p).Mu, 0
	nan := math.NaN()
	s.Smoothed, s.Dual, s.Estimate, s.Exact, s.ProxGradient, s.InnerGap = nan, nan, nan, nan, nan, nan
	s.Primal, _, err = p.Upper(ctx, s.W)
	s.FullPasses++
	return err
}

// includes reports whether the mean of a pass includes its iterate after step t: all of them if they are few, else some
// at equal distances, because bringing every row up to date for the mean costs more than a step.
func includes(t, steps int) bool {
	return (t+1)*meanIterates/steps > t*meanIterates/steps
}

// dropoutSeed returns the seed of a step's dropout masks, which is not 0.
func dropoutSeed(p *train.Problem, step int) uint64 { return p.Seed ^ uint64(step) | 1<<63 }
