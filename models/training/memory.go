package training

import (
	"fmt"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// memories is how many numbers a method keeps per potential of the examples, including the copy in a checkpoint.
var memories = map[string]float64{"sdca": 4, "bcfw": 2, "saga": 2, "svrg": 1, "casimir": 1, "casimir-adapt": 1}

// checkSteps refuses training on p if weights, method and steps do not fit into memory. It is called after reading the data.
func checkSteps(c *models.Config, p *train.Problem) error {
	weights, remembered := p.Scorer.Dim(), 4*memories[oracleMethod(c)]*float64(engine.MemoryFloats(p.Objective))
	rest := models.TrainingBytes(float64(weights), p.StepBytes(p.BatchSize()))
	what := fmt.Sprintf("training %d weights with --batch %d", weights, p.BatchSize())
	if err := host.CheckMemory(what, rest+remembered); err != nil {
		if remembered > rest {
			return structured.BadInput("%w; most of it is what --method %s remembers of every example. Use --method lbfgs or bcpfw, which remember little, "+
				"or train on a part of the data", err, c.Method)
		}
		return structured.BadInput("%w; lower --batch, or train fewer weights", err)
	}
	return nil
}
