package traintest

import (
	"context"
	"fmt"
	"slices"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/engine"
)

// hostDescent is the open descent of a fake device. Its own Descent finds out which rows a batch reads, and the rows
// that it is told must be these.
type hostDescent struct {
	engine.ScaledDescent
	scorer nets.Scorer
	tables []nets.RowTable
}

// descentShelf returns what Descent archives of a state.
func descentShelf(s engine.DescentState, count int) *Shelf {
	return &Shelf{Restoring: true, Values: map[string]any{
		"descent.w": s.W, "descent.mean": s.Mean, "descent.squares": s.V, "descent.gradients": s.M, "descent.common": s.Common,
		"descent.steps": s.Steps, "descent.mean.iterates": count,
	}}
}

func (h *device) OpenDescent(s engine.DescentState, tables []nets.RowTable, β float64) {
	h.descent = &hostDescent{scorer: h.engine.Scorer, tables: tables}
	h.descent.Archive(descentShelf(s, len(s.Mean)))
	h.descent.Resume(h.engine, β)
}

func (h *device) Descend(ctx context.Context, q engine.Question, m engine.DeviceMove) error {
	d := h.descent
	if h.late == nil {
		h.late = d.checkRows(h.engine.Data, q.Examples, m.Rows)
	}
	if _, err := d.Step(ctx, q, m.Move); err != nil {
		if ctx.Err() != nil {
			return err
		}
		h.late = err
	}
	return nil
}

// checkRows returns an error unless rows are those that the examples read, each once.
func (d *hostDescent) checkRows(data *structured.Dataset, examples []int, rows []int32) error {
	var want []int32
	first := 0
	for k, t := range d.tables {
		var batch structured.Batch
		batch.Reset(data, examples)
		for _, r := range d.scorer.(nets.RowScorer).RowsRead(k, &batch, nil) {
			want = append(want, int32(first)+r)
		}
		first += t.Rows
	}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(rows)); !slices.Equal(got, slices.Compact(want)) {
		return fmt.Errorf("rows %v, the batch reads %v", got, want)
	}
	return nil
}

func (h *device) IncludeIterate(share float64) {
	if share == 1 {
		h.descent.ResetMean()
	}
	h.descent.Include(share)
}

func (h *device) FinishDescent(to engine.DescentState) error {
	late := h.late
	h.late = nil
	if err := h.descent.Finish(); err != nil {
		return err
	}
	all := &Shelf{Values: map[string]any{}}
	h.descent.Archive(all)
	for name, x := range map[string][]float32{"descent.w": to.W, "descent.mean": to.Mean, "descent.squares": to.V, "descent.gradients": to.M, "descent.common": to.Common} {
		copy(x, all.Values[name].([]float32))
	}
	return late
}
