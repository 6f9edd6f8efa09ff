package methods

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// The search for γ0 takes steps on some of the examples and judges by others.
const (
	searchShare   = 2  // half of the data to learn from, half to judge by: a smaller share favours steps too short for rare features
	searchBatches = 16 // but at least this many batches, if the data has them
	searchTrials  = 16 // most trials
)

// searchRate finds an initial step size for SGD: the power of two, times a natural scale, with the least objective
// after a run of constant steps from w over part of the data. It judges the weighted average of the run, because the
// last iterate's noise would favour steps that are too short. The scale is Polyak's step f/‖∇f‖² of the first batch,
// which would take a linear model of a loss to zero. From there the search goes up or down by factors of four as long
// as that helps, and then tries a factor of two on either side of the best. All trials see the same examples. It also
// returns the number of oracle calls.
//
// With sparse inputs most attributes are rare. A run's progress on them shows only on the examples that it learned
// from, and only after several visits to each. So it takes fewer examples, visits each four times, and is judged by the
// same examples.
func searchRate(ctx context.Context, p *train.Problem, w []float32) (rate float64, calls int, err error) {
	order, size := p.Rand(-1).Perm(p.Len()), p.BatchSize()
	m := max(len(order)/searchShare, searchBatches*size)
	learn, judge := order[:min(m, len(order))], order[max(0, len(order)-m):]
	if _, rows := p.Rows(); rows {
		judge = learn[:(len(learn)+3)/4]
		learn = slices.Concat(judge, judge, judge, judge)
	}
	first, err := p.Step(ctx, w, learn[:min(size, len(learn))], subgradient(p), nil)
	if err != nil {
		return 0, 0, err
	}
	b := float64(min(size, len(learn)))
	norm, loss := first.Grad.Norm2()/(b*b), first.Smoothed/b
	if norm == 0 || loss <= 0 { // nothing to learn
		return 1, len(learn), nil
	}
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return 0, 0, structured.BadInput("%s: the gradient's norm is not finite, so that no step size can be found: some inputs are too large. Scale them down", p.Data.Name)
	}
	var trial engine.AffinePath
	trials := 0
	value := func(γ float64) (float64, error) {
		trials++
		trial.Start(p.Engine, w, p.Center)
		for lo := 0; lo < len(learn); lo += size {
			if err := descend(ctx, p, &trial, learn[lo:min(lo+size, len(learn))], γ, p.Seed); err != nil {
				return diverged(err)
			}
			trial.Include(WeightedAverage.weight(trial.Count))
		}
		if err := trial.Finish(); err != nil {
			return diverged(err)
		}
		v, err := p.ValueOf(ctx, p.Soften(trial.Mean, 0), judge)
		if err != nil {
			return diverged(err)
		}
		return v, nil
	}
	rate, err = searchPower(loss/norm, searchTrials, value)
	return rate, trials * (len(learn) + len(judge)), err
}

// diverged replaces the error for potentials that are not finite by an infinite value.
func diverged(err error) (float64, error) {
	var bad *engine.NonFiniteError
	if errors.As(err, &bad) {
		return math.Inf(1), nil
	}
	return 0, err
}

// searchPower looks for the γ = scale·2^k with the least value. It assumes that value has a single valley, beyond which
// it may be infinite.
func searchPower(scale float64, trials int, value func(γ float64) (float64, error)) (float64, error) {
	best, least := scale, math.Inf(1)
	better := func(γ float64) (bool, error) {
		v, err := value(γ)
		if err != nil || !(v < least) {
			return false, err
		}
		best, least = γ, v
		return true, nil
	}
	for range trials {
		found, err := better(scale)
		if err != nil {
			return 0, err
		}
		if found {
			break
		}
		scale /= 16 // steps of this length diverge
	}
	for _, factor := range []float64{4, 0.25} {
		moved := false
		for range trials {
			ok, err := better(best * factor)
			if err != nil {
				return 0, err
			}
			if !ok {
				break
			}
			moved = true
		}
		if moved {
			break
		}
	}
	for _, factor := range []float64{2, 0.5} {
		ok, err := better(best * factor)
		if err != nil {
			return 0, err
		}
		if ok {
			break
		}
	}
	return best, nil
}
