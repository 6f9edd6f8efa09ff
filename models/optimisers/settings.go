package optimisers

import (
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// Settings are those of all built-in methods. Each group is a struct of settings that some methods share; the struct of
// a method's settings (Descriptor.Settings) is made of the groups that the method takes. The order of the groups is
// that of flags and files.
type Settings struct {
	Choice
	StepSize
	Layering
	Scheduling
	Averaging
	HeavyBall
	Clipping
	Curvature
	Preconditioning
	Acceleration
	Models
	Subproblems
	Warming
	Tolerances
	Batching
	Filling
	Averages
	Stepping
	Cutting
	Visiting
	Estimating
	Threading
	Extras
}

// Choice says which method minimises the objective, and for how long. Every method has these settings.
type Choice struct {
	Method   string       `yaml:"method" json:"method" group:"Method" unit:"auto|lbfgs|sdca|prox-linear|adam|..." help:"optimiser; {more} more: dsp info --methods; auto chooses one and logs why"`
	Passes   int          `yaml:"passes" json:"passes" group:"Method" min:"0" help:"passes over the training data; 0: {passes}"`
	Gap      settings.Gap `yaml:"gap" json:"gap" group:"Method" unit:"X|auto" help:"stop at this certified relative gap; 0: never; auto: 0.001 if there is one"`
	Evaluate string       `yaml:"evaluate" json:"evaluate" group:"Method" values:"auto|every" help:"when to compute the objective of dual methods: every tenth pass and where a run may end, or every"`
	Patience int          `yaml:"patience" json:"patience" group:"Method" min:"0" help:"stop after N passes without a better result on development data; 0 runs all passes"`
}

// Lazy reports whether F is computed only where that is of use.
func (c *Choice) Lazy() bool { return c.Evaluate != "every" }

// StepSize is for methods with a step size.
type StepSize struct {
	LR float64 `yaml:"lr" json:"lr" group:"Method" min:"0" help:"step size, or γ0 of the schedule; 0 searches for one (adam: 0.001)"`
}

// Layering is for methods whose steps may differ from layer to layer of an encoder that is trained (engine.Rates).
type Layering struct {
	LREncoder  float64 `yaml:"lr-encoder" json:"lr_encoder" group:"Method" heading:"Encoder" needs:"tune-encoder" min:"0" help:"step length of the encoder's weights; 0: the method's choice"`
	LayerDecay float64 `yaml:"layer-decay" json:"layer_decay" group:"Method" heading:"Encoder" needs:"tune-encoder" min:"0" help:"factor of the step length from each layer of the encoder to the one below"`
}

// FirstStep returns the step length before any schedule; 0 if it is the method's choice.
func (s *Settings) FirstStep() float64 {
	if s.LR > 0 {
		return s.LR
	}
	return s.Eta
}

// Scheduling is for methods whose step size falls by a schedule (methods.ParseSchedule).
type Scheduling struct {
	Schedule string  `yaml:"schedule" json:"schedule" group:"Method" values:"auto|sqrt|constant|inverse|stairs|pegasos|cosine|geometric|linear" help:"how the step size falls (docs/reference/train.md); auto: as the method needs"`
	Halving  float64 `yaml:"halving" json:"halving" group:"Method" min:"0" only:"schedule=sqrt,inverse,stairs" unit:"STEPS" help:"t0 of the schedule, in steps; 0: a pass"`
}

// Averaging is for methods that may return an average of their iterates (methods.ParseAveraging).
type Averaging struct {
	Average string `yaml:"average" json:"average" group:"Method" values:"auto|none|uniform|weighted|pass|ema" help:"which average of the iterates to return (docs/reference/train.md)"`
}

// HeavyBall is for methods with momentum.
type HeavyBall struct {
	Momentum float64 `yaml:"momentum" json:"momentum" group:"Method" min:"0" help:"weight of the gradients before; 0.9 is usual"`
	Nesterov bool    `yaml:"nesterov" json:"nesterov" group:"Method" help:"momentum that looks one step ahead"`
}

// Clipping is for methods that may shorten gradients.
type Clipping struct {
	Clip float64 `yaml:"clip" json:"clip" group:"Method" min:"0" unit:"NORM" help:"scale longer gradients of batches down to this norm; 0: none"`
}

// Curvature is for methods whose step size follows from the curvature of the smoothed loss (methods.Pace).
type Curvature struct {
	Lipschitz float64 `yaml:"lipschitz" json:"lipschitz" group:"Method" min:"0" help:"Lipschitz constant of the smoothed loss's gradient; 0 estimates it"`
}

// Preconditioning is for methods whose steps can take the curvature of dense inputs into account (engine.Metric).
type Preconditioning struct {
	Preconditioner string `yaml:"preconditioner" json:"preconditioner" group:"Method" values:"auto|none" help:"whether steps take the correlations of dense inputs into account"`
}

// Acceleration is for Casimir.
type Acceleration struct {
	Kappa     float64 `yaml:"kappa" json:"kappa" group:"Method" min:"0" help:"weight of Casimir's proximal term; 0 computes it"`
	WarmStart string  `yaml:"warm-start" json:"warm-start" group:"Method" values:"prox-center|extrapolation|prev-iterate" help:"where Casimir starts an inner problem"`
	InnerStop string  `yaml:"inner-stop" json:"inner-stop" group:"Method" values:"budget|norm" help:"when Casimir stops an inner problem: after n steps, or at a small norm"`
}

// Models is for prox-linear: what its models hold, and how far a step goes.
type Models struct {
	ModelBatch settings.ModelBatch `yaml:"model-batch" json:"model-batch" group:"Method" unit:"N|all|auto" help:"examples of a model of prox-linear (docs/design/prox-linear.md)"`
	InnerSteps int                 `yaml:"inner-steps" json:"inner-steps" group:"Method" min:"0" help:"steps on the model of a batch; 0: 1"`
	Finish     int                 `yaml:"finish" json:"finish" group:"Method" min:"0" help:"passes at the end with models of all examples"`
	Eta        float64             `yaml:"eta" json:"eta" group:"Method" min:"0" help:"step length of prox-linear; 0 chooses it"`
}

// Subproblems is for prox-linear: how models of all examples are solved.
type Subproblems struct {
	Inner       string `yaml:"inner" json:"inner" group:"Method" help:"method for prox-linear's models of all examples"`
	InnerPasses int    `yaml:"inner-passes" json:"inner-passes" group:"Method" min:"0" help:"most passes per model; 0: 1, or up to 5"`
}

// Warming is for methods whose first passes prepare the rest.
type Warming struct {
	WarmUp float64 `yaml:"warm-up" json:"warm-up" group:"Method" min:"-1" unit:"PASSES" help:"passes that prepare the rest: a rising step size, or sgd; 0: the method's choice; -1: none"`
}

// Tolerances is for prox-linear: how exactly models of all examples are solved.
type Tolerances struct {
	InnerGap   float64 `yaml:"inner-gap" json:"inner-gap" group:"Method" min:"0" help:"ε_0: the k-th model is solved to the gap ε_0/k; 0: as the decrease asks"`
	ConstantMu bool    `yaml:"constant-mu" json:"constant-mu" group:"Method" help:"smooth every model with mu, not mu/k"`
}

// Batching is for methods whose steps are on batches.
type Batching struct {
	Batch int `yaml:"batch" json:"batch" group:"Method" min:"0" help:"examples per step; 0: the method's choice"`
}

// Filling is for methods whose batches may be as large as their examples are long.
type Filling struct {
	BatchTokens int `yaml:"batch-tokens" json:"batch_tokens" group:"Method" min:"0" unit:"N" help:"words per step, or their pieces as an encoder reads them; 0: batches of examples"`
}

// Averages is for methods whose ranks may step on their own (methods.SGD.Local).
type Averages struct {
	LocalSteps int `yaml:"local-steps" json:"local_steps" group:"Method" min:"0" unit:"N" help:"steps of each of several ranks on its own examples between averages; 0: they share each batch"`
}

// checkSteps refuses steps of ranks on their own without a step size, which all would have to search for.
func (a *Averages) checkSteps(r *Run) error {
	if a.LocalSteps > 0 && r.LR == 0 && r.Schedule != "pegasos" {
		return structured.BadInput("--local-steps %d needs a step size: give --lr", a.LocalSteps)
	}
	return nil
}

// Stepping is for batch Frank-Wolfe.
type Stepping struct {
	FWStep string `yaml:"fw-step" json:"fw_step" group:"Method" values:"search|harmonic" help:"how far a step of fw goes: by a line search, or 2/(k+2) in the k-th pass"`
}

// Cutting is for the cutting plane method.
type Cutting struct {
	Planes int `yaml:"planes" json:"planes" group:"Method" min:"0" unit:"N" help:"most planes that cutting-plane keeps; 0: 100, fewer where weights are many"`
}

// Visiting is for block-coordinate Frank-Wolfe with pairwise steps.
type Visiting struct {
	Sampling   string `yaml:"sampling" json:"sampling" group:"Method" values:"threshold|gap" help:"which examples bcpfw visits: those above the mean gap, or drawn by their gaps"`
	BlockSteps string `yaml:"block-steps" json:"block_steps" group:"Method" values:"pairwise|away" help:"how bcpfw moves weight: from output to output, or towards and away from one"`

	CacheLocal  float64 `yaml:"cache-local" json:"cache_local" group:"Method" min:"0" unit:"F" help:"kept outputs answer bcpfw in place of the oracle if they promise F of the last gap; 0.25 is usual"`
	CacheGlobal float64 `yaml:"cache-global" json:"cache_global" group:"Method" min:"0" unit:"NU" help:"and NU times the mean gap of all; both 0: the oracle is asked at every visit"`
}

// Estimating is for the accelerated gradient method.
type Estimating struct {
	AGMMemory string `yaml:"agm-memory" json:"agm_memory" group:"Method" values:"all|one" help:"what the estimate function of agm remembers: all gradients, or one quadratic"`
}

// Threading is for methods whose threads need not wait for each other.
type Threading struct {
	Parallel string `yaml:"parallel" json:"parallel" group:"Method" values:"deterministic|async" help:"deterministic, or async: threads of sdca and saga do not wait, and results vary within the gap"`
}

// Extras is for registered methods with settings of their own (Register). A program without such methods does not show
// it.
type Extras struct {
	Extra settings.Texts `yaml:"method-settings" json:"method_settings,omitempty" group:"Method" help:"settings that only this method has; dsp info --methods lists them"`
}

// Default returns the settings of a run without flags.
func Default() Settings {
	return Settings{
		Choice:          Choice{Method: "auto", Gap: settings.AutoGap, Evaluate: "auto"},
		Layering:        Layering{LayerDecay: 1},
		Scheduling:      Scheduling{Schedule: "auto"},
		Averaging:       Averaging{Average: "auto"},
		Preconditioning: Preconditioning{Preconditioner: "auto"},
		Acceleration:    Acceleration{WarmStart: "prox-center", InnerStop: "budget"},
		Subproblems:     Subproblems{Inner: "auto"},
		Stepping:        Stepping{FWStep: "search"},
		Visiting:        Visiting{Sampling: "threshold", BlockSteps: "pairwise"},
		Estimating:      Estimating{AGMMemory: "all"},
		Threading:       Threading{Parallel: "deterministic"},
	}
}

// Check refuses, as bad input, settings that have no effect with others of their groups.
func (s *Settings) Check() error {
	switch {
	case s.Batch > 0 && s.BatchTokens > 0:
		return structured.BadInput("--batch %d and --batch-tokens %d both say how large a step is; give one", s.Batch, s.BatchTokens)
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
