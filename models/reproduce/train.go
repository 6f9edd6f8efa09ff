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
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/train"
)

// trainAll trains the units that are not in the log yet, several at once on one thread each, and adds them to it as
// they finish.
func (p *planner) trainAll(ctx context.Context, f *Figure, units []*unit, log *runLog) error {
	units = missing(units, log)
	left := map[string]int{} // runs of each curve
	for _, u := range units {
		left[u.group()]++
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var (
		mu       sync.Mutex // guards the rest
		done     int
		building sync.Mutex // networks are built one at a time
	)
	work := func(u *unit) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r, err := p.train(ctx, f, u, &building)
		if err != nil {
			return fmt.Errorf("figure %s: %s: %w", f.Name, u.name(), err)
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		if left[u.group()]--; left[u.group()] == 0 {
			p.o.Log.Info(fmt.Sprintf("figure %s: %d/%d runs: %s: %s", f.Name, done, len(units), u.group(), r.outcome()))
		}
		return log.add(r)
	}
	_ = host.Parallel(p.o.Threads, len(units), host.None, func(_ struct{}, k int) error {
		err := host.Guard(func() error { return work(units[k]) })
		if err != nil {
			stop(err)
		}
		return err
	})
	return context.Cause(ctx)
}

// outcome describes how the run ended.
func (r *Run) outcome() string {
	if r.Diverged != "" || len(r.Records) == 0 {
		return "diverged"
	}
	return fmt.Sprintf("objective %.4g", float64(r.Records[len(r.Records)-1].Objective))
}

// train trains a unit. A run that diverges is a result, too.
func (p *planner) train(ctx context.Context, f *Figure, u *unit, building *sync.Mutex) (*Run, error) {
	building.Lock()
	data, err := p.read(f, u)
	var problem *training.Problem
	if err == nil {
		problem, err = training.NewProblem(u.config, data,
			training.TrainOptions{Version: p.o.Version, Log: slog.New(slog.DiscardHandler)})
	}
	building.Unlock()
	if err != nil {
		return nil, err
	}
	r := &Run{Key: u.key, Seed: u.seed, Settings: changed(&u.config), Examples: u.examples, Version: p.o.Version}
	r.Records, err = problem.Curve(ctx)
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
