package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

// printResult prints a table with one row per training run and baseline, and the paths of the files. Objective and gap are those of the
// last pass; those of the pass whose weights were kept stand beside its errors where it is another one.
func printResult(w io.Writer, r *training.Result) error {
	runs := append([]training.Result{*r}, r.Baselines...)
	task, _ := tasks.Named(r.Task)
	kept := ""
	if r.Dev != nil {
		kept = ", measured with the weights of the pass that did best on dev"
	}
	if _, err := fmt.Fprintf(w, "\nnet %s; %s%s\n\n", r.Net, task.Result, kept); err != nil {
		return err
	}
	if err := printTable(w, resultRows(runs, task.Columns)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "\nmodel   %s\n", r.Model); err != nil {
		return err
	}
	curves := filepath.Join(filepath.Dir(r.Model), "curves.png")
	if _, err := os.Stat(curves); err != nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "curves  %s\n", curves)
	return err
}

// table collects columns of count cells and leaves out columns that would be empty.
type table struct {
	count int
	rows  [][]string // the first row is the header
}

func (t *table) column(head string, cell func(i int) string) {
	if t.rows == nil {
		t.rows = make([][]string, 1+t.count)
	}
	cells := make([]string, t.count)
	for i := range cells {
		cells[i] = cell(i)
	}
	if !slices.ContainsFunc(cells, func(c string) bool { return c != "" }) {
		return
	}
	t.rows[0] = append(t.rows[0], head)
	for i, c := range cells {
		t.rows[1+i] = append(t.rows[1+i], cmp.Or(c, "–"))
	}
}

func resultRows(runs []training.Result, columns []tasks.Column) [][]string {
	rows := table{count: len(runs)}
	column := func(head string, cell func(r *training.Result) string) {
		rows.column(head, func(i int) string { return cell(&runs[i]) })
	}
	column("", (*training.Result).Name)
	column("passes", func(r *training.Result) string { return fmt.Sprint(r.Passes) })
	column("seconds", func(r *training.Result) string { return fmt.Sprintf("%.1f", r.Seconds) })
	column("objective", func(r *training.Result) string { return number(r.Objective) })
	column("certified gap", func(r *training.Result) string {
		return gapOf(r, r.Certificate)
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
	column("its objective", another(func(r *training.Result) string { return number(r.Kept.Objective) }))
	column("its gap", another(func(r *training.Result) string { return gapOf(r, r.Kept.Certificate) }))
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
					return percent(value(m))
				}
				return ""
			}
		}
		for _, c := range columns {
			column(set.name+" "+c.Head, metric(func(m *structured.Metrics) float64 { return m.Get(c.Measure) }))
		}
	}
	return rows.rows
}

// gapOf formats the relative gap of a pass.
func gapOf(r *training.Result, c training.Certificate) string {
	gap := percent(float64(c.RelativeGap))
	if gap != "" && r.Relaxed {
		gap += ", relaxed"
	}
	return gap
}

// number formats x with five digits, and NaN as an empty string.
func number(x record.Number) string {
	if f := float64(x); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return fmt.Sprintf("%.5g", f)
	}
	return ""
}

// percent formats a fraction, and NaN as an empty string.
func percent(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return fmt.Sprintf("%.2f %%", 100*x)
}
