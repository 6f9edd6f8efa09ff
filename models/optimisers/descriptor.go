// Package optimisers describes the optimisers that a run can have. Each is one value, a Descriptor, in its own file,
// which registers it: a name, its settings, its traits, and a function that makes the train.Method. Everything else
// asks the descriptor, and compares no names.
package optimisers

import (
	"cmp"
	"slices"
	"sync"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
)

// Descriptor is an optimiser. Its zero traits are those of a method for any loss and fully known labels that certifies
// nothing, remembers nothing, and runs until its passes are over. What the train.Method says itself is asked there:
// Convex, TakesL1, OnDevice (train.Traits).
type Descriptor struct {
	Name    string // --method NAME
	Summary string // what it is, in a line
	When    string // when to choose it, in a line

	// Settings is a struct of the method's settings: groups that other methods share (StepSize, Batching, …), and
	// fields of its own with their defaults and the tags yaml and help, which a user gives as --method-settings
	// NAME=VALUE,....
	Settings any

	Losses    Losses
	Smoothing Smoothing              // of the hinge's max
	Sums      bool                   // it needs sums over all outputs, whatever the loss
	Chains    bool                   // it takes labels of sequences only
	Certified bool                   // it bounds the distance to the optimum, so that a run may end at a gap
	Partial   bool                   // it takes labels that are known in part, where a convex method's objective is not convex
	Closed    bool                   // its weights are a closed form of the data, wherever a run begins
	Prior     bool                   // it takes a regulariser around a trained model
	Dropout   bool                   // its steps drop units
	Ranks     bool                   // several ranks share its work (train/ranks), as far as that is passes over all examples and steps on several
	InParts   func(s *Settings) bool // on a device its steps and passes need no memory, so that batches may be cut into parts (engine.Engine.Cut); nil: they do
	OwnData   bool                   // with sparse inputs each of several ranks needs those of its own examples alone
	Blocks    bool                   // each of several ranks works on dual variables of its own, so that the bits depend on the number of ranks
	Dual      bool                   // its weights are made of dual variables: with λ₁‖w‖₁ it cannot start from given weights
	L1OnCPU   bool                   // with λ₁‖w‖₁ it does not run on a device, though otherwise it does

	Features    string  // the built-in set of attributes that it is for, where the settings leave that open; empty: what suits the labels
	Inner       string  // the method that solves prox-linear's models of all examples as this one would: itself, where it may; empty: none
	Passes      int     // default number of passes; 0: convexPasses
	StepSetting string  // the setting to lower when a run diverges; empty: there is none
	Memory      float64 // numbers kept per potential of the examples, including the copy in a checkpoint

	// Vectors returns how many vectors of weights it keeps besides the iterate and the mean, including their copies in
	// a checkpoint. Nil: none.
	Vectors func(s *Settings) float64

	// Batch returns the default number of examples in a step for that many weights; 0, and nil, leave it to the method.
	Batch func(s *Settings, weights int) int

	// Within returns the methods that do part of its work, to whose settings it listens too, and the setting that
	// decides which. Nil: none.
	Within func(s *Settings) (parts []*Descriptor, by string)

	// Check refuses, as bad input, settings that have no effect with others. Nil: all go together.
	Check func(r *Run) error

	// Resolve decides the settings that are left open, for an objective. Nil: there are none.
	Resolve func(s *Settings, o *engine.Objective)

	// ByPasses says what of a run depends on the number of its passes, so that a longer run has other bits. Nil, and
	// empty: nothing.
	ByPasses func(s *Settings) string

	// Make makes the method. Settings that Resolve decides may still be open, as they are by default.
	Make func(r *Run) (train.Method, error)

	once      sync.Once
	byDefault train.Method // plain
}

// Run is what a method is made from: the settings of methods, and what it needs to know of others.
type Run struct {
	Settings
	Continues bool    // from a trained model
	Dropout   float64 // probability that a step drops a unit

	// Own points to the method's own struct, Descriptor.Settings with the values of this run.
	Own any
}

// Losses says which losses a method minimises.
type Losses int

// The kinds of losses.
const (
	AnyLoss          Losses = iota
	HingeOnly               // the hinge
	SmoothOnly              // losses that are log-partition functions
	SmoothLosses            // those and the quadratic loss
	SmoothObjectives        // those, and the smoothed hinge: with a given μ, or as the method says
	OutputLosses            // those about the best output or all outputs: not the quadratic loss
)

// Takes reports whether a method minimises a loss by its name. The hinge counts as it is, without a given μ.
func (l Losses) Takes(loss string) bool {
	hinge, quadratic := loss == engine.Hinge.String(), loss == engine.Quadratic.String()
	switch l {
	case HingeOnly:
		return hinge
	case SmoothOnly:
		return !hinge && !quadratic
	case SmoothObjectives, SmoothLosses:
		return !hinge
	case OutputLosses:
		return !quadratic
	}
	return true
}

// String names the losses.
func (l Losses) String() string {
	return [...]string{"any", "hinge", "crf, softmax-margin", "crf, softmax-margin, quadratic", "crf, softmax-margin, quadratic, smoothed hinge", "hinge, crf, softmax-margin"}[l]
}

// Smoothing says whether a method smooths the hinge's max.
type Smoothing int

// The kinds of smoothing.
const (
	NotSmoothed Smoothing = iota // the method needs none
	MaySmooth                    // it takes the max as it is, or smoothed with a given μ
	Smooths                      // it smooths the max
)

// String says what happens to the max.
func (s Smoothing) String() string { return [...]string{"no", "with --mu", "yes"}[s] }

const (
	tunedPasses  = 5    // the same for networks that train an encoder
	convexPasses = 100  // the default number of passes
	batchPasses  = 500  // that of methods whose step takes all examples
	convexGap    = 1e-3 // the default certified relative gap at which a run stops
)

// DefaultPasses is how many passes a run has at most where nobody says.
func (d *Descriptor) DefaultPasses() int { return cmp.Or(d.Passes, convexPasses) }

// PassesFor is DefaultPasses for an objective: an encoder that is trained came with weights that are nearly right.
func (d *Descriptor) PassesFor(o *engine.Objective) int {
	if nets.Tunes(o.Scorer) {
		return min(d.DefaultPasses(), tunedPasses)
	}
	return d.DefaultPasses()
}

// DefaultGap is the certified relative gap at which a run stops where nobody says; 0: it makes all passes.
func (d *Descriptor) DefaultGap(o *engine.Objective) settings.Gap {
	if d.Certified && (o.Lambda > 0 || o.L1 > 0 || o.Radius > 0) && !o.Partial() {
		return convexGap
	}
	return 0
}

// Takes reports whether a setting of that name has an effect on the method.
func (d *Descriptor) Takes(setting string) bool {
	switch setting {
	case "smoothing", "mu":
		return d.Smoothing != NotSmoothed
	case "init":
		return !d.Closed
	case "prior":
		return d.Prior
	case "dropout":
		return d.Dropout
	}
	if setting == OwnSettingsName {
		return len(d.OwnSettings()) > 0
	}
	_, all := settings.Fresh(d.Settings)
	_, ok := settings.Named(all, setting)
	return ok
}

// Parts returns the methods that do part of the work with these settings, and the setting that decides which.
func (d *Descriptor) Parts(s *Settings) (parts []*Descriptor, by string) {
	if d.Within == nil {
		return nil, ""
	}
	return d.Within(s)
}

// Oracle is the method that calls the oracle: the one itself, or the one that is chosen to do part of its work.
func (d *Descriptor) Oracle(s *Settings) *Descriptor {
	if parts, _ := d.Parts(s); len(parts) == 1 {
		return parts[0]
	}
	return d
}

// Validate refuses, as bad input, settings that have no effect with others.
func (d *Descriptor) Validate(r *Run) error {
	if err := r.Settings.Check(); err != nil {
		return err
	}
	if r.Gap > 0 && !d.Certified {
		return structured.BadInput("--gap %v needs a certificate, which --method %s does not give; use a convex method on --net linear, or --passes",
			r.Gap, d.Name)
	}
	parts, _ := d.Parts(&r.Settings)
	all := append([]*Descriptor{d}, parts...)
	if err := checkOwn(r, all); err != nil {
		return err
	}
	for _, m := range all {
		if m.Check == nil {
			continue
		}
		if err := m.Check(r); err != nil {
			return err
		}
	}
	return nil
}

// New makes the method.
func (d *Descriptor) New(r *Run) (train.Method, error) {
	at, err := *r, error(nil)
	if at.Own, err = d.own(r); err != nil {
		return nil, err
	}
	m, err := d.Make(&at)
	if err != nil {
		return nil, err
	}
	if m.Name() != d.Name {
		return nil, structured.BadInput("method %q makes one with the name %q; checkpoints need the same", d.Name, m.Name())
	}
	return m, nil
}

// plain is the method with default settings, which can tell what all of its kind do. Register sees to it that it can be
// made. Help texts ask every method often, whenever the program starts, so it is made once.
func (d *Descriptor) plain() train.Method {
	d.once.Do(func() { d.byDefault, _ = d.New(&Run{Settings: Default()}) })
	return d.byDefault
}

// Convex reports whether the method needs scores that are linear in the weights.
func (d *Descriptor) Convex() bool { return d.plain().Traits().Convex }

// TakesL1 reports whether the method minimises objectives with λ₁‖w‖₁.
func (d *Descriptor) TakesL1() bool { return d.plain().Traits().L1 }

// TakesBounds reports whether the method keeps weights between bounds.
func (d *Descriptor) TakesBounds() bool { return d.plain().Traits().Bounds }

// TakesRadius reports whether the method keeps weights in a ball, and needs one.
func (d *Descriptor) TakesRadius() bool { return d.plain().Traits().Radius }

// OnDevice reports whether the method runs on a GPU.
func (d *Descriptor) OnDevice() bool { return train.CheckAccelerated(d.plain()) == nil }

// CanBeInner reports whether prox-linear may solve its models of all examples with the method.
func (d *Descriptor) CanBeInner() bool { return d.Inner == d.Name }

// CheckDevice refuses a method that does not run on a device with these settings and λ₁ = l1.
func (d *Descriptor) CheckDevice(r *Run, l1 float64) error {
	if l1 > 0 && d.L1OnCPU {
		return train.Refuse(d.Name, train.HostPotentials, "takes soft thresholds, for --l1, on the CPU only")
	}
	m, err := d.New(r)
	if err != nil {
		return nil // refused elsewhere, or not chosen yet
	}
	return train.CheckAccelerated(m)
}

// Remembered returns how many bytes the method needs for what it remembers of the examples.
func (d *Descriptor) Remembered(o *engine.Objective) float64 {
	return 4 * d.Memory * float64(engine.MemoryFloats(o))
}

// NamesOf returns the names of the methods that meet a condition, in the order of the registry.
func NamesOf(wanted func(d *Descriptor) bool) []string {
	var names []string
	for _, d := range slices.DeleteFunc(All(), func(d *Descriptor) bool { return !wanted(d) }) {
		names = append(names, d.Name)
	}
	return names
}
