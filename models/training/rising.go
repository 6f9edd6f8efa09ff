package training

import (
	"fmt"
	"log/slog"
	"math"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/train/record"
)

// manyRises is how many passes in a row must have raised the objective before somebody should know.
const manyRises = 3

// rising is a recorder that warns, once, of a method that only makes the objective larger. Methods with certificates
// need none: theirs say how far off they are, and their objectives may rise for a while.
type rising struct {
	log    *slog.Logger
	config *config.Config
	last   float64
	rises  int
}

// newRising returns the recorder for a run that goes on behind some records.
func newRising(log *slog.Logger, c *config.Config, earlier []record.Record) *rising {
	r := &rising{log: log, config: c, last: math.NaN()}
	if n := len(earlier); n > 0 {
		r.last = float64(earlier[n-1].Objective)
	}
	return r
}

func (r *rising) Record(p record.Record) error {
	objective := float64(p.Objective)
	if math.IsNaN(objective) { // the pass went without
		return nil
	}
	if objective > r.last {
		r.rises++
	} else {
		r.rises = 0
	}
	r.last = objective
	if r.rises != manyRises {
		return nil
	}
	r.rises = math.MinInt // once
	advice := adviseStep(r.config, float64(p.Step))
	if dropout := r.config.Dropout; dropout > 0 {
		advice = fmt.Sprintf("Steps learn with --dropout %v, the objective is that of the whole network: lower --dropout. %s", dropout, advice)
	}
	r.log.Warn(fmt.Sprintf("the objective rose in each of the last %d passes", manyRises), "pass", p.Pass, "advice", advice)
	return nil
}

// Close implements record.Recorder; it does nothing.
func (r *rising) Close() error { return nil }
