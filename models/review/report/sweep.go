package report

import (
	"fmt"
	"os"

	"github.com/dsp-go/dsp/models/sweep"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/models/training/closing"
	"github.com/dsp-go/dsp/train/record"
)

// Sweep is a comparison of settings.
type Sweep struct {
	Finding string
	Trials  *Table
	Picture Picture
}

// shownTrials bounds the settings in the table of a sweep.
const shownTrials = 100

// sweep reports on the folder of a sweep: the settings that it compared, and the run with the best one.
func (w *writer) sweep() (*Report, error) {
	r, err := sweep.ReadRecorded(w.o.Path)
	if err != nil {
		return nil, err
	}
	w.Sweep = &Sweep{Trials: trialTable(r), Finding: capital(r.Finding)}
	if len(r.Trials) < r.All {
		w.Notes = append(w.Notes, fmt.Sprintf("The sweep was interrupted: %d of %d settings are done; dsp sweep "+
			"--resume %s continues it.", len(r.Trials), r.All, w.o.Path))
	}
	if svg, err := os.ReadFile(r.Picture); err == nil {
		if w.Sweep.Picture, err = inline(string(svg), "the settings that were compared"); err != nil {
			return nil, err
		}
	}
	if !training.IsRun(r.Best) {
		if err := w.prepare(); err != nil {
			return nil, err
		}
		w.name()
		w.settings(&r.Config.Config)
		w.Finding = w.Sweep.Finding
		if w.Finding == "" {
			w.Finding = "No setting is done yet."
		}
		w.Subtitle = "A sweep without a run of the best setting yet"
		return &w.Report, nil
	}
	if w.run, err = training.ReadRecorded(r.Best, w.o.Encoder); err != nil {
		return nil, err
	}
	w.model = w.run.Model
	w.Notes = append(w.Notes, "All but the comparison of settings is about the run with the best one, "+clean(r.Best)+".")
	return w.report(&w.run.Config)
}

// trialTable has a row for each setting, the best first.
func trialTable(r *sweep.Recorded) *Table {
	rows := closing.Table{Count: min(shownTrials, len(r.Trials))}
	column := func(head string, cell func(t *sweep.Trial) string) {
		rows.Column(head, func(i int) string { return cell(&r.Trials[i]) })
	}
	for _, name := range r.Varied {
		column(name, func(t *sweep.Trial) string { return clean(fmt.Sprint(t.Settings[name])) })
	}
	number := func(of func(t *sweep.Trial) record.Number) func(t *sweep.Trial) string {
		return func(t *sweep.Trial) string {
			if r.Percent {
				return closing.Percent(float64(of(t)))
			}
			return closing.Number(of(t))
		}
	}
	column(r.Metric, number(func(t *sweep.Trial) record.Number { return t.Metric }))
	column("± sd", number(func(t *sweep.Trial) record.Number { return t.Deviation }))
	column("behind the best, points", func(t *sweep.Trial) string {
		if t.Behind == nil {
			return ""
		}
		return fmt.Sprintf("%.2f (%.2f to %.2f), p = %.2g", 100*t.Behind.Difference, 100*t.Behind.Low,
			100*t.Behind.High, t.Behind.P)
	})
	column("test", number(func(t *sweep.Trial) record.Number { return t.Test }))
	column("certified gap", func(t *sweep.Trial) string { return closing.Gap(t.RelativeGap(), t.Relaxed) })
	column("failed", func(t *sweep.Trial) string { return clean(t.Error) })
	t := &Table{}
	if len(rows.Rows) == 0 {
		return t
	}
	t.Head = rows.Rows[0]
	for _, row := range rows.Rows[1:] {
		t.row(row...)
	}
	if more := len(r.Trials) - rows.Count; more > 0 {
		t.Caption = fmt.Sprintf("The best %d of %d settings. ", rows.Count, len(r.Trials))
	}
	t.Caption += sweep.Explain(r.Trials)
	return t
}
