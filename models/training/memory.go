package training

import (
	"fmt"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
)

// descentVectors is how many vectors of weights an engine.ScaledDescent keeps besides the iterate and the mean,
// including their copies in a checkpoint.
func descentVectors(c *config.Config) float64 {
	if d, ok := c.Optimiser(); ok && d.Vectors != nil {
		return d.Vectors(&c.Settings)
	}
	return 0
}

// stepSetting returns the setting that says how large a step is, its value, and how many examples are in a step, with
// batches of tokens on average.
func stepSetting(c *config.Config, p *train.Problem) (name string, value, examples int) {
	n := p.BatchSize()
	switch all := int(c.ModelBatch); {
	case p.Tokens > 0:
		return "batch-tokens", p.Tokens, (p.Len() + p.Steps() - 1) / p.Steps()
	case all > n:
		n = min(all, p.Len())
		return "model-batch", n, n
	}
	return "batch", n, n
}

// trainingBytes estimates the memory that the process needs to train on p, and the part of it for what the method
// remembers of examples.
func trainingBytes(c *config.Config, p *train.Problem) (all, remembered float64) {
	_, _, examples := stepSetting(c, p)
	weights := float64(p.Scorer.Dim())
	steps := p.StepBytes(examples) + 4*descentVectors(c)*weights
	if d, ok := c.Optimiser(); ok {
		remembered = d.Oracle(&c.Settings).Remembered(p.Objective)
	}
	if large(c, p) {
		if remembered /= 2; nets.Tunes(p.Scorer) { // without the copy of a checkpoint
			return largeBytes(weights, steps) + remembered, remembered
		}
	}
	return tasks.TrainingBytes(weights, steps) + remembered, remembered
}

// The state of a run is large where an encoder is trained that has so many weights, or where the method remembers so
// many bytes of the examples, with a copy: its passes take long, a copy of the state takes as much memory as training,
// and nearly all memory is a few arrays.
const (
	largeWeights = 1 << 24
	largeMemory  = 1 << 28
)

// large reports whether checkpoints keep no copy of the state in memory, and little garbage is left to lie.
func large(c *config.Config, p *train.Problem) bool {
	if nets.Tunes(p.Scorer) && p.Scorer.Dim() >= largeWeights {
		return true
	}
	d, ok := c.Optimiser()
	return ok && d.Oracle(&c.Settings).Remembered(p.Objective) >= largeMemory
}

// largeBytes estimates the memory of a process with a large state that keeps other bytes in use. Its vectors of weights
// are those that the encoder came with, as it has them and as the centre of the regulariser, and those of the iterate,
// of the state, of the last pass and of the best one.
func largeBytes(weights, other float64) float64 { return 1.1 * (other + 4*6*weights) }

// checkSteps refuses training on p if weights, method and steps do not fit into memory. It is called after reading the
// data.
func checkSteps(c *config.Config, p *train.Problem) error {
	all, remembered := trainingBytes(c, p)
	setting, value, _ := stepSetting(c, p)
	what := fmt.Sprintf("training %d weights with --%s %d", p.Scorer.Dim(), setting, value)
	if err := host.CheckMemory(what, all); err != nil {
		if 2*remembered > all {
			return fmt.Errorf("%w; most of it is what --method %s remembers of every example. Use --method lbfgs or bcpfw, which remember little, "+
				"or train on a part of the data", err, c.Method)
		}
		return fmt.Errorf("%w; lower --%s, or train fewer weights", err, setting)
	}
	return nil
}
