package training

import (
	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/record"
)

// Result is the outcome of training: the last object that dsp train --json prints. Numbers that the method did not
// compute are null in JSON, and so are metrics of missing data sets.
type Result struct {
	Task        string              `json:"task"`
	Net         string              `json:"net"`
	Edges       string              `json:"edges"`
	Method      string              `json:"method"`
	Oracle      string              `json:"oracle,omitempty"` // of graphs
	Passes      int                 `json:"passes"`
	Ranks       int                 `json:"ranks"`              // processes that trained together
	Received    *ranks.Traffic      `json:"received,omitempty"` // by rank 0, of several
	Seconds     float64             `json:"seconds"`            // of training; without reading and measuring
	Certificate                     // of the last pass
	Kept        *Kept               `json:"kept"`                // the pass whose weights the model has
	Nonzero     int                 `json:"nonzero"`             // weights of the model that differ from zero
	Relaxed     bool                `json:"relaxed,omitempty"`   // as in metrics.jsonl
	Truncated   int                 `json:"truncated,omitempty"` // as in metrics.jsonl
	Dev         *structured.Metrics `json:"dev"`
	Test        *structured.Metrics `json:"test"`
	Model       string              `json:"model"` // path of the model file
	Reason      string              `json:"reason"`
	Baselines   []Result            `json:"baselines,omitempty"`
	Path        *Path               `json:"path,omitempty"` // of which this is the model that does best on dev
}

// Certificate is how far the objective of a pass is from its optimum.
type Certificate struct {
	Objective   record.Number `json:"objective"`
	Dual        record.Number `json:"dual"`
	Gap         record.Number `json:"gap"`          // objective − dual
	RelativeGap record.Number `json:"relative_gap"` // gap/|objective|
	// EstimatedGap is the relative gap by an estimate of the dual that was far ahead of the certified one when the run
	// ended; 0 without one.
	EstimatedGap record.Number `json:"estimated_gap,omitempty"`
}

// Kept is the pass whose weights the model has: the one that did best on the development data, or else the last one.
type Kept struct {
	Pass int `json:"pass"`
	Certificate
}

// certificateOf returns the certificate of a pass.
func certificateOf(r record.Record) Certificate {
	c := Certificate{Objective: r.Objective, Dual: r.Dual, Gap: r.Gap, RelativeGap: record.Number(r.RelativeGap())}
	if estimate := r.RelativeEstimate(); estimate < r.RelativeGap()/2 { // it says more
		c.EstimatedGap = record.Number(estimate)
	}
	return c
}

// keptOf returns the certificate of the pass best, whose weights were kept. The bound of the last pass holds for all
// weights, so it holds for that pass, too.
func keptOf(best, last record.Record) *Kept {
	if d := last.Dual; d == d && !(d <= best.Dual) { // neither is NaN, or only that of best
		best.Dual, best.Gap, best.EstimatedGap = d, best.Objective-d, 0
	}
	return &Kept{Pass: best.Pass, Certificate: certificateOf(best)}
}

// Name describes how the model was trained, for tables and legends.
func (r *Result) Name() string { return runName(r.Method, r.Edges, r.Oracle) }

// runName describes a run; oracle is that of graphs, or empty.
func runName(method, edges, oracle string) string {
	switch {
	case edges == nets.EdgesNone:
		return method + ", no edges"
	case oracle != "":
		return method + ", " + oracle
	}
	return method
}

// givenOracle returns the inference that the settings of a graph name, empty if they name none.
func givenOracle(c *config.Config) string {
	if c.Oracle == "auto" {
		return ""
	}
	return c.Oracle
}

// oracleOf returns the name of the inference of a model of graphs, empty for others.
func oracleOf(m *models.Model) string {
	if p, ok := m.Net.Form().Structure.(graphs.Pairwise); ok {
		return p.By.String()
	}
	return ""
}

// SaysNothing reports whether a relative gap is so large that the optimum may be anywhere below the objective; NaN is
// no gap.
func SaysNothing(relative record.Number) bool { return relative >= 0.995 }

// farFromOptimum is the end of a sentence about a run whose certificate says nothing; empty for other runs.
func (r *Result) farFromOptimum() string {
	if !SaysNothing(r.RelativeGap) {
		return ""
	}
	return "; the certified gap is 100 %, so nothing is known of how far the objective is above its optimum"
}
