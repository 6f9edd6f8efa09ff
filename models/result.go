package models

import (
	"fmt"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train"
)

// Result is the outcome of training: the last object that dsp train --json prints. Numbers that the method did not
// compute are null in JSON, and so are metrics of data sets that there are not.
type Result struct {
	Task      string              `json:"task"`
	Net       string              `json:"net"`
	Edges     string              `json:"edges"`
	Method    string              `json:"method"`
	Passes    int                 `json:"passes"`
	Seconds   float64             `json:"seconds"` // of training; reading and measuring do not count
	Objective train.Number        `json:"objective"`
	Dual      train.Number        `json:"dual"`
	Gap       train.Number        `json:"gap"`
	Dev       *structured.Metrics `json:"dev"`
	Test      *structured.Metrics `json:"test"`
	Model     string              `json:"model"` // path of the model file
	Reason    string              `json:"reason"`
	Baselines []Result            `json:"baselines,omitempty"`
}

// Name says how the model was trained, for tables and legends.
func (r *Result) Name() string {
	if r.Edges == "none" {
		return r.Method + ", independent labels"
	}
	return r.Method
}

// Table shows the result and its baselines, a line each. The objective is that of the last pass; errors are those of the
// model that was kept.
func (r *Result) Table() string {
	var b strings.Builder
	rows := append([]Result{*r}, r.Baselines...)
	width := 0
	for i := range rows {
		width = max(width, len([]rune(rows[i].Name())))
	}
	entities := r.Dev != nil && r.Dev.EntityMetrics != nil || r.Test != nil && r.Test.EntityMetrics != nil
	fmt.Fprintf(&b, "%-*s  passes  seconds  objective", width, r.Net)
	set := func(name string) {
		fmt.Fprintf(&b, "  %s tokens  sequences", name)
		if entities {
			b.WriteString("       F1")
		}
	}
	if r.Dev != nil {
		set("dev ")
	}
	if r.Test != nil {
		set("test")
	}
	b.WriteByte('\n')
	for i := range rows {
		row := &rows[i]
		fmt.Fprintf(&b, "%-*s  %6d  %7.1f  %9.5g", width, row.Name(), row.Passes, row.Seconds, float64(row.Objective))
		for _, m := range []*structured.Metrics{row.Dev, row.Test} {
			if m == nil {
				continue
			}
			fmt.Fprintf(&b, "  %9.2f %%  %7.2f %%", 100*m.TokenError, 100*m.SequenceError)
			if entities && m.EntityMetrics != nil {
				fmt.Fprintf(&b, "  %5.2f %%", 100*m.F1)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
