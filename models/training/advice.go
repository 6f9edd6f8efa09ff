package training

import (
	"errors"
	"fmt"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// advise adds to the error that ended a run which settings to change, if that is known.
func (r *Run) advise(err error) error {
	var small *device.OutOfMemoryError
	var diverged *train.DivergedError
	var unsupported *device.UnsupportedError
	switch {
	case errors.As(err, &small):
		if setting, value, n := stepSetting(&r.config, r.problem); n > 1 {
			return fmt.Errorf("%w; lower --%s (now %d), or use --device cpu", err, setting, value)
		}
		return fmt.Errorf("%w; use --device cpu", err)
	case errors.As(err, &unsupported):
		return fmt.Errorf("%w; use --device cpu", err)
	case errors.As(err, &diverged):
		if odd, found := oddFeatures(r.data.Train); found {
			return fmt.Errorf("%w. %v", err, odd) // shorter steps would help no further than the next pass
		}
		return fmt.Errorf("%w. %s", err, adviseStep(&r.config, diverged.Step))
	case train.Resumable(err):
		return fmt.Errorf("%w, --resume continues", err)
	}
	return adviseMethod(&r.config, err)
}

// adviseStep returns a sentence that says how to take shorter steps. step is the current step size, 0 if unknown.
func adviseStep(c *config.Config, step float64) string {
	d, _ := c.Optimiser()
	switch {
	case c.Schedule == "pegasos":
		return "Use another --schedule, or raise --reg"
	case d.StepSetting == "":
		return "Check the scale of the features, or raise --reg"
	case c.TuneEncoder && c.LREncoder > 0 && step > 0: // a step that is too long for the encoder may be short for the rest
		return fmt.Sprintf("Lower --lr-encoder (now %.3g) or --%s (now %.3g)", step*c.LREncoder/c.FirstStep(), d.StepSetting, step)
	case step > 0:
		return fmt.Sprintf("Lower --%s (now %.3g)", d.StepSetting, step)
	}
	return "Lower --" + d.StepSetting
}

// forQuadratic says what takes the quadratic loss with default settings.
const forQuadratic = "; use --method lbfgs, sdca, sgd or adam, or another --loss"

// adviseMethod adds to a refusal by a method which settings would work.
func adviseMethod(c *config.Config, err error) error {
	var refused *train.RequirementError
	if !errors.As(err, &refused) {
		return err
	}
	method, advice := refused.Method, ""
	switch refused.Needs {
	case train.AffineScores:
		inner := ""
		if d, ok := optimisers.Find(method); ok && d.Inner != "" {
			inner = " --inner " + d.Inner
		}
		return structured.BadInput("--method %s needs scores that are linear in the weights; net %q is not. "+
			"Use --method prox-linear%s, or --net linear", method, c.Net, inner)
	case train.KnownLabels:
		advice = ". Use --method lbfgs, sgd or prox-linear"
		if c.L1 > 0 {
			advice = ". Use --method owl-qn"
		}
		if c.InnerSteps > 1 {
			advice = "; leave out --inner-steps"
		}
	case train.HingeLoss:
		advice = "; use --loss hinge, or --method svrg, sdca or casimir"
		if c.Loss == engine.Quadratic.String() {
			advice = forQuadratic
		}
	case train.SmoothLoss:
		advice = "; use --loss crf or softmax-margin, or --method bcfw, bcpfw or casimir"
	case train.SmoothedMax:
		advice = "; use --smoothing entropy or l2, or --method bcfw"
	case train.SmoothObjective:
		advice = "; smooth it with --mu, or use --loss crf or softmax-margin"
	case train.Regulariser:
		advice = "; give --reg above 0"
	case train.Linearisation:
		advice = "; use --method sgd"
	case train.HostPotentials:
		advice = ": use --device cpu, or --method bcfw, casimir or svrg"
		if c.L1 > 0 {
			advice = ": use --device cpu, or --method owl-qn"
		}
		if c.InnerSteps > 1 {
			advice = ": use --device cpu, or leave out --inner-steps"
		}
	case train.Countable:
		advice = ". Use --method sdca or lbfgs"
	case train.RunLength:
		advice = "; give --passes"
	case train.NoL1:
		return adviseL1(c, refused)
	case train.NoBounds:
		advice = optimisers.Help("; --bounds is for {bounds}")
	case train.NoBall:
		advice = optimisers.Help("; --radius is for {radius}")
	case train.Ball:
		advice = "; give --radius"
	case train.PlainMax:
		advice = "; leave out --mu, or --inner-steps"
	case train.OtherSchedule:
		advice = "; use --schedule cosine, sqrt or constant"
	case train.OriginCenter:
		advice = "; use --method sgd without --momentum, a convex method, or --method prox-linear --model-batch all"
	case train.OtherLoss:
		advice = forQuadratic
	case train.Sums:
		advice = "; use --method bcfw or bcpfw"
	case train.SparseScores:
		advice = "; this net has --parallel deterministic"
	}
	return structured.BadInput("--method %w%s", refused, advice)
}

// adviseL1 adds to the refusal of --l1 by a method which methods take it.
func adviseL1(c *config.Config, refused *train.RequirementError) error {
	if refused.Method == optimisers.ProxLinear.Name {
		return structured.BadInput("--l1 %v: --method %w. Leave these out, or --l1", c.L1, refused)
	}
	if d, ok := optimisers.Find(refused.Method); ok && d.TakesRadius() {
		return structured.BadInput("--l1 %v: --method %w. Keep ‖w‖₁ small by --radius instead, or use --method bcpfw or bcfw; or leave out --l1", c.L1, refused)
	}
	if c.Loss == "hinge" {
		return structured.BadInput("--l1 %v: --method %w. Use --method bcpfw or bcfw; or owl-qn with --smoothing entropy and --mu; or leave out --l1", c.L1, refused)
	}
	return structured.BadInput("--l1 %v: --method %w. Use --method sdca or owl-qn, or leave out --l1", c.L1, refused)
}

// Validate is tasks.Validate that refuses, too, a method that cannot run on the device that c names.
func Validate(c *config.Config) error {
	if err := tasks.Validate(*c); err != nil {
		return err
	}
	return checkNamedDevice(c)
}

// checkNamedDevice refuses a method that cannot run on the device that c names.
func checkNamedDevice(c *config.Config) error {
	if kind, _, err := config.ParseDevice(c.Device); err != nil || kind != config.CUDA {
		return err
	}
	return checkAccelerated(c)
}

// checkAccelerated refuses a method that cannot run on a device.
func checkAccelerated(c *config.Config) error {
	d, ok := c.Optimiser()
	if !ok {
		return nil // refused elsewhere, or not chosen yet
	}
	return adviseMethod(c, d.CheckDevice(c.Run(), c.L1))
}
