package optimisers

import (
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// Settings are those of all built-in methods. Each group is a struct of settings that some methods share; the struct of a method's
// settings (Descriptor.Settings) is made of the groups that the method takes. The order of the groups is that of flags and files.
type Settings struct {
	Choice
	StepSize
	Scheduling
	Averaging
	HeavyBall
	Clipping
	Curvature
	Acceleration
	Models
	Subproblems
	Warming
	Tolerances
	Batching
	Threading
	Extras
}

// Choice says which method minimises the objective, and for how long. Every method has these settings.
type Choice struct {
	Method   string       `yaml:"method" json:"method" group:"Method" help:"optimiser; auto chooses one for the problem and logs why (dsp info --methods says what each can do); bcpfw visits the examples whose gap was at least the mean at their last visit, and every example at least once in eleven rounds, instead of sampling in proportion to the gaps"`
	Passes   int          `yaml:"passes" json:"passes" group:"Method" min:"0" help:"passes over the training data, n oracle calls each; 0: {passes}"`
	Gap      settings.Gap `yaml:"gap" json:"gap" group:"Method" unit:"X|auto" help:"stop once the certified relative gap, (objective − dual)/|objective|, is at most X; 0 runs all passes; auto: 0.001 if the method certifies a gap"`
	Patience int          `yaml:"patience" json:"patience" group:"Method" min:"0" help:"stop after N passes without a better result on the development data; 0 runs all passes"`
}

// StepSize is for methods with a step size.
type StepSize struct {
	LR float64 `yaml:"lr" json:"lr" group:"Method" min:"0" only:"method" help:"step size, or γ0 of the schedule of sgd and adam; 0 searches for one (adam: 0.001)"`
}

// Scheduling is for methods whose step size falls by a schedule (methods.ParseSchedule).
type Scheduling struct {
	Schedule string  `yaml:"schedule" json:"schedule" group:"Method" values:"auto|sqrt|constant|inverse|stairs|pegasos|cosine|geometric|linear" only:"method" help:"how the step size depends on the number t of completed steps: sqrt γ0/√(1+t/t0), constant γ0, inverse γ0/(1+t/t0), stairs γ0/(1+⌊t/t0⌋), pegasos 1/(λ(t+1)), cosine, geometric and linear from γ0 down to 0, γ0/100 and 0 at the end of the run; auto: sqrt for sgd, cosine for adam and with momentum"`
	Halving  float64 `yaml:"halving" json:"halving" group:"Method" min:"0" only:"method schedule=sqrt,inverse,stairs" unit:"STEPS" help:"t0 of the schedule, in steps; 0: the number of steps in a pass"`
}

// Averaging is for methods that may return an average of their iterates (methods.ParseAveraging).
type Averaging struct {
	Average string `yaml:"average" json:"average" group:"Method" values:"auto|none|uniform|weighted|pass|ema" only:"method" help:"which average of the iterates to return: none (the last iterate), uniform, weighted (iterate t has weight t), pass (uniform over the last pass), ema (exponential, by 0.999 per step); auto: chosen by the method"`
}

// HeavyBall is for methods with momentum.
type HeavyBall struct {
	Momentum float64 `yaml:"momentum" json:"momentum" group:"Method" min:"0" only:"method" help:"μ: steps add up gradients, each with μ times the weight of the next; 0.9 is usual"`
	Nesterov bool    `yaml:"nesterov" json:"nesterov" group:"Method" only:"method" help:"momentum as by Nesterov, which looks one step ahead"`
}

// Clipping is for methods that may shorten gradients.
type Clipping struct {
	Clip float64 `yaml:"clip" json:"clip" group:"Method" min:"0" only:"method" unit:"NORM" help:"scale gradients of batches that are longer down to this norm; 0: leave them alone"`
}

// Curvature is for methods whose step size follows from the curvature of the smoothed loss (methods.Pace).
type Curvature struct {
	Lipschitz float64 `yaml:"lipschitz" json:"lipschitz" group:"Method" min:"0" only:"method" help:"Lipschitz constant L of the smoothed loss's gradient; the step size is 1/(L+λ+κ); 0 estimates L"`
}

// Acceleration is for Casimir.
type Acceleration struct {
	Kappa     float64 `yaml:"kappa" json:"kappa" group:"Method" min:"0" only:"method" help:"weight κ of the proximal term that Casimir adds; 0 computes it from L, n and λ"`
	WarmStart string  `yaml:"warm-start" json:"warm-start" group:"Method" values:"prox-center|extrapolation|prev-iterate" only:"method" help:"where Casimir starts an inner problem"`
	InnerStop string  `yaml:"inner-stop" json:"inner-stop" group:"Method" values:"budget|norm" only:"method" help:"when Casimir stops an inner problem: after n steps (budget), or once its gradient norm is small (norm)"`
}

// Models is for prox-linear: what its models hold, and how far a step goes.
type Models struct {
	ModelBatch settings.ModelBatch `yaml:"model-batch" json:"model-batch" group:"Method" unit:"N|all|auto" only:"method" help:"examples of a model of prox-linear: with N, each step solves the model of a batch exactly, at the cost of a step of sgd; with all, each outer iteration solves the model of the whole objective by inner; auto: 8 for a network, all for a linear net and where settings of models of all examples are given"`
	InnerSteps int                 `yaml:"inner-steps" json:"inner-steps" group:"Method" min:"0" only:"method" help:"steps of prox-linear on the model of a batch (model-batch N): 1 solves it exactly along one direction; more go on from there with block-coordinate Frank-Wolfe on the examples of the batch, each for the cost of a step on one example; 0: 1"`
	Finish     int                 `yaml:"finish" json:"finish" group:"Method" min:"0" only:"method" help:"of the passes, how many at the end use models of all examples: for a lower objective, and a bound on how stationary it is; patience may end the run before them"`
	Eta        float64             `yaml:"eta" json:"eta" group:"Method" min:"0" only:"method" help:"step length η of prox-linear; with model-batch N it falls to a hundredth over the run (0: from 0.1); with all it stays fixed (0: it starts with about the distance of one sgd pass and adapts)"`
}

// Subproblems is for prox-linear: how models of all examples are solved.
type Subproblems struct {
	Inner       string `yaml:"inner" json:"inner" group:"Method" only:"method" help:"method for the convex subproblems of prox-linear with model-batch all, or of its finish; settings of that method apply to the subproblems; auto: bcfw for the hinge, casimir for smooth losses"`
	InnerPasses int    `yaml:"inner-passes" json:"inner-passes" group:"Method" min:"0" only:"method" help:"maximum number of passes per subproblem of prox-linear; 0: 1, or up to 5 until a better point is found"`
}

// Warming is for methods whose first passes prepare the rest.
type Warming struct {
	WarmUp float64 `yaml:"warm-up" json:"warm-up" group:"Method" min:"-1" unit:"PASSES" only:"method" help:"passes at the beginning that prepare the rest: for sgd and adam the step size rises linearly from 0 (0: at once); for prox-linear with model-batch all they are passes of sgd, because linearising a random network is of little use (0: 2, or none if eta is given; -1: none)"`
}

// Tolerances is for prox-linear: how exactly models of all examples are solved.
type Tolerances struct {
	InnerGap   float64 `yaml:"inner-gap" json:"inner-gap" group:"Method" min:"0" only:"method" help:"ε_0: prox-linear's k-th subproblem stops once its certified gap is at most ε_0/k; 0: once it is at most 0.3 of the predicted decrease"`
	ConstantMu bool    `yaml:"constant-mu" json:"constant-mu" group:"Method" only:"method" help:"smooth every subproblem of prox-linear with mu, instead of the k-th with mu/k"`
}

// Batching is for methods whose steps are on batches.
type Batching struct {
	Batch int `yaml:"batch" json:"batch" group:"Method" min:"0" only:"method" help:"examples per step (of prox-linear: of its inner method; see model-batch); 0: 8 for adam and with momentum, 4 for svrg, saga, casimir and sdca, and for prox-linear and sgd with many weights, else 1; on a GPU, up to 1/64 of the examples"`
}

// Threading is for methods whose threads need not wait for each other.
type Threading struct {
	Parallel string `yaml:"parallel" json:"parallel" group:"Method" values:"deterministic|async" only:"method net=linear" help:"how threads share work: deterministic gives the same model for a seed, bit for bit, with any number of threads; async runs the threads of sdca without waiting for each other, on attributes only: results vary from run to run, within the certified gap, which stays valid"`
}

// Extras is for registered methods with settings of their own (Register). A program without such methods does not show it.
type Extras struct {
	Extra settings.Texts `yaml:"method-settings" json:"method_settings,omitempty" group:"Method" only:"method" help:"settings of the method that only this program has; dsp info --methods lists them"`
}

// Default returns the settings of a run without flags.
func Default() Settings {
	return Settings{
		Choice:       Choice{Method: "auto", Gap: settings.AutoGap},
		Scheduling:   Scheduling{Schedule: "auto"},
		Averaging:    Averaging{Average: "auto"},
		Acceleration: Acceleration{WarmStart: "prox-center", InnerStop: "budget"},
		Subproblems:  Subproblems{Inner: "auto"},
		Threading:    Threading{Parallel: "deterministic"},
	}
}

// Check refuses, as bad input, settings that have no effect with others of their groups.
func (s *Settings) Check() error {
	switch {
	case s.LR > 0 && s.Lipschitz > 0:
		return structured.BadInput("--lr %v and --lipschitz %v both say how long a step is; give one", s.LR, s.Lipschitz)
	case s.LR > 0 && s.Schedule == "pegasos":
		return structured.BadInput("--lr %v has no effect with --schedule pegasos, whose step size is 1/(λ(t+1))", s.LR)
	case s.WarmUp > 0 && s.Schedule == "pegasos":
		return structured.BadInput("--warm-up %v has no effect with --schedule pegasos, whose step size is 1/(λ(t+1))", s.WarmUp)
	case s.WarmUp < 0 && s.WarmUp != -1:
		return structured.BadInput("--warm-up %v: expected a number of passes, or -1 for none", s.WarmUp)
	case s.Momentum >= 1:
		return structured.BadInput("--momentum %v: expected a number below 1", s.Momentum)
	case s.Nesterov && s.Momentum == 0:
		return structured.BadInput("--nesterov has no effect without --momentum")
	}
	return nil
}
