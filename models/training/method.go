package training

import (
	"cmp"
	"fmt"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/oracles/kinds"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
	"github.com/dsp-go/dsp/train/methods/sdca"
)

// objective forms what is minimised, with λ = C/n.
func objective(c *config.Config, m *models.Model, data *structured.Dataset) (*engine.Objective, error) {
	if c.Constraints != "none" {
		if err := chains.CheckScheme(data, c.Constraints); err != nil {
			return nil, structured.BadInput("%w; convert the labels as they are read with --scheme %s, or leave out --constraints %s",
				err, c.Constraints, c.Constraints)
		}
	}
	loss, err := engine.ParseLoss(c.Loss)
	if err != nil {
		return nil, err
	}
	var task structured.TaskLoss // the structure's own
	if own := tasks.Of(c).Loss; own != nil {
		if task, err = own(c, m.Labels); err != nil {
			return nil, err
		}
	}
	if data, err = weighted(c, data, m.Labels); err != nil {
		return nil, err
	}
	o := &engine.Objective{
		Scorer: m.Net, Data: data, Loss: loss, Task: task,
		Lambda: float64(tasks.ChooseReg(c)) / float64(max(1, data.Len())), L1: c.L1 / float64(max(1, data.Len())),
		Center: m.Prior,
	}
	if m.Constraints != nil {
		o.Constraints = m.Constraints
	}
	return o, o.Check()
}

// weighted returns data with examples weighted by the classes of their labels, if c has class weights.
func weighted(c *config.Config, data *structured.Dataset, labels *structured.Alphabet) (*structured.Dataset, error) {
	if len(c.ClassWeights) == 0 {
		return data, nil
	}
	weights, err := tasks.NumberedWeights("class-weights", c.ClassWeights, labels)
	if err != nil {
		return nil, err
	}
	d := *data
	d.Weights = data.ClassWeights(weights)
	return &d, nil
}

// passes are the default numbers of passes.
var passes = map[string]int{"sgd": 20, "adam": 20, "prox-linear": 20, "lbfgs": 500, "owl-qn": 500}

const (
	convexPasses = 100
	convexGap    = 1e-3 // the default certified relative gap at which a convex method stops
)

// mostRemembered is how many bytes an automatically chosen method may keep about the examples. It is the same on every machine, so that
// the same method is chosen everywhere.
const mostRemembered = 2 << 30

// chooseMethod returns the name of the optimiser for o; why gives the reason of an automatic choice.
func chooseMethod(c *config.Config, o *engine.Objective) (name, why string) {
	if c.Method != "auto" {
		return c.Method, ""
	}
	name, why = methods.Auto(o, c.Net)
	if bytes := rememberedBytes(name, o); name == "sdca" && bytes > mostRemembered {
		return "lbfgs", fmt.Sprintf("it certifies how far the optimum is, as sdca does, which would keep %.1f GiB of numbers about the examples, with %d labels",
			bytes/(1<<30), o.Data.Alphabet.Len())
	}
	chosen := *c
	chosen.Method = name
	if kind, _, err := config.ParseDevice(c.Device); err == nil && kind == config.CUDA && checkAccelerated(&chosen) != nil {
		return methods.AutoAccelerated(o), "of the convex methods it is the one for this loss that a GPU can run"
	}
	return name, why
}

// chooseInner returns the method for the subproblems of prox-linear; auto where there are none.
func chooseInner(c *config.Config, loss engine.Loss) string {
	switch {
	case c.Method != "prox-linear" || c.OnBatches() || c.Inner != "auto":
		return c.Inner
	case loss == engine.Hinge:
		return "bcfw"
	}
	return "casimir"
}

// choosePasses returns how many passes a run has at most.
func choosePasses(c *config.Config) int { return cmp.Or(c.Passes, passes[c.Method], convexPasses) }

// chooseGap returns the relative gap at which a run stops, 0 for none.
func chooseGap(c *config.Config, method train.Method, o *engine.Objective) settings.Gap {
	switch {
	case c.Gap != settings.AutoGap:
		return c.Gap
	case method.Convex() && (o.Lambda > 0 || o.L1 > 0) && !o.Partial():
		return convexGap
	}
	return 0
}

// checkMethod refuses a method that needs more than the objective has.
func checkMethod(c *config.Config, method train.Method, o *engine.Objective) error {
	if method.Convex() {
		if err := train.CheckConvex(c.Method, o.Scorer); err != nil {
			return adviseMethod(c, err)
		}
	}
	if o.L1 > 0 && !o.Scorer.Affine() {
		return structured.BadInput("--l1 %v needs scores that are linear in the weights; net %q is not. Use --net linear, or leave out --l1", c.L1, c.Net)
	}
	if err := train.CheckL1(method, o); err != nil {
		return adviseMethod(c, err)
	}
	if method.Convex() && c.Method != "lbfgs" && c.Method != "owl-qn" {
		if err := train.CheckLabels(c.Method, o); err != nil {
			return adviseMethod(c, err)
		}
	}
	if _, sums := kinds.Of(o.Scorer.Form().Structure).Oracle().(oracles.Summer); !sums && c.Smoothing == "entropy" {
		return structured.BadInput("--smoothing entropy needs sums over all outputs, which the oracle of a %s does not compute; use --smoothing l2",
			o.Scorer.Form().Structure.Name())
	}
	if c.Gap > 0 && o.Partial() {
		return structured.BadInput("--gap %v needs a certificate, which partial labels do not allow; use --passes", c.Gap)
	}
	return nil
}

// chooseModelBatch returns the number of examples of prox-linear's models. Settings that only models of all examples have ask for
// these.
func chooseModelBatch(c *config.Config, o *engine.Objective) settings.ModelBatch {
	whole := c.Batch > 0 || c.InnerPasses > 0 || c.InnerGap > 0 || c.WarmUp != 0 || c.ConstantMu || c.Inner != "auto" || o.Center != nil
	switch {
	case c.Method != "prox-linear" || c.ModelBatch != 0:
		return c.ModelBatch
	case whole && c.Finish == 0 || o.Scorer.Affine():
		return settings.AllExamples
	}
	return batchedExamples
}

// chooseSchedule returns the schedule of the step size.
func chooseSchedule(c *config.Config) string {
	switch {
	case c.Schedule != "auto" || c.Method != "sgd" && c.Method != "adam":
		return c.Schedule
	case c.Method == "adam" || c.Momentum > 0:
		return "cosine"
	}
	return "sqrt"
}

// batchedExamples is the default number of examples of a step of the methods for networks.
const batchedExamples = 8

// defaultBatch is the default number of examples per step, 0 for the method's own. With many weights a step takes more
// examples, because updating the weights dominates its cost.
func defaultBatch(c *config.Config, weights int) int {
	const many = 1 << 17
	switch {
	case c.Method == "prox-linear" && c.ModelBatch > 0:
		return 0
	case c.Method == "adam" || c.Method == "sgd" && c.Momentum > 0:
		return batchedExamples
	case (c.Method == "prox-linear" || c.Method == "sgd") && weights > many:
		return 4
	}
	return 0
}

// chooseSmoothing returns the name of how the hinge's max is smoothed, for the method that calls the oracle; auto where nothing is.
func chooseSmoothing(c *config.Config, o *engine.Objective) string {
	method, oracle := oracleMethod(c), kinds.Of(o.Scorer.Form().Structure).Oracle()
	_, ranks := oracle.(oracles.Ranker)
	_, sums := oracle.(oracles.Summer)
	switch {
	case c.Smoothing != "auto" || o.Loss.Smooth() || method == "bcfw" || method == "bcpfw" || method == "adam" || method == "sgd" && c.Mu == 0:
		return c.Smoothing
	case c.Gives("k"):
		return "l2"
	case !sums && ranks:
		return "l2"
	case !sums:
		return "none"
	}
	return "entropy"
}

// smoothing returns how the hinge's max is smoothed.
func smoothing(c *config.Config) (oracles.Smoothing, error) {
	if c.Smoothing == "auto" {
		return oracles.Smoothing{}, nil
	}
	kind, err := oracles.ParseKind(c.Smoothing)
	if err != nil {
		return oracles.Smoothing{}, err
	}
	if kind != oracles.None && oracleMethod(c) == "sgd" && c.Mu == 0 {
		return oracles.Smoothing{}, structured.BadInput("--smoothing %s with --method %s needs to know how much: give --mu", c.Smoothing, c.Method)
	}
	return oracles.Smoothing{Kind: kind, Mu: c.Mu, K: int(c.K)}, nil
}

// oracleMethod is the method that calls the oracle: the inner one of prox-linear.
func oracleMethod(c *config.Config) string {
	switch {
	case c.OnBatches():
		return "sgd" // which takes subgradients, too
	case c.Method == "prox-linear":
		return c.Inner
	}
	return c.Method
}

// pace is the step length.
func pace(c *config.Config) methods.Pace {
	return methods.Pace{Step: c.LR, Lipschitz: c.Lipschitz, FromCenter: c.Init != "" && c.Method != "prox-linear"}
}

// newMethod makes the optimiser of that name with the parameters that c gives it.
func newMethod(c *config.Config, name string) (train.Method, error) {
	switch name {
	case "sgd", "adam":
		schedule, err := methods.ParseSchedule(c.Schedule)
		if err != nil {
			return nil, err
		}
		average, err := methods.ParseAveraging(c.Average)
		if err != nil {
			return nil, err
		}
		span := methods.Span{Passes: c.Passes, WarmUp: c.WarmUp}
		if name == "adam" {
			return &methods.Adam{Rate: c.LR, Schedule: schedule, Halving: c.Halving, Span: span, Averaging: average, Clip: c.Clip}, nil
		}
		return &methods.SGD{
			Rate: c.LR, Schedule: schedule, Halving: c.Halving, Span: span, Averaging: average,
			Momentum: c.Momentum, Nesterov: c.Nesterov, Clip: c.Clip,
		}, nil
	case "bcpfw":
		return &methods.BCPFW{Warm: c.Init != ""}, nil
	case "bcfw":
		average, err := methods.ParseAveraging(c.Average)
		return &methods.BCFW{Averaging: average, Warm: c.Init != "" && c.Method == name}, err
	case "svrg":
		return &methods.SVRG{Pace: pace(c)}, nil
	case "saga":
		return &methods.SAGA{Pace: pace(c)}, nil
	case "sdca":
		if c.Parallel == "async" && c.Batch > 0 {
			return nil, structured.BadInput("--batch %d: with --parallel async a thread takes one example at a time", c.Batch)
		}
		return &sdca.SDCA{Async: c.Parallel == "async", Warm: c.Init != ""}, nil
	case "lbfgs":
		return &quasinewton.LBFGS{}, nil
	case "owl-qn":
		return &quasinewton.OWLQN{}, nil
	case "casimir", "casimir-adapt":
		start, err := methods.ParseWarmStart(c.WarmStart)
		return &methods.Casimir{
			Pace: pace(c), Adaptive: name == "casimir-adapt", Kappa: c.Kappa, WarmStart: start, ByNorm: c.InnerStop == "norm",
		}, err
	case "prox-linear":
		var inner func(int) train.Method
		if !c.OnBatches() {
			if _, err := newMethod(c, c.Inner); err != nil {
				return nil, err
			}
			inner = func(int) train.Method {
				m, _ := newMethod(c, c.Inner)
				return m
			}
		}
		return &methods.ProxLinear{
			ModelBatch: max(0, int(c.ModelBatch)), Passes: c.Passes, Finish: c.Finish, InnerSteps: c.InnerSteps,
			Inner: inner, InnerPasses: c.InnerPasses, Tolerance: c.InnerGap, Eta: c.Eta, WarmUp: int(c.WarmUp), ConstantMu: c.ConstantMu,
		}, nil
	}
	return nil, structured.BadInput("--method %s is not known", name)
}
