package engine

import (
	"context"

	"github.com/dsp-go/dsp/nets"
)

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
