package engine

import (
	"cmp"
	"context"
	"math"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured/sys/vec"
)

// deviceDescent moves a descent on a device, where the descent lives while it is open; W and Mean are then out of date.
type deviceDescent struct {
	*ScaledDescent
	backend *deviceBackend
	device  Descender
	open    bool
	rows    []int32 // scratch memory: those of the batch
	err     error   // of earlier steps
}

func (r *deviceBackend) descentStepper(d *ScaledDescent) descentStepper {
	return &deviceDescent{ScaledDescent: d, backend: r, device: r.device.(Descender)}
}

// state returns the descent's state on the host.
func (d *deviceDescent) state() DescentState {
	s := DescentState{W: d.W, V: d.v, M: d.m, Common: d.common, Steps: d.steps}
	if d.count > 0 {
		s.Mean = d.Mean
	}
	return s
}

// flush opens the descent.
func (d *deviceDescent) flush() {
	if d.open {
		return
	}
	d.device.OpenDescent(d.state(), d.engine.touched.tables, d.squares.β)
	d.open = true
}

func (d *deviceDescent) prepare([]int) {} // the device does so in the step

func (d *deviceDescent) step(ctx context.Context, q Question, m Move) (γ float64, err error) {
	if err := cmp.Or(ctx.Err(), d.err); err != nil {
		return 0, err
	}
	touched := d.engine.touched
	touched.find(d.engine.Data, q.Examples)
	d.rows = d.rows[:0]
	for k, first := range touched.first {
		for _, row := range touched.rows[k] {
			d.rows = append(d.rows, int32(first)+row)
		}
	}
	d.flush()
	q.Smoothing = d.engine.smoothing(q.Smoothing)
	move := DeviceMove{Move: m, Steps: d.steps + 1, Rows: d.rows, Reads: touched.numWeights()}
	if device, cut := d.backend.inParts(); !cut {
		d.err = d.device.Descend(ctx, q, move)
	} else {
		var losses []float64
		if d.engine.Loss.Smooth() {
			losses = make([]float64, len(q.Examples))
		}
		if err := d.backend.stepInParts(ctx, device, Iterate, q.Examples, q.Smoothing, q.Dropout, losses); err != nil {
			return 0, err
		}
		d.err = device.Move(q.Examples, losses, move)
	}
	d.steps++
	return math.NaN(), nil
}

func (d *deviceDescent) include(share float64) {
	d.flush()
	if d.count == 1 {
		share = 1
	}
	d.device.IncludeIterate(share)
}

// finish copies the descent to the host.
func (d *deviceDescent) finish() error {
	if d.err != nil || !d.open {
		return d.err
	}
	d.open = false
	if d.count > 0 {
		d.Mean = vec.Grow(d.Mean, len(d.W))
	}
	return d.device.FinishDescent(d.state())
}

// Descender is an Accelerator that takes the steps of a Descent on the device, so that the host never waits for a step.
// A descent and a path must not be open at the same time.
type Descender interface {
	Accelerator
	// OpenDescent opens a descent. tables are the scorer's row tables, β the decay of the mean of squares.
	OpenDescent(s DescentState, tables []nets.RowTable, β float64)
	// Descend asks about a batch at the iterate, as Step does without a memory, and moves the iterate. The work may
	// still be running when Descend returns.
	Descend(ctx context.Context, q Question, m DeviceMove) error
	// IncludeIterate sets mean ← (1−share)·mean + share·w. With a share of 1 the old mean may be undefined.
	IncludeIterate(share float64)
	// FinishDescent closes the open descent: it copies the parts of its state that are not empty to the host.
	FinishDescent(s DescentState) error
}

// DescentState is the state of a descent between the host and a device. Slices that are empty are not copied; on the
// device, they are then zero.
type DescentState struct {
	W, Mean []float32 // [Dim] the iterate and the mean of the iterates
	V, M    []float32 // [Dim] means of g² and of g; for the momentum rules M is z
	Common  []float32 // [1] V of ProxRule, the mean of the mean square of g
	Steps   int       // taken so far
}

// DeviceMove is a Move with what a device does not find out.
type DeviceMove struct {
	Move
	Steps int     // taken, with this one
	Rows  []int32 // the rows that the batch reads, each once, counted through all tables
	Reads int     // weights that the batch reads: of these rows and outside the tables
}

// Descender returns the engine's device if it is a Descender, else nil.
func (e *Engine) Descender() Descender {
	a, _ := e.backend.accelerator().(Descender)
	return a
}
