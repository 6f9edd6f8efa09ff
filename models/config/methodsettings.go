package config

import (
	"math"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// CheckMethod refuses, as bad input, settings of the method that are out of range or have no effect with others.
func (c *Config) CheckMethod() error {
	switch {
	case c.Gap > 0 && (c.Method == "sgd" || c.Method == "adam" || c.Method == "prox-linear"):
		return structured.BadInput("--gap %v needs a certificate, which --method %s does not give; use a convex method on --net linear, or --passes",
			c.Gap, c.Method)
	case c.LR > 0 && c.Lipschitz > 0:
		return structured.BadInput("--lr %v and --lipschitz %v both say how long a step is; give one", c.LR, c.Lipschitz)
	case c.LR > 0 && c.Schedule == "pegasos":
		return structured.BadInput("--lr %v has no effect with --schedule pegasos, whose step size is 1/(λ(t+1))", c.LR)
	case c.WarmUp > 0 && c.Schedule == "pegasos":
		return structured.BadInput("--warm-up %v has no effect with --schedule pegasos, whose step size is 1/(λ(t+1))", c.WarmUp)
	case c.WarmUp < 0 && c.WarmUp != -1:
		return structured.BadInput("--warm-up %v: expected a number of passes, or -1 for none", c.WarmUp)
	case c.WarmUp < 0 && (c.Method == "sgd" || c.Method == "adam"):
		return structured.BadInput("--warm-up %v is for --method prox-linear; %s begins at its full step size with 0", c.WarmUp, c.Method)
	case c.Momentum >= 1:
		return structured.BadInput("--momentum %v: expected a number below 1", c.Momentum)
	case c.Nesterov && c.Momentum == 0:
		return structured.BadInput("--nesterov has no effect without --momentum")
	case c.Average == "ema" && (c.Method == "bcfw" || c.Method == "prox-linear"):
		return structured.BadInput("--average ema is for --method sgd and adam; bcfw has weighted, uniform, pass and none")
	case c.Method == "prox-linear":
		return c.checkProxLinear()
	}
	return nil
}

// checkProxLinear is CheckMethod for prox-linear.
func (c *Config) checkProxLinear() error {
	switch all := c.ModelBatch == settings.AllExamples; {
	case c.WarmUp != math.Trunc(c.WarmUp):
		return structured.BadInput("--warm-up %v: prox-linear warms up by whole passes of sgd", c.WarmUp)
	case all && c.Dropout > 0:
		return structured.BadInput("--dropout %v: models of all examples have no dropout; use --model-batch N, or --method sgd or adam", c.Dropout)
	case all && c.InnerSteps > 0:
		return structured.BadInput("--inner-steps %d is for models of batches; with --model-batch all, --inner-passes says how much work a model gets", c.InnerSteps)
	case all && c.Finish > 0:
		return structured.BadInput("--finish %d has no effect with --model-batch all, whose passes all use models of all examples", c.Finish)
	case c.Passes > 0 && c.Finish >= c.Passes:
		return structured.BadInput("--finish %d: expected fewer than --passes %d; --model-batch all is for models of all examples from the start", c.Finish, c.Passes)
	case c.ModelBatch > 0 && c.WarmUp != 0:
		return structured.BadInput("--warm-up %v is for --model-batch all; models of batches need no passes of sgd before them", c.WarmUp)
	case c.OnBatches() && c.Batch > 0:
		return structured.BadInput("--batch %d is for the inner method of prox-linear with --model-batch all; with --model-batch %v a step takes %v examples",
			c.Batch, c.ModelBatch, c.ModelBatch)
	case c.OnBatches() && c.Inner != "auto":
		return c.needsWhole("inner", c.Inner)
	case c.OnBatches() && c.InnerPasses > 0:
		return c.needsWhole("inner-passes", c.InnerPasses)
	case c.OnBatches() && c.InnerGap > 0:
		return c.needsWhole("inner-gap", c.InnerGap)
	case c.OnBatches() && c.ConstantMu:
		return c.needsWhole("constant-mu", c.ConstantMu)
	}
	return nil
}

// OnBatches reports whether prox-linear is the method and all its models are those of batches. Then it has no inner method.
func (c *Config) OnBatches() bool {
	return c.Method == "prox-linear" && c.ModelBatch > 0 && c.Finish == 0
}

// needsWhole refuses a setting of models of all examples.
func (c *Config) needsWhole(name string, value any) error {
	return structured.BadInput("--%s %v has no effect with --model-batch %v; it is for models of all examples (--model-batch all, or --finish N)",
		name, value, c.ModelBatch)
}
