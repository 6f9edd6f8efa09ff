package reproduce

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/host"
	"github.com/dsp-go/dsp/train"
)

// trainAll trains the units that are not in the log yet, several at once on one thread each, and adds them to it.
func (p *planner) trainAll(ctx context.Context, f *Figure, units []*unit, log *runLog) error {
	units = missing(units, log)
	var building sync.Mutex // networks are built one at a time
	work := func(_ struct{}, u *unit) (*Run, error) {
		r, err := p.train(ctx, f, u, &building)
		if err != nil {
			return nil, fmt.Errorf("figure %s: %s: %w", f.Name, u.name(), err)
		}
		return r, nil
	}
	k := 0
	err := host.InOrder(ctx, p.o.Threads, host.Each(units), func() struct{} { return struct{}{} }, work, func(r *Run) error {
		u := units[k]
		if k++; k == len(units) || !u.same(units[k]) {
			outcome := "diverged"
			if r.Diverged == "" && len(r.Records) > 0 {
				outcome = fmt.Sprintf("objective %.4g", float64(r.Records[len(r.Records)-1].Objective))
			}
			p.o.Log.Info(fmt.Sprintf("figure %s: %d/%d runs: %s: %s", f.Name, k, len(units), u.name(), outcome))
		}
		return log.add(r)
	})
	if err != nil && (errors.Is(err, train.ErrInterrupted) || errors.Is(err, context.Canceled)) {
		return fmt.Errorf("%w: finished runs are kept; the same command continues", train.ErrInterrupted)
	}
	return err
}

// train trains a unit. A run that diverges is a result, too.
func (p *planner) train(ctx context.Context, f *Figure, u *unit, building *sync.Mutex) (*Run, error) {
	c := u.config
	building.Lock()
	data, err := p.read(f, &c)
	var run *training.Run
	if err == nil {
		run, err = training.NewRun(c, data, training.TrainOptions{Version: p.o.Version, Log: slog.New(slog.DiscardHandler)})
	}
	building.Unlock()
	if err != nil {
		return nil, err
	}
	r := &Run{Key: u.key, Seed: u.seed, Settings: changed(&u.config), Examples: u.examples, Version: p.o.Version}
	r.Records, err = run.Curve(ctx)
	var diverged *train.DivergedError
	if errors.As(err, &diverged) {
		r.Diverged, err = err.Error(), nil
	}
	for i := range r.Records { // metrics by type take most of the space
		for _, m := range []**structured.Metrics{&r.Records[i].Dev, &r.Records[i].Test} {
			if *m != nil {
				*m = &structured.Metrics{Measures: (*m).Measures}
			}
		}
	}
	return r, err
}

// missing returns the units that are not in the log, each key once.
func missing(units []*unit, log *runLog) []*unit {
	var all []*unit
	for _, u := range units {
		if log.runs[u.key] == nil && !slices.ContainsFunc(all, func(o *unit) bool { return o.key == u.key }) {
			all = append(all, u)
		}
	}
	return all
}
