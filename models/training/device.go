package training

import (
	"context"
	"fmt"
	"math/bits"
	"strings"

	"github.com/dsp-go/dsp/cuda/accelerator"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/optimisers"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/images"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train/engine"
)

// open opens the device of a run, and resolves it and how many examples are in a step on it. Work that a device cannot
// do is refused if the configuration names the device; otherwise the CPU does it. The run must be closed, unless there
// is an error.
func (p *Problem) open() (*Run, error) {
	m, problem := *p.model, *p.problem
	r := &Run{Problem: *p, home: onHost{}}
	r.model, r.problem = &m, &problem
	named := r.config.Device != config.AutoDevice
	r.problem.Batch, r.model.Config.Batch = r.config.Batch, r.config.Batch
	r.problem.Tokens = r.config.BatchTokens
	ordinal, found, err := r.o.ordinal(r.config.Device)
	if found {
		err = r.moveTo(ordinal)
	}
	switch {
	case err != nil && named:
		return nil, r.advise(err)
	case err != nil:
		r.o.Log.Info("device cpu: " + err.Error())
	}
	r.config = r.resolveDevice(r.config)
	r.problem.Batch, r.model.Config.Batch = r.config.Batch, r.config.Batch
	return r, r.closeAfter(r.home.begin(r))
}

// closeAfter gives up the run's home after an error, which it returns.
func (r *Run) closeAfter(err error) error {
	if err != nil {
		r.close()
	}
	return err
}

// home is where a run computes: onHost or *onDevice.
type home interface {
	// resolve sets the device in c, and the settings that depend on it.
	resolve(r *Run, c *config.Config)

	// batch returns how many examples are in a step where the settings leave it open; 0 is the method's own number.
	// Where it is not 0, cpu is what suits the CPU.
	batch(r *Run, cpu int) int

	// begin refuses settings that are for another home, and says what this one does.
	begin(r *Run) error

	// meet tells the ranks of each other's homes.
	meet(ctx context.Context, r *Run) error

	close(r *Run)
}

// onHost is a run on the CPU.
type onHost struct{}

func (onHost) resolve(_ *Run, c *config.Config) { c.Device = config.CPU }

func (onHost) batch(_ *Run, cpu int) int { return cpu }

func (onHost) begin(r *Run) error {
	if err := r.config.CheckDevice(); err != nil { // some settings are for a device only
		return err
	}
	return checkSteps(&r.config, r.problem)
}

func (onHost) meet(context.Context, *Run) error { return nil }

func (onHost) close(*Run) {}

// onDevice is a run on a CUDA device.
type onDevice struct {
	*device.Device
	accelerator *accelerator.Accelerator
}

// resolve names the device as --device does. Several ranks that have one each have no number in common.
func (on *onDevice) resolve(r *Run, c *config.Config) {
	c.Device, c.DeviceParts = fmt.Sprintf("%s:%d", config.CUDA, on.Info().Ordinal), r.deviceParts()
	if r.o.Several() && r.config.Device == config.CUDA {
		c.Device = config.CUDA
	}
}

func (on *onDevice) batch(r *Run, cpu int) int {
	if r.config.ModelBatch > 0 {
		return cpu
	}
	return deviceBatch(r.config.Method, r.data.Train, cpu)
}

func (on *onDevice) begin(r *Run) error {
	batch := any("the method's")
	if r.config.Batch > 0 {
		batch = r.config.Batch
	}
	r.o.Log.Info("device "+on.Info().String(), "batch", batch, "products", on.accelerator.Products())
	if !accelerator.HasKernels(r.problem.Objective, r.problem.Smoothing) {
		r.o.Log.Info("the network runs on the device, the oracle of a " + r.problem.Scorer.Form().Structure.Name() +
			" on the CPU")
	}
	return nil
}

// chooseBatch returns the examples per step where the settings leave them open, 0 for the method's own number.
func (r *Run) chooseBatch() int {
	batch := 0
	if d, ok := r.config.Optimiser(); ok && d.Batch != nil {
		batch = d.Batch(&r.config.Settings, r.problem.Scorer.Dim())
	}
	return r.home.batch(r, batch)
}

// warnIfMoved says where a run goes on on another kind of device.
func (r *Run) warnIfMoved() {
	was, err := ReadRun(r.config.Resume)
	if r.config.Resume == "" || err != nil { // a run that ended before it began has no settings
		return
	}
	before, _, _ := strings.Cut(was.Device, ":")
	if now, _, _ := strings.Cut(r.config.Device, ":"); now != before || was.TF32 != r.config.TF32 ||
		max(1, was.DeviceParts) != max(1, r.config.DeviceParts) {
		r.o.Log.Warn("the run continues on another device, in another precision or in other parts: its bits will differ from those of the run without a break", "was", was.Device,
			"now", r.config.Device, "parts_were", max(1, was.DeviceParts), "parts_now", max(1, r.config.DeviceParts))
	}
}

// isCrops reports whether the features are crops of images, which a device cuts itself.
func isCrops(d *structured.Dataset) bool {
	_, ok := d.Source.(*images.Crops)
	return ok
}

// moveTo has a device do the run's work.
func (r *Run) moveTo(ordinal int) error {
	if err := checkAccelerated(&r.config); err != nil {
		return err
	}
	if err := accelerator.CheckObjective(r.problem.Objective); err != nil { // before a device is looked for
		return err
	}
	if d := r.data.Train; d.Features == nil && d.Source != nil && d.Attributes == nil && !isCrops(d) {
		// beside attributes features are refused anyway
		return structured.BadInput("%s: the features stay out of memory, where a device needs them; leave out --stream if they fit, or use --device cpu", d.Name)
	}
	parts := r.deviceParts()
	if err := r.checkParts(parts); err != nil {
		return err
	}
	d, err := device.Open(ordinal)
	if err != nil {
		return err
	}
	a, err := accelerator.NewAccelerator(d, r.problem.Objective, r.problem.Smoothing, r.config.TF32)
	if err != nil {
		_ = d.Close() // the first error counts
		return err
	}
	e := engine.NewAcceleratedEngine(r.problem.Objective, host.Threads(r.config.Threads), a)
	e.Cut(parts)
	if err := e.Join(r.o.ranks()); err != nil {
		_ = d.Close()
		return err
	}
	r.home, r.problem.Engine = &onDevice{d, a}, e
	if accelerator.HasKernels(r.problem.Objective, r.problem.Smoothing) {
		r.model.RunOn(d, r.config.TF32)
	}
	return nil
}

// close gives up the run's home.
func (r *Run) close() {
	r.home.close(r)
	r.home = onHost{}
}

// close gives up the device. What failed on it was said where it did.
func (on *onDevice) close(r *Run) {
	r.model.RunOnHost()
	_ = on.Close()
}

// leastSteps is how many steps a pass has at least where the batch is chosen for a device, and stepPositions the
// positions of a step that keep one busy.
const (
	leastSteps    = 64
	stepPositions = 1 << 13
)

// deviceBatch is the default number of examples per step on a GPU, where the CPU would take cpu examples: a step on ten
// examples takes as long there as one on hundreds, but a pass should have steps enough to get somewhere.
func deviceBatch(method string, d *structured.Dataset, cpu int) int {
	if d, ok := optimisers.Find(method); ok && !d.Takes("batch") { // its steps are on all examples
		return cpu
	}
	most := min(d.Len()/leastSteps, stepPositions*d.Len()/max(1, d.Positions()))
	if most < 8 {
		return cpu
	}
	return 1 << (bits.Len(uint(most)) - 1)
}
