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

// pass visits every example once, in random order and in batches. step asks q of a batch, moves the descent, and
// returns the step size. s.W becomes the mean of iterates that kind asks for, and F is evaluated there.
func (w *descentPass) pass(ctx context.Context, p *train.Problem, s *train.State, kind Averaging,
	step func(q engine.Question) (η float64, err error)) error {
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
		η, err := step(engine.Question{
			Examples: batch, Smoothing: subgradient(p), Dropout: w.local.mask(p, s.Passes*steps+t),
		})
		if err != nil {
			return err // s.Step tells the last step size
		}
		s.Step = η
		if kind != NoAverage && includes(t, steps) {
			d.Include(kind.share(d.Count(), t-last))
			last = t
		}
		return nil
	}, func() error { return d.Average(ctx) })
	if err == nil {
		err = d.Finish()
	}
	if err == nil && w.local > 0 {
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
	s.Mu = subgradient(p).Mu
	s.ProxGradient, s.InnerGap = math.NaN(), math.NaN()
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

// localSteps is how many steps on batches of its own examples each of several ranks takes before all average what they
// have (local SGD: Mangasarian 1995; Stich 2019). 0: the ranks share each batch.
//
// A rank sees its own examples only, and one of K ranks takes 1/K of a pass's steps. Where the ranks' examples are
// alike, the means of K iterates have 1/K of the variance, as a batch K times as large has; the more steps between
// averages, the further the ranks are apart. Stich: for strongly convex objectives, of T steps up to about √(T/K) may
// lie between averages without loss of the rate. For networks nothing of that kind is proved.
type localSteps int

// localStepsOf returns a setting's local steps. A process alone has none: it shares each batch with nobody.
func localStepsOf(p *train.Problem, setting int) localSteps {
	if p.Ranks().Size() == 1 {
		return 0
	}
	return localSteps(setting)
}

// steps returns the number of steps of a pass, the same on each rank.
func (h localSteps) steps(p *train.Problem) int {
	if h == 0 {
		return p.Steps()
	}
	most, least := 0, p.Len()
	for r := range p.Ranks().Size() {
		of := p.OwnOf(r)
		most, least = max(most, p.StepsOf(of)), min(least, len(of))
	}
	return max(1, min(most, least))
}

// batches returns the batches of a pass, in random order, none of them empty.
func (h localSteps) batches(p *train.Problem, pass int) [][]int {
	if h == 0 {
		return p.Batches(p.Rand(pass).Perm(p.Len()))
	}
	own, batches := p.Own(), make([][]int, h.steps(p))
	order := p.Rand(pass).Perm(len(own))
	for k := range order {
		order[k] = own[order[k]]
	}
	for k := range batches {
		batches[k] = order[len(order)*k/len(batches) : len(order)*(k+1)/len(batches)]
	}
	return batches
}

// each calls step for all batches of a pass. Ranks that step on their own call average every so many steps, and at the
// end.
func (h localSteps) each(ctx context.Context, p *train.Problem, batches [][]int, step func(t int, batch []int) error,
	average func() error) error {
	some := func(lo, hi int) error {
		for t := lo; t < hi; t++ {
			if err := step(t, batches[t]); err != nil {
				return err
			}
		}
		return nil
	}
	if h == 0 {
		return some(0, len(batches))
	}
	for lo := 0; lo < len(batches); lo += int(h) {
		err := p.Alone(ctx, func() error { return some(lo, min(lo+int(h), len(batches))) })
		if err == nil {
			err = average()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mask returns the seed of a step's dropout masks. Each rank that steps on its own has other masks.
func (h localSteps) mask(p *train.Problem, step int) uint64 {
	if h > 0 {
		step = step*p.Ranks().Size() + p.Ranks().Rank()
	}
	return dropoutSeed(p, step)
}
