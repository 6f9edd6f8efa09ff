package training

import (
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// Result is the outcome of training: the last object that dsp train --json prints. Numbers that the method did not
// compute are null in JSON, and so are metrics of missing data sets.
type Result struct {
	Task      string              `json:"task"`
	Net       string              `json:"net"`
	Edges     string              `json:"edges"`
	Method    string              `json:"method"`
	Passes    int                 `json:"passes"`
	Seconds   float64             `json:"seconds"` // of training; without reading and measuring
	Objective record.Number       `json:"objective"`
	Dual      record.Number       `json:"dual"`
	Gap       record.Number       `json:"gap"`
	Relaxed   bool                `json:"relaxed,omitempty"` // as in record.Record
	Dev       *structured.Metrics `json:"dev"`
	Test      *structured.Metrics `json:"test"`
	Model     string              `json:"model"` // path of the model file
	Reason    string              `json:"reason"`
	Baselines []Result            `json:"baselines,omitempty"`
}

// Name describes how the model was trained, for tables and legends.
func (r *Result) Name() string { return runName(r.Method, r.Edges) }

func runName(method, edges string) string {
	if edges == nets.EdgesNone {
		return method + ", no edges"
	}
	return method
}
