package training

import (
	"context"
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/oracles/chain"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/record"
)

// Several ranks run the same training. Each reads the data, holds the weights, and decides alike, since their sums are
// alike to the bit. What they share is the work on examples (train/engine). Rank 0 alone writes files.

// ranks returns the group that trains together.
func (o TrainOptions) ranks() *ranks.Member {
	if o.Ranks == nil {
		return ranks.Solo()
	}
	return o.Ranks
}

// Several reports whether processes train together.
func (o TrainOptions) Several() bool { return o.ranks().Size() > 1 }

// leads reports whether this process writes the files.
func (o TrainOptions) leads() bool { return o.ranks().Rank() == 0 }

// received returns what this rank has received; nil for a process alone.
func (o TrainOptions) received() *ranks.Traffic {
	if !o.Several() {
		return nil
	}
	t := o.Ranks.Traffic()
	return &t
}

// checkAlone refuses what only several ranks do. A run that had them may go on without.
func checkAlone(c *config.Config) error {
	if c.LocalSteps > 0 && c.Resume == "" {
		return structured.BadInput("--local-steps %d is for several ranks, and this is one process: start dsp with mpirun, or leave it out", c.LocalSteps)
	}
	return nil
}

// checkRanks refuses what several ranks do not share.
func checkRanks(c *config.Config, d *optimisers.Descriptor, o *engine.Objective) error {
	switch {
	case !d.Ranks:
		how := "goes from example to example"
		if d.Closed {
			how = "takes one pass in one process"
		}
		return structured.BadInput("--method %s %s, which several ranks do not share; use one of %s, or --ranks off", c.Method, how,
			strings.Join(optimisers.NamesOf(func(d *optimisers.Descriptor) bool { return d.Ranks }), ", "))
	case c.Baselines == "on":
		return structured.BadInput("--baselines on: several ranks train no baselines; start one process")
	}
	return nil
}

// Agree refuses ranks that do not run the same training: another version of the program, other kernels, whose sums have
// other bits, or other settings. Train does so by itself.
func Agree(ctx context.Context, c *config.Config, o TrainOptions) error {
	facts := [][2]string{
		{"version", o.Version}, {"vector instructions", chain.Vector()}, {"matrix products", kernels.CurrentBLAS().Name()},
		{"--passes", fmt.Sprint(c.Passes)}, {"--gap", fmt.Sprint(c.Gap)}, {"--patience", fmt.Sprint(c.Patience)}, {"--evaluate", c.Evaluate}, {"--resume", c.Resume},
		{"--train-local", given(c.TrainLocal)}, {"--device-parts", fmt.Sprint(c.DeviceParts)},
	}
	identity := identityOf(*c)
	for _, s := range config.Settings(c) {
		if value, ok := identity[s.Stored()]; ok {
			facts = append(facts, [2]string{"--" + s.Name, value})
		}
	}
	return o.ranks().Agree(ctx, facts)
}

// ordinal returns the number of the device of a run, and whether it has one: of several ranks that name no number, each
// takes that of its place among those on its machine.
func (o TrainOptions) ordinal(name string) (ordinal int, found bool, err error) {
	switch {
	case !o.Several():
		return config.FindDevice(name)
	case name == config.CUDA:
		return o.Ranks.Local, true, nil
	case name == config.AutoDevice:
		return 0, false, nil
	}
	return config.FindDevice(name)
}

// deviceParts returns into how many parts batches are cut on a device: as many as there are ranks, unless the settings
// say otherwise. 0: they are not.
func (r *Run) deviceParts() int {
	size := r.o.ranks().Size()
	if r.config.DeviceParts > 0 || r.config.LocalSteps > 0 || size == 1 {
		return r.config.DeviceParts
	}
	return size
}

// checkParts refuses what a device does not evaluate in so many parts.
func (r *Run) checkParts(parts int) error {
	c, size := &r.config, r.o.ranks().Size()
	d, ok := c.Optimiser()
	_, sparse := r.problem.Scorer.(*sparse.Linear)
	switch {
	case !ok || parts == 0 && (size == 1 || c.LocalSteps > 0):
		return nil
	case c.LocalSteps > 0:
		return structured.BadInput("--device-parts %d is for batches that ranks share; leave it out, or leave out --local-steps %d", parts, c.LocalSteps)
	case parts < size:
		return structured.BadInput("--device-parts %d: %d ranks need at least a part each; give --device-parts %d, or start %d", parts, size, size, parts)
	case parts == 1:
		return nil
	case d.InParts == nil || !d.InParts(&c.Settings):
		can := optimisers.NamesOf(func(d *optimisers.Descriptor) bool { return d.InParts != nil })
		return structured.BadInput("--method %s on --device %s does not work in parts, which GPUs share; use one of %s (prox-linear with --model-batch N, and without --finish), or one process without --device-parts",
			c.Method, c.Device, strings.Join(can, ", "))
	case sparse:
		return structured.BadInput("--device %s: GPUs share networks, and no linear models on attributes, whose gradients are as long as their weights; use --device cpu, or one process without --device-parts", c.Device)
	}
	return nil
}

// given says whether each rank has a file of its own.
func given(path string) string {
	if path == "" {
		return "not given"
	}
	return "given"
}

// ownData reports whether a rank needs the inputs of its own examples alone, where they are sparse.
func ownData(d *optimisers.Descriptor, c *config.Config) bool { return d.OwnData || c.LocalSteps > 0 }

// keepShare leaves attributes divided among the ranks if the method needs no more of them. Otherwise each rank fetches
// all.
func (p *Problem) keepShare() error {
	d, share := p.problem.Data, &p.data.Share
	if share.Size() == 1 {
		return nil
	}
	if by, ok := p.config.Optimiser(); ok && ownData(by, &p.config) && p.problem.AttributesAlone() {
		p.o.Log.Info("each process holds the attributes of its own examples",
			"examples", share.Last-share.First, "of", d.Len())
		return nil
	}
	if err := share.AllGatherAttributes(d); err != nil {
		return err
	}
	*share = structured.Whole(d)
	return nil
}

// fingerprint returns that of a data set, which takes as long as a pass over it.
func (p *Problem) fingerprint(d *structured.Dataset) string {
	if p.prints == nil {
		p.prints = map[*structured.Dataset]string{}
	}
	if p.prints[d] == "" {
		share := structured.Whole(d)
		if d == p.data.Train {
			share = p.data.Share
		}
		p.prints[d] = train.DividedFingerprint(d, share)
	}
	return p.prints[d]
}

// shareFolder makes the folder of the run that of rank 0, whose clock names it.
func shareFolder(ctx context.Context, c *config.Config, o TrainOptions) error {
	if !o.Several() {
		return nil
	}
	all, err := o.Ranks.AllGather(ctx, []byte(c.Out))
	if err == nil {
		c.Out = string(all[0])
	}
	return err
}

// agreeOnData refuses ranks that read other data, learn from another teacher or towards another model, or begin at
// other weights.
func agreeOnData(ctx context.Context, data *models.Data, p *Problem) error {
	facts := [][2]string{
		{"weights to begin with", train.FingerprintOf(p.model.W)}, {"model to regularise towards", train.FingerprintOf(p.model.Prior)},
		{"marginals of the teacher", p.taught},
	}
	sets := []*structured.Dataset{data.Train, data.Dev, data.Test}
	for k, name := range []string{"training data", "development data", "test data"} {
		if d := sets[k]; d != nil {
			facts = append(facts, [2]string{name, d.Name + " with fingerprint " + p.fingerprint(d)})
		}
	}
	return p.o.Ranks.Agree(ctx, facts)
}

// agreeOnStart refuses ranks that do not resume from the same checkpoint. Rank 0 writes a new one only when all have
// read the old one.
func agreeOnStart(ctx context.Context, c *train.Checkpoint, o TrainOptions) error {
	start := "none"
	if c != nil && c.Resumes() {
		start = fmt.Sprintf("that of pass %d", c.Pass())
	}
	return o.ranks().Agree(ctx, [][2]string{{"checkpoint to resume from", start}})
}

// follow is train for ranks that write no files.
func (r *Run) follow(ctx context.Context, checkpoint *train.Checkpoint) (*Result, []record.Record, error) {
	trainer := r.trainer()
	if checkpoint != nil {
		checkpoint.ReadOnly()
		trainer.Checkpoint = checkpoint
	}
	out, err := trainer.Run(ctx, newState(r.model.W))
	if out == nil {
		return nil, nil, r.advise(err)
	}
	return r.result(out), nil, err
}
