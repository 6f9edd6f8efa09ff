package training

import (
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

// open opens the device of a run, and resolves it and how many examples are in a step on it. Work that a device cannot do is
// refused if the configuration names the device; otherwise the CPU does it. The run must be closed.
func (p *Problem) open() (*Run, error) {
	m, problem := *p.model, *p.problem
	r := &Run{Problem: *p}
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
	if r.device == nil {
		if err := r.config.CheckDevice(); err != nil { // some settings are for a device only
			return nil, err
		}
		return r, checkSteps(&r.config, r.problem)
	}
	batch := any("the method's")
	if r.config.Batch > 0 {
		batch = r.config.Batch
	}
	r.o.Log.Info("device "+r.device.Info().String(), "batch", batch, "products", r.products)
	if !accelerator.HasKernels(r.problem.Objective, r.problem.Smoothing) {
		r.o.Log.Info("the network runs on the device, the oracle of a " + r.problem.Scorer.Form().Structure.Name() + " on the CPU")
	}
	return r, nil
}

// deviceName is the device as --device names it. Several ranks that have one each have no number in common.
func (r *Run) deviceName() string {
	if r.o.ranks().Size() > 1 && r.config.Device == config.CUDA {
		return config.CUDA
	}
	return fmt.Sprintf("%s:%d", config.CUDA, r.device.Info().Ordinal)
}

// chooseBatch returns the examples per step where the settings leave them open, 0 for the method's own number.
func (r *Run) chooseBatch() int {
	batch := 0
	if d, ok := r.config.Optimiser(); ok && d.Batch != nil {
		batch = d.Batch(&r.config.Settings, r.problem.Scorer.Dim())
	}
	if r.device != nil && r.config.ModelBatch <= 0 {
		batch = deviceBatch(r.config.Method, r.data.Train, batch)
	}
	return batch
}

// warnIfMoved says where a run goes on on another kind of device.
func (r *Run) warnIfMoved() {
	was, err := ReadRun(r.config.Resume)
	if r.config.Resume == "" || err != nil { // a run that ended before it began has no settings
		return
	}
	before, _, _ := strings.Cut(was.Device, ":")
	if now, _, _ := strings.Cut(r.config.Device, ":"); now != before || was.TF32 != r.config.TF32 || max(1, was.DeviceParts) != max(1, r.config.DeviceParts) {
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
	if r.problem.Soft {
		return structured.BadInput("--teacher trains on the CPU; use --device cpu")
	}
	if r.problem.Loss == engine.Quadratic {
		return structured.BadInput("--loss %v trains on the CPU; use --device cpu", r.problem.Loss)
	}
	if d := r.data.Train; d.Features == nil && d.Source != nil && d.Attributes == nil && !isCrops(d) { // beside attributes features are refused anyway
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
	r.device, r.products, r.accelerator = d, a.Products(), a
	if accelerator.HasKernels(r.problem.Objective, r.problem.Smoothing) {
		r.model.RunOn(d, r.config.TF32)
	}
	r.problem.Engine = engine.NewAcceleratedEngine(r.problem.Objective, host.Threads(r.config.Threads), a)
	r.problem.Cut(parts)
	return r.problem.Join(r.o.ranks())
}

// close gives up the run's device. What failed on it was said where it did.
func (r *Run) close() {
	if r.device != nil {
		_ = r.device.Close()
		r.device = nil
		r.model.RunOn(nil, false)
	}
}

// leastSteps is how many steps a pass has at least where the batch is chosen for a device, and stepPositions the positions of
// a step that keep one busy.
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
