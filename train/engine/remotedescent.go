package engine

import (
	"context"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/structured/machine/vec"
)

// remoteDescent is a descent on a device. It lives there while it is open. The question about a batch waits for the step's rule, so
// that the device gets both at once.
type remoteDescent struct {
	Descender
	open bool
	ask  func(m Move) error // the question that waits for a step
	move Move               // of that step
	err  error              // of earlier steps
}

// state returns the descent's state on the host.
func (d *Descent) state() DescentState {
	s := DescentState{W: d.W, V: d.v, M: d.m, Steps: d.steps}
	if d.count > 0 {
		s.Mean = d.Mean
	}
	return s
}

// flush opens the descent on the device.
func (d *Descent) flush() {
	if d.remote.open {
		return
	}
	var tables []nets.RowTable
	if d.support != nil {
		tables = d.support.tables
	}
	d.remote.OpenDescent(d.state(), tables, d.squares.β)
	d.remote.open = true
}

// askRemote is Ask on a device.
func (d *Descent) askRemote(ctx context.Context, examples []int, s oracles.Smoothing, dropout uint64) error {
	r := d.remote
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.err != nil {
		return r.err
	}
	r.move = Move{Rows: r.move.Rows[:0]}
	if d.support != nil {
		d.support.find(d.engine.Data, examples)
		for k, first := range d.support.first {
			for _, row := range d.support.rows[k] {
				r.move.Rows = append(r.move.Rows, int32(first)+row)
			}
		}
	}
	d.flush()
	s = d.engine.smoothing(s)
	r.ask = func(m Move) error { return r.Descend(ctx, examples, s, dropout, m) }
	return nil
}

// moveRemote takes a step on the device from the answers to the last question.
func (d *Descent) moveRemote(rule Rule, η, λ, β float64) {
	r := d.remote
	d.steps++
	r.move.Rule, r.move.Eta, r.move.Lambda, r.move.Beta, r.move.Steps = rule, η, λ, β, d.steps
	if r.err == nil {
		r.err = r.ask(r.move)
	}
	r.ask = nil
}

// finishRemote copies the descent to the host.
func (d *Descent) finishRemote() error {
	r := d.remote
	if r.err != nil || !r.open {
		return r.err
	}
	r.open = false
	if d.count > 0 {
		d.Mean = vec.Grow(d.Mean, len(d.W))
	}
	return r.FinishDescent(d.state())
}
