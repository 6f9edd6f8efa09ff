package models

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/training"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
)

// The kinds of device; cuda may be followed by a colon and the number of one.
const (
	autoDevice = "auto"
	cpuDevice  = "cpu"
	cudaDevice = "cuda"
)

// parseDevice reads the name of a device: its kind, and for cuda its number, 0 where none is given.
func parseDevice(name string) (kind string, ordinal int, err error) {
	kind, number, numbered := strings.Cut(name, ":")
	if numbered && kind == cudaDevice {
		if ordinal, err = strconv.Atoi(number); err != nil || ordinal < 0 || number != strconv.Itoa(ordinal) {
			return "", 0, structured.BadInput("--device %s: expected the number of a device, as in cuda:0", name)
		}
		return kind, ordinal, nil
	}
	return name, 0, settings.OneOf("--device", name, []string{autoDevice, cpuDevice, cudaDevice, cudaDevice + ":0"})
}

// checkDevice refuses a device that does not exist, or that cannot do what c asks for.
func (c *Config) checkDevice() error {
	kind, ordinal, err := parseDevice(c.Device)
	switch {
	case err != nil:
		return err
	case kind == cpuDevice && c.TF32:
		return structured.BadInput("--tf32 is for matrix products on a GPU: give --device cuda too")
	case kind != cudaDevice:
		return nil
	}
	if err := checkCUDA(ordinal); err != nil {
		return structured.BadInput("--device %s: %w; use --device cpu, or auto", c.Device, err)
	}
	return c.checkAccelerated()
}

// checkCUDA returns why there is no CUDA device of that number, or nil.
func checkCUDA(ordinal int) error {
	all, err := device.Devices()
	if err == nil && ordinal >= len(all) {
		err = fmt.Errorf("there is no such device, the last one is cuda:%d", len(all)-1)
	}
	return err
}

// OpenDevice opens the CUDA device of a name as the setting device has it. Nil is the CPU. A device that does not exist is bad input.
func OpenDevice(name string) (*device.Device, error) {
	c := Config{Device: name}
	if err := c.checkDevice(); err != nil {
		return nil, err
	}
	return c.openDevice()
}

// openDevice opens the CUDA device that c asks for; with auto the first, unless it is emulated. Nil is the CPU.
func (c *Config) openDevice() (*device.Device, error) {
	kind, ordinal, err := parseDevice(c.Device)
	switch {
	case err != nil || kind == cpuDevice:
		return nil, err
	case kind == autoDevice:
		if all, err := device.Devices(); err != nil {
			if device.Built {
				return nil, err
			}
			return nil, nil
		} else if all[0].Emulated() {
			return nil, nil
		}
	}
	if err := c.checkAccelerated(); err != nil {
		return nil, err
	}
	return device.Open(ordinal)
}

// accelerate resolves the device of the run and how many examples are in a step on it. Work that a device cannot do is refused
// if c names the device; otherwise the CPU does it.
func (r *Run) accelerate() error {
	c := &r.config
	open := c.Batch == 0
	r.problem.Batch = c.Batch
	d, err := c.openDevice()
	if d != nil {
		if err = r.moveTo(d); err != nil {
			_ = d.Close() // the first error counts
		}
	}
	switch {
	case err != nil && c.Device != autoDevice:
		return r.advise(err)
	case err != nil:
		r.o.Log.Info("device cpu: " + err.Error())
	}
	c.Device = cpuDevice
	if r.device != nil {
		c.Device = fmt.Sprintf("%s:%d", cudaDevice, r.device.Info().Ordinal)
	} else if err := c.checkDevice(); err != nil {
		return err
	}
	if open {
		c.Batch = defaultBatch(c.Method, r.problem.Scorer.Dim())
		if r.device != nil {
			c.Batch = deviceBatch(c.Method, r.data.Train, c.Batch)
		}
	}
	r.problem.Batch = c.Batch
	if r.device == nil {
		return c.checkSteps(r.problem)
	}
	batch := any("the method's")
	if c.Batch > 0 {
		batch = c.Batch
	}
	r.o.Log.Info("device "+r.device.Info().String(), "batch", batch)
	if !training.HasKernels(r.problem.Objective) {
		r.o.Log.Info("the network runs on the device, the oracle of a " + r.problem.Scorer.Form().Structure.Name() + " on the CPU")
	}
	return nil
}

// warnIfMoved says where a run goes on on another kind of device.
func (r *Run) warnIfMoved() {
	was, err := ReadRun(r.config.Resume)
	if r.config.Resume == "" || err != nil { // a run that ended before it began has no settings
		return
	}
	before, _, _ := strings.Cut(was.Device, ":")
	if now, _, _ := strings.Cut(r.config.Device, ":"); now != before || was.TF32 != r.config.TF32 {
		r.o.Log.Warn("the run continues on another device or in another precision: its bits will differ from those of the run without a break", "was", was.Device,
			"now", r.config.Device)
	}
}

// moveTo has a device do the run's work.
func (r *Run) moveTo(d *device.Device) error {
	a, err := training.NewAccelerator(d, r.problem.Objective, r.config.TF32)
	if err != nil {
		return err
	}
	r.device = newOnDevice(d, r.config.TF32)
	r.problem.Engine = engine.NewAcceleratedEngine(r.problem.Objective, threadsOr(r.config.Threads), a)
	return nil
}

// close gives up the run's device. What failed on it was said where it did.
func (r *Run) close() {
	if r.device != nil {
		_ = r.device.Close()
		r.device = nil
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
	if method == "lbfgs" {
		return cpu
	}
	most := min(d.Len()/leastSteps, stepPositions*d.Len()/max(1, d.Positions()))
	if most < 8 {
		return cpu
	}
	return 1 << (bits.Len(uint(most)) - 1)
}
