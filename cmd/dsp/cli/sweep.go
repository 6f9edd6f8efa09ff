package cli

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/pipelines"
	"github.com/dsp-go/dsp/models/sweep"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/models/training/closing"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/train/record"
)

func sweepCommand() *cobra.Command {
	flagged, file := sweep.Default(), ""
	cmd := &cobra.Command{
		Use:   "sweep --grid NAME=VALUES",
		Short: "Choose settings by search: a grid or random draws, on development data or by cross-validation",
		Long: `sweep trains with every combination of the values that --grid lists, or with random draws from them, and compares the
settings on development data or by cross-validation (--folds). It prints a table, best first.

Its folder holds one line per
setting (sweep.jsonl), a picture (sweep.png, sweep.svg), and in best the run folder of a model trained with the best setting
on all training data, for dsp predict --model DIR/best. On development data, the difference of every setting to the best one
has an interval, and a paired test that is corrected for the number of settings. Each setting trains exactly as dsp train does;
all flags of train apply. After an interrupt (Ctrl-C) the completed settings are kept: --resume continues with the others.`,
		Example: `  dsp sweep --train train.conll --dev dev.conll --grid reg=log:0.01:10:7 --grid loss=crf,hinge
  dsp sweep --train train.conll --folds 5 --grid reg=0.1,1,10 --grid min-count=1,2 --out sweeps/ner
  dsp sweep --train letter.data --net linear --folds 5 --random 20 --grid reg=log:1e-3:1e3 --grid mu=log:0.01:10
  dsp sweep --resume sweeps/ner`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := sweepSettings(cmd, file, &flagged)
			if err != nil {
				return err
			}
			options := training.TrainOptions{Version: version(), Log: slog.Default(), Console: os.Stderr, Explained: new(atomic.Bool)}
			result, err := sweep.Run(cmd.Context(), s, options)
			if err != nil {
				return err
			}
			if s.JSON {
				return printJSON(os.Stdout, result)
			}
			return printSweep(os.Stdout, result)
		},
	}
	addSettings(cmd, sweep.Settings(&flagged))
	cmd.Flags().StringVar(&file, "config", "", "YAML `FILE` with any of these settings; flags override it")
	putFirst(cmd, "grid", "random", "folds", "metric", "jobs", "train", "dev", "test", "out", "task", "net", "method", "config", "resume")
	helpOn(cmd, &flagged.Config)
	return cmd
}

// sweepSettings assembles the configuration of a command line, as trainSettings does for train.
func sweepSettings(cmd *cobra.Command, file string, flagged *sweep.Config) (sweep.Config, error) {
	s, err := sweep.Default(), error(nil)
	switch {
	case file != "" && flagged.Resume != "":
		return s, structured.BadInput("--config and --resume cannot be combined: a resumed sweep already has a configuration")
	case file != "":
		s, err = sweep.ReadConfig(file)
	case flagged.Resume != "":
		s, err = sweep.Read(flagged.Resume)
	}
	if err == nil {
		err = cmp.Or(noFile(cmd), outOfResumed(cmd, flagged.Resume))
	}
	if err != nil {
		return s, err
	}
	takeFlags(cmd, sweep.Settings(flagged), sweep.Settings(&s))
	s.JSON = s.JSON || isSet(cmd, "json")
	s.Quiet = s.Quiet || isSet(cmd, "quiet")
	if s.Task == pipelines.Task { // whose settings of stages are no settings of a grid
		return s, structured.BadInput("--task pipeline is for dsp train: a pipeline is several models; train one, and tune its stages: " +
			"dsp sweep --config PIPELINE/upos/config.yaml --grid reg=0.3,1,3")
	}
	return s, nil
}

// printSweep prints a table with one row per setting, best first, and the paths of the files.
func printSweep(w io.Writer, r *sweep.Result) error {
	if _, err := fmt.Fprintf(w, "\n%s\n\n", r.Finding); err != nil {
		return err
	}
	if err := printTable(w, trialRows(r)); err != nil {
		return err
	}
	for _, t := range r.Trials {
		if t.Error != "" {
			var with []string
			for _, name := range r.Varied {
				with = append(with, fmt.Sprintf("%s=%v", name, t.Settings[name]))
			}
			if _, err := fmt.Fprintf(w, "\nfailed with %s: %s\n", strings.Join(with, ", "), t.Error); err != nil {
				return err
			}
		}
	}
	if about := sweep.Explain(r.Trials); about != "" {
		if _, err := fmt.Fprintf(w, "\n%s\n", about); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\nmodel    %s\npicture  %s\n", r.Model, r.Picture)
	return err
}

// trialRows returns the rows of the table without empty columns.
func trialRows(r *sweep.Result) [][]string {
	rows := closing.Table{Count: len(r.Trials)}
	column := func(head string, cell func(t *sweep.Trial) string) {
		rows.Column(head, func(i int) string { return cell(&r.Trials[i]) })
	}
	for _, name := range r.Varied {
		column(name, func(t *sweep.Trial) string { return fmt.Sprint(t.Settings[name]) })
	}
	head := map[string]string{"f1": "F1", "accuracy": "accuracy", "sequence": "sequences right"}[r.Metric]
	for _, t := range tasks.All() {
		for _, m := range t.Metrics {
			if head == "" && m.Name == r.Metric {
				head = m.Label
			}
		}
	}
	metric := func(of func(t *sweep.Trial) record.Number) func(t *sweep.Trial) string {
		return func(t *sweep.Trial) string { return closing.Percent(float64(of(t))) }
	}
	if head != "" {
		set := "dev "
		if r.Folds > 0 {
			set = fmt.Sprintf("%d-fold ", r.Folds)
		}
		column(set+head, metric(func(t *sweep.Trial) record.Number { return t.Metric }))
		column("± sd", metric(func(t *sweep.Trial) record.Number { return t.Deviation }))
		column("behind the best", func(t *sweep.Trial) string {
			if t.Behind == nil {
				return ""
			}
			return fmt.Sprintf("%.2f ± %.2f, p = %.2g", 100*t.Behind.Difference, 100*t.Behind.Deviation, t.Behind.P)
		})
		column("test "+head, metric(func(t *sweep.Trial) record.Number { return t.Test }))
	}
	column("objective", func(t *sweep.Trial) string { return closing.Number(t.Objective) })
	column("certified gap", func(t *sweep.Trial) string { return closing.Gap(t.RelativeGap(), t.Relaxed) })
	column("passes", func(t *sweep.Trial) string { return positive(float64(t.Passes), "%.0f") })
	column("seconds", func(t *sweep.Trial) string { return positive(t.Seconds, "%.2f") })
	column("", func(t *sweep.Trial) string {
		if t.Error == "" {
			return ""
		}
		return "failed"
	})
	return rows.Rows
}

// positive formats x if it is above 0, and returns an empty string otherwise.
func positive(x float64, format string) string {
	if x > 0 {
		return strings.TrimSpace(fmt.Sprintf(format, x))
	}
	return ""
}
