// Package closing makes the table of a run's results, with its baselines, for the end of a training and for reports.
package closing

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// Table collects columns of Count cells, and leaves out columns that would be empty.
type Table struct {
	Count int
	Rows  [][]string // the first row is the header
}

// Column adds a column with that head, which has cell(i) in row i.
func (t *Table) Column(head string, cell func(i int) string) {
	if t.Rows == nil {
		t.Rows = make([][]string, 1+t.Count)
	}
	cells := make([]string, t.Count)
	for i := range cells {
		cells[i] = cell(i)
	}
	if !slices.ContainsFunc(cells, func(c string) bool { return c != "" }) {
		return
	}
	t.Rows[0] = append(t.Rows[0], head)
	for i, c := range cells {
		t.Rows[1+i] = append(t.Rows[1+i], cmp.Or(c, "–"))
	}
}

// Rows returns a row for each run below the head. Objective and gap are those of the last pass; those of the pass whose
// weights were kept stand beside its errors where it is another one. The columns are those of the task.
func Rows(runs []training.Result, columns []tasks.Column) [][]string {
	rows := Table{Count: len(runs)}
	column := func(head string, cell func(r *training.Result) string) {
		rows.Column(head, func(i int) string { return cell(&runs[i]) })
	}
	column("", (*training.Result).Name)
	column("passes", func(r *training.Result) string { return fmt.Sprint(r.Passes) })
	column("seconds", func(r *training.Result) string { return fmt.Sprintf("%.1f", r.Seconds) })
	column("objective", func(r *training.Result) string { return Number(r.Objective) })
	column("certified gap", func(r *training.Result) string {
		return gapOf(r, r.Certificate)
	})
	column("estimated gap", func(r *training.Result) string { // where more is known than was certified
		if r.EstimatedGap == 0 {
			return ""
		}
		return Gap(r.EstimatedGap, r.Relaxed)
	})
	another := func(cell func(r *training.Result) string) func(r *training.Result) string {
		return func(r *training.Result) string {
			if r.Kept == nil || r.Kept.Pass == r.Passes {
				return ""
			}
			return cell(r)
		}
	}
	column("kept pass", another(func(r *training.Result) string { return fmt.Sprint(r.Kept.Pass) }))
	column("objective there", another(func(r *training.Result) string { return Number(r.Kept.Objective) }))
	column("gap there", another(func(r *training.Result) string { return gapOf(r, r.Kept.Certificate) }))
	for _, set := range []struct {
		name string
		of   func(r *training.Result) *structured.Metrics
	}{
		{"dev", func(r *training.Result) *structured.Metrics { return r.Dev }},
		{"test", func(r *training.Result) *structured.Metrics { return r.Test }},
	} {
		metric := func(value func(m *structured.Metrics) float64) func(r *training.Result) string {
			return func(r *training.Result) string {
				if m := set.of(r); m != nil {
					return Percent(value(m))
				}
				return ""
			}
		}
		for _, c := range columns {
			column(set.name+" "+c.Head, metric(func(m *structured.Metrics) float64 { return m.Get(c.Measure) }))
		}
	}
	return rows.Rows
}

// PathRows returns a row for each breakpoint of a path below the head.
func PathRows(p *training.Path, columns []tasks.Column, relaxed bool) [][]string {
	rows := Table{Count: len(p.Points)}
	column := func(head string, cell func(x *training.Breakpoint) string) {
		rows.Column(head, func(i int) string { return cell(&p.Points[i]) })
	}
	column("C", func(x *training.Breakpoint) string { return fmt.Sprint(x.Reg) })
	column("best from", func(x *training.Breakpoint) string { return fmt.Sprintf("%.3g", x.From) })
	column("to", func(x *training.Breakpoint) string { return fmt.Sprintf("%.3g", x.To) })
	column("passes", func(x *training.Breakpoint) string { return fmt.Sprint(x.Passes) })
	column("seconds", func(x *training.Breakpoint) string { return fmt.Sprintf("%.1f", x.Seconds) })
	column("objective", func(x *training.Breakpoint) string { return Number(x.Objective) })
	column("certified gap", func(x *training.Breakpoint) string { return Gap(x.RelativeGap, relaxed) })
	for _, set := range []struct {
		name string
		of   func(x *training.Breakpoint) *structured.Metrics
	}{
		{"dev", func(x *training.Breakpoint) *structured.Metrics { return x.Dev }},
		{"test", func(x *training.Breakpoint) *structured.Metrics { return x.Test }},
	} {
		for _, c := range columns {
			column(set.name+" "+c.Head, func(x *training.Breakpoint) string {
				if m := set.of(x); m != nil {
					return Percent(m.Get(c.Measure))
				}
				return ""
			})
		}
	}
	return rows.Rows
}

// gapOf formats the relative gap of a pass.
func gapOf(r *training.Result, c training.Certificate) string {
	return Gap(c.RelativeGap, r.Relaxed)
}

// Gap formats a relative gap, which is that of a relaxed objective or of the objective itself, and NaN as an empty
// string. Where it says nothing, words do.
func Gap(relative record.Number, relaxed bool) string {
	if training.SaysNothing(relative) {
		return record.Certified(fmt.Sprintf("%.0f %%", 100*relative), relaxed) + " (nothing proven)"
	}
	return record.Certified(Percent(float64(relative)), relaxed)
}

// Number formats x with five digits, and NaN as an empty string.
func Number(x record.Number) string {
	if f := float64(x); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return fmt.Sprintf("%.5g", f)
	}
	return ""
}

// Percent formats a fraction, and NaN as an empty string.
func Percent(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return fmt.Sprintf("%.2f %%", 100*x)
}
