package training

import (
	"fmt"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured/machine/host"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// memories is how many numbers a method keeps per potential of the examples, including the copy in a checkpoint.
var memories = map[string]float64{"sdca": 4, "bcfw": 4, "saga": 2, "svrg": 1, "casimir": 1, "casimir-adapt": 1}

// descentVectors is how many vectors of weights an engine.Descent keeps besides the iterate and the mean, including their copies in a
// checkpoint.
func descentVectors(c *config.Config) float64 {
	switch {
	case c.Method == "adam":
		return 5 // v, m and their copies, q
	case c.Method == "prox-linear" && c.ModelBatch > 0 && c.InnerSteps > 1:
		return 5 // v and its copy, q, and the point and a gradient of the linearised network
	case c.Method == "prox-linear" && c.ModelBatch > 0:
		return 3 // v and its copy, q
	case c.Method == "sgd" && c.Momentum > 0:
		return 2 // z and its copy
	}
	return 0
}

// stepSetting returns the setting that says how many examples are in a step, and that number.
func stepSetting(c *config.Config, p *train.Problem) (name string, examples int) {
	if c.Method == "prox-linear" && int(c.ModelBatch) > p.BatchSize() {
		return "model-batch", min(int(c.ModelBatch), p.Len())
	}
	return "batch", p.BatchSize()
}

// trainingBytes estimates the memory that the process needs to train on p, and the part of it for what the method remembers of examples.
func trainingBytes(c *config.Config, p *train.Problem) (all, remembered float64) {
	_, examples := stepSetting(c, p)
	weights := float64(p.Scorer.Dim())
	steps := p.StepBytes(examples) + 4*descentVectors(c)*weights
	remembered = rememberedBytes(oracleMethod(c), p.Objective)
	return tasks.TrainingBytes(weights, steps) + remembered, remembered
}

// rememberedBytes returns how much memory a method needs for what it remembers of the examples.
func rememberedBytes(method string, o *engine.Objective) float64 {
	return 4 * memories[method] * float64(engine.MemoryFloats(o))
}

// checkSteps refuses training on p if weights, method and steps do not fit into memory. It is called after reading the data.
func checkSteps(c *config.Config, p *train.Problem) error {
	all, remembered := trainingBytes(c, p)
	setting, examples := stepSetting(c, p)
	what := fmt.Sprintf("training %d weights with --%s %d", p.Scorer.Dim(), setting, examples)
	if err := host.CheckMemory(what, all); err != nil {
		if 2*remembered > all {
			return fmt.Errorf("%w; most of it is what --method %s remembers of every example. Use --method lbfgs or bcpfw, which remember little, "+
				"or train on a part of the data", err, c.Method)
		}
		return fmt.Errorf("%w; lower --%s, or train fewer weights", err, setting)
	}
	return nil
}
