package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/models/training/closing"
)

// printResult prints a table with one row per training run and baseline, and the paths of the files. Objective and gap
// are those of the last pass; those of the pass whose weights were kept stand beside its errors where it is another
// one.
func printResult(w io.Writer, r *training.Result) error {
	runs := append([]training.Result{*r}, r.Baselines...)
	task, _ := tasks.Named(r.Task)
	kept := ""
	if r.Dev != nil && r.Path == nil {
		kept = ", measured with the weights of the pass that did best on dev"
	}
	if _, err := fmt.Fprintf(w, "\nnet %s; %s%s\n\n", r.Net, task.Result, kept); err != nil {
		return err
	}
	rows := closing.Rows(runs, task.Columns)
	if r.Path != nil {
		rows = closing.PathRows(r.Path, task.Columns, r.Relaxed)
	}
	if err := printTable(w, rows); err != nil {
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
