package methods

import (
	"cmp"
	"context"
	"math"

	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// batchModels is prox-linear on models of single batches. A step linearises the network on one batch and solves the dual of that
// subproblem, which has one variable, exactly (engine.Descent.ProxStep). So a step costs what a step of SGD costs. There is no step
// size to tune: the proximal term is scaled weight by weight, and the dual variable cuts off steps that the model does not need.
type batchModels struct {
	descent engine.Descent
}

const (
	batchEta      = 0.1   // default η
	batchEtaRatio = 1e-3  // its last value over the first
	squaresDecay  = 0.999 // β of the mean of squared gradients
	meanIterates  = 32    // iterates of a pass that its mean includes
)

func (b *batchModels) start(p *train.Problem, s *train.State) {
	if len(b.descent.W) > 0 { // restored
		b.descent.Resume(p.Engine, true, squaresDecay)
		return
	}
	b.descent.Start(p.Engine, s.W, true, squaresDecay)
}

// pass visits every example once, in random order. s.W becomes the mean of the pass's iterates.
func (b *batchModels) pass(ctx context.Context, p *train.Problem, s *train.State, m *ProxLinear) error {
	order, size := p.Rand(s.Passes).Perm(p.Len()), min(m.ModelBatch, p.Len())
	steps := (len(order) + size - 1) / size
	d := &b.descent
	d.ResetMean()
	η := 0.0
	for t := range steps {
		η = b.eta(m, float64(s.Passes)+float64(t)/float64(steps))
		batch := order[t*size : min((t+1)*size, len(order))]
		st, err := d.Ask(ctx, batch, subgradient(p), dropoutSeed(p, s.Passes*steps+t))
		if err != nil {
			return err
		}
		d.ProxStep(st.Smoothed/float64(len(batch)), η, p.Lambda)
		if includes(t, steps) {
			d.Include(0)
		}
	}
	if err := d.Finish(); err != nil {
		return err
	}
	s.Passes++
	s.OracleCalls += len(order)
	copy(s.W, d.Mean)
	s.Step, s.Mu, s.Kappa = η, subgradient(p).Mu, 0
	s.Smoothed, s.Dual, s.Estimate, s.Exact = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	s.ProxGradient, s.InnerGap = math.NaN(), math.NaN()
	var err error
	s.Primal, err = p.Value(ctx, s.W)
	s.FullPasses++
	return err
}

// eta returns η after so many passes.
func (b *batchModels) eta(m *ProxLinear, passes float64) float64 {
	first := cmp.Or(m.Eta, batchEta)
	if m.Passes <= m.Finish {
		return first
	}
	return first * math.Pow(batchEtaRatio, min(1, passes/float64(m.Passes-m.Finish)))
}

// includes reports whether the mean of a pass includes its iterate after step t: all of them if they are few, else some at equal
// distances.
func includes(t, steps int) bool {
	return (t+1)*meanIterates/steps > t*meanIterates/steps
}

// dropoutSeed returns the seed of a step's dropout masks, which is not 0.
func dropoutSeed(p *train.Problem, step int) uint64 { return p.Seed ^ uint64(step) | 1<<63 }
