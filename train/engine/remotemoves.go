package engine

import (
	"context"
	"math"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/machine/vec"
)

// remoteMoves moves a descent on a device, where the descent lives while it is open; W and Mean are then out of date. The question about
// a batch waits for the step's rule, so that the device gets both at once.
type remoteMoves struct {
	*Descent
	remote *remote
	device Descender
	open   bool
	asked  func(m Move) error // the question that waits for a step
	move   Move               // of that step
	err    error              // of earlier steps
}

func (r *remote) mover(d *Descent) mover {
	return &remoteMoves{Descent: d, remote: r, device: r.device.(Descender)}
}

// state returns the descent's state on the host.
func (d *remoteMoves) state() DescentState {
	s := DescentState{W: d.W, V: d.v, M: d.m, Common: d.common, Steps: d.steps}
	if d.count > 0 {
		s.Mean = d.Mean
	}
	return s
}

// flush opens the descent.
func (d *remoteMoves) flush() {
	if d.open {
		return
	}
	var tables []nets.RowTable
	if d.support != nil {
		tables = d.support.tables
	}
	d.device.OpenDescent(d.state(), tables, d.squares.β)
	d.open = true
}

func (d *remoteMoves) prepare([]int) {} // the device does so in the step

func (d *remoteMoves) ask(ctx context.Context, examples []int, s oracles.Smoothing, dropout uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.err != nil {
		return d.err
	}
	rows := d.move.Rows[:0]
	if d.support != nil {
		d.support.find(d.engine.Data, examples)
		for k, first := range d.support.first {
			for _, row := range d.support.rows[k] {
				rows = append(rows, int32(first)+row)
			}
		}
	}
	d.move = Move{Rows: rows, Reads: d.reads()}
	d.flush()
	s = d.engine.smoothing(s)
	d.asked = func(m Move) error { return d.device.Descend(ctx, examples, s, dropout, m) }
	if device := d.remote.parts(); device != nil {
		var losses []float64
		if d.engine.Loss.Smooth() {
			losses = make([]float64, len(examples))
		}
		d.asked = func(m Move) error { return device.Move(examples, losses, m) }
		return d.remote.stepInParts(ctx, device, nil, examples, s, dropout, losses)
	}
	return nil
}

func (d *remoteMoves) clip(norm float64) { d.move.Clip = norm }

// take takes a step from the answers to the last question.
func (d *remoteMoves) take(rule Rule, η, λ, β float64) {
	d.steps++
	d.move.Rule, d.move.Eta, d.move.Lambda, d.move.Beta, d.move.Steps = rule, η, λ, β, d.steps
	if d.err == nil {
		d.err = d.asked(d.move)
	}
	d.asked = nil
}

func (d *remoteMoves) prox(η, λ float64) float64 {
	d.take(ProxRule, η, λ, 0)
	return math.NaN()
}

func (d *remoteMoves) adam(η, λ, β1 float64) { d.take(AdamRule, η, λ, β1) }

func (d *remoteMoves) momentum(η, λ, μ float64, nesterov bool) {
	rule := MomentumRule
	if nesterov {
		rule = NesterovRule
	}
	d.take(rule, η, λ, μ)
}

func (d *remoteMoves) include(share float64) {
	d.flush()
	if d.count == 1 {
		share = 1
	}
	d.device.IncludeIterate(share)
}

// finish copies the descent to the host.
func (d *remoteMoves) finish() error {
	if d.err != nil || !d.open {
		return d.err
	}
	d.open = false
	if d.count > 0 {
		d.Mean = vec.Grow(d.Mean, len(d.W))
	}
	return d.device.FinishDescent(d.state())
}
