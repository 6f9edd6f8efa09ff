package training

import (
	"cmp"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/sdca"
)

// objective forms what is minimised, with λ = C/n.
func objective(c *models.Config, m *models.Model, data *structured.Dataset) (*engine.Objective, error) {
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
	if c.Task != "parse" {
		if task, err = taskLoss(c, m.Labels); err != nil {
			return nil, err
		}
	}
	if data, err = weighted(c, data, m.Labels); err != nil {
		return nil, err
	}
	o := &engine.Objective{
		Scorer: scorer(m.Net), Data: data, Loss: loss, Task: task,
		Lambda: c.Reg / float64(max(1, data.Len())),
	}
	if m.Constraints != nil {
		o.Constraints = m.Constraints
	}
	return o, o.Check()
}

// weighted returns data with examples weighted by the classes of their labels, if c has class weights.
func weighted(c *models.Config, data *structured.Dataset, labels *structured.Alphabet) (*structured.Dataset, error) {
	if len(c.ClassWeights) == 0 {
		return data, nil
	}
	weights, err := numberedWeights("class-weights", c.ClassWeights, labels)
	if err != nil {
		return nil, err
	}
	d := *data
	d.Weights = data.ClassWeights(weights)
	return &d, nil
}

// taskLoss returns the Hamming loss with c's label weights.
func taskLoss(c *models.Config, labels *structured.Alphabet) (chains.Hamming, error) {
	h := chains.Hamming{ByLength: c.LossByLength}
	if len(c.LabelWeights) == 0 {
		return h, nil
	}
	costs, err := numberedWeights("label-weights", c.LabelWeights, labels)
	for _, cost := range costs {
		h.LabelWeights = append(h.LabelWeights, float32(cost))
	}
	return h, err
}

// numberedWeights returns the weight of every label, 1 by default; setting names the flag in messages.
func numberedWeights(setting string, weights settings.LabelWeights, labels *structured.Alphabet) ([]float64, error) {
	w := make([]float64, labels.Len())
	for l := range w {
		w[l] = 1
	}
	for name, x := range weights {
		if err := settings.OneOf("--"+setting+": label", name, labels.Names()); err != nil {
			return nil, err
		}
		if !(x >= 0) || x > 1e9 {
			return nil, structured.BadInput("--%s %s=%v: expected a number of at least 0", setting, name, x)
		}
		w[labels.Index(name)] = x
	}
	return w, nil
}

// passes are the default numbers of passes.
var passes = map[string]int{"sgd": 20, "adam": 20, "prox-linear": 20, "lbfgs": 500}

const (
	convexPasses = 100
	convexGap    = 1e-3 // the default certified relative gap at which a convex method stops
)

// chooseMethod makes the optimiser for p and resolves the settings that c left open; why gives the reason of an automatic choice.
func chooseMethod(c *models.Config, p *train.Problem) (method train.Method, why string, err error) {
	if c.Method == "auto" {
		c.Method, why = methods.Auto(p.Objective, c.Net)
		if kind, _, err := models.ParseDevice(c.Device); err == nil && kind == models.CUDA && checkAccelerated(c) != nil {
			c.Method, why = methods.AutoAccelerated(p.Objective), "of the convex methods it is the one for this loss that a GPU can run"
		}
	}
	if c.Method == "prox-linear" && c.Inner == "auto" {
		c.Inner = "casimir"
		if p.Loss == engine.Hinge {
			c.Inner = "bcfw"
		}
	}
	if c.Method == "prox-linear" && c.ModelBatch == 0 {
		c.ModelBatch = modelBatch(c, p)
	}
	if c.Schedule == "auto" && (c.Method == "sgd" || c.Method == "adam") {
		c.Schedule = "sqrt"
		if c.Method == "adam" || c.Momentum > 0 {
			c.Schedule = "cosine"
		}
	}
	if c.Passes == 0 {
		c.Passes = cmp.Or(passes[c.Method], convexPasses)
	}
	if p.Smoothing, err = smoothing(c, p.Loss); err != nil {
		return nil, "", err
	}
	if err := Validate(c); err != nil { // the methods are now known
		return nil, "", err
	}
	if method, err = newMethod(c, c.Method); err != nil {
		return nil, "", err
	}
	if method.Convex() {
		if err := train.CheckConvex(c.Method, p.Scorer); err != nil {
			return nil, "", adviseMethod(c, err)
		}
	}
	if method.Convex() && c.Method != "lbfgs" {
		if err := train.CheckLabels(c.Method, p.Objective); err != nil {
			return nil, "", adviseMethod(c, err)
		}
	}
	if c.Gap > 0 && p.Partial() {
		return nil, "", structured.BadInput("--gap %v needs a certificate, which partial labels do not allow; use --passes", c.Gap)
	}
	if c.Gap == settings.AutoGap {
		c.Gap = 0
		if method.Convex() && p.Lambda > 0 && !p.Partial() {
			c.Gap = convexGap
		}
	}
	return method, why, nil
}

// modelBatch is the default number of examples of prox-linear's models. Settings that only models of all examples have ask for these.
func modelBatch(c *models.Config, p *train.Problem) settings.ModelBatch {
	whole := c.Batch > 0 || c.InnerPasses > 0 || c.InnerGap > 0 || c.WarmUp != 0 || c.ConstantMu || c.Inner != models.Default().Inner
	if (whole && c.Finish == 0) || p.Scorer.Affine() {
		return settings.AllExamples
	}
	return batchedExamples
}

// batchedExamples is the default number of examples of a step of the methods for networks.
const batchedExamples = 8

// defaultBatch is the default number of examples per step, 0 for the method's own. With many weights a step takes more
// examples, because updating the weights dominates its cost.
func defaultBatch(c *models.Config, weights int) int {
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

// smoothing resolves how the hinge's max is smoothed, for the method that calls the oracle.
func smoothing(c *models.Config, loss engine.Loss) (oracles.Smoothing, error) {
	method := oracleMethod(c)
	if c.Smoothing == "auto" {
		switch {
		case loss.Smooth() || method == "bcfw" || method == "bcpfw" || method == "sgd" && c.Mu == 0:
			return oracles.Smoothing{}, nil
		case c.K != models.Default().K:
			c.Smoothing = "l2"
		default:
			c.Smoothing = "entropy"
		}
	}
	kind, err := oracles.ParseKind(c.Smoothing)
	if err != nil {
		return oracles.Smoothing{}, err
	}
	if kind != oracles.None && method == "sgd" && c.Mu == 0 {
		return oracles.Smoothing{}, structured.BadInput("--smoothing %s with --method sgd needs to know how much: give --mu", c.Smoothing)
	}
	return oracles.Smoothing{Kind: kind, Mu: c.Mu, K: int(c.K)}, nil
}

// oracleMethod is the method that calls the oracle: the inner one of prox-linear.
func oracleMethod(c *models.Config) string {
	if c.Method == "prox-linear" && c.ModelBatch > 0 && c.Finish == 0 {
		return "sgd" // which takes subgradients, too
	}
	if c.Method == "prox-linear" {
		return c.Inner
	}
	return c.Method
}

// pace is the step length.
func pace(c *models.Config) methods.Pace {
	return methods.Pace{Step: c.LR, Lipschitz: c.Lipschitz}
}

// newMethod makes the optimiser of that name with the parameters that c gives it.
func newMethod(c *models.Config, name string) (train.Method, error) {
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
		return &methods.BCPFW{}, nil
	case "bcfw":
		average, err := methods.ParseAveraging(c.Average)
		return &methods.BCFW{Averaging: average}, err
	case "svrg":
		return &methods.SVRG{Pace: pace(c)}, nil
	case "saga":
		return &methods.SAGA{Pace: pace(c)}, nil
	case "sdca":
		if c.Parallel == "async" && c.Batch > 0 {
			return nil, structured.BadInput("--batch %d: with --parallel async a thread takes one example at a time", c.Batch)
		}
		return &sdca.SDCA{Async: c.Parallel == "async"}, nil
	case "lbfgs":
		return &methods.LBFGS{}, nil
	case "casimir", "casimir-adapt":
		start, err := methods.ParseWarmStart(c.WarmStart)
		return &methods.Casimir{
			Pace: pace(c), Adaptive: name == "casimir-adapt", Kappa: c.Kappa, WarmStart: start, ByNorm: c.InnerStop == "norm",
		}, err
	case "prox-linear":
		if _, err := newMethod(c, c.Inner); err != nil {
			return nil, err
		}
		inner := func(int) train.Method {
			m, _ := newMethod(c, c.Inner)
			return m
		}
		return &methods.ProxLinear{
			ModelBatch: max(0, int(c.ModelBatch)), Passes: c.Passes, Finish: c.Finish,
			Inner: inner, InnerPasses: c.InnerPasses, Tolerance: c.InnerGap, Eta: c.Eta, WarmUp: int(c.WarmUp), ConstantMu: c.ConstantMu,
		}, nil
	}
	return nil, structured.BadInput("--method %s is not known", name)
}
