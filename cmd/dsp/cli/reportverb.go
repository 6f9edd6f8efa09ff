package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/review/intervals"
	"github.com/dsp-go/dsp/models/review/report"
	"github.com/dsp-go/dsp/structured"
)

func reportCommand() *cobra.Command {
	var u modelFlags
	out := ""
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Write a page of HTML about a run: settings, curves, measures, calibration, worst errors",
		Long: `report writes one file of HTML about the folder of a run or of a sweep, or about a model file. It is complete: pictures are
inline, and there are no scripts. The page shows the settings, the data, the curves of the run and its baselines, and the
closing table. It measures the model on --data or else on the run's test data or, without, its development data: metrics with
95 % intervals, tables by label, confusions, calibration, precision against recall, and the worst examples with gold and
predicted outputs, shaded by their probabilities; for linear nets on attributes also the largest weights. What a task does
not have is left out. Of a run that was interrupted it reports what there is.`,
		Example: `  dsp report runs/ner
  dsp report runs/ner --data other.conll --out other.html
  dsp report model.safetensors --data test.conll`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && u.model == "" {
				u.model, args = args[0], nil
			}
			if err := noArgs(cmd, args); err != nil {
				return err
			}
			if u.model == "" {
				return structured.BadInput("no run: give the folder of a run, or a model file: dsp report RUN")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			o := report.Options{Path: u.model, Encoder: u.encoder.path, Threads: u.Threads, Version: version()}
			if err := u.check(); err != nil {
				return err
			}
			if u.device != "cpu" {
				return structured.BadInput("--device %s: report computes on the CPU", u.device)
			}
			if u.Path == "" {
				for _, name := range readingFlags {
					if name != "threads" && name != "device" && cmd.Flags().Changed(name) {
						return structured.BadInput("--%s says how to read --data; without that, the data of the run are read as in its training", name)
					}
				}
			} else {
				o.Read = func(m *models.Model) (*structured.Dataset, error) { return u.readFor(cmd.Context(), m, "--data", true) }
			}
			o.Prepare = func(m *models.Model) error {
				u.encoder.sees(m)
				u.Remarks, m.MaxWords = models.RemarksFor(u.bad), u.MaxWords
				if err := u.taggers.first(m, &u.encoder); err != nil {
					return err
				}
				if err := u.encoder.check(u.model); err != nil {
					return err
				}
				return u.checkMaxWords(m)
			}
			path, err := reportPath(u.model, out)
			if err != nil {
				return err
			}
			r, err := report.Of(cmd.Context(), o)
			if err != nil {
				return err
			}
			if err := r.Write(path); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, reported(r, path))
			}
			for _, note := range r.Notes {
				if _, err := fmt.Println(note); err != nil {
					return err
				}
			}
			_, err = fmt.Printf("%s\n\nreport  %s\n", r.Finding, path)
			return err
		},
	}
	u.addFlags(cmd)
	u.taggers.addFlag(cmd)
	cmd.Flags().StringVar(&u.Path, "data", "", "measure on this `FILE` with gold labels; builtin for drawn data; empty: the run's test or development data")
	cmd.Flags().StringVar(&out, "out", "", "`FILE`.html to write; empty: report.html in the folder of the run, or the model's name with .html")
	for _, name := range []string{"model", "device"} {
		cmd.Flags().Lookup(name).Hidden = true
	}
	return cmd
}

// reportPath returns the file of the report, and refuses one that is a folder.
func reportPath(run, out string) (string, error) {
	if out == "" {
		out = run + ".html"
		if info, err := os.Stat(run); err == nil && info.IsDir() {
			out = filepath.Join(run, "report.html")
		}
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return "", structured.BadInput("--out %s: this is a folder; expected a file, such as %s", out, filepath.Join(out, "report.html"))
	}
	return out, nil
}

// reportResult is what report prints with --json.
type reportResult struct {
	Report   string               `json:"report"`         // path of the page
	Finding  string               `json:"finding"`        // in words
	Notes    []string             `json:"notes"`          // what the page does not show, and why
	Data     string               `json:"data,omitempty"` // what was measured on
	Measures []intervals.Estimate `json:"measures,omitempty"`
}

func reported(r *report.Report, path string) reportResult {
	result := reportResult{Report: path, Finding: r.Finding, Notes: append([]string{}, r.Notes...)}
	if r.Measured != nil {
		result.Data, result.Measures = r.Measured.On, r.Measured.Estimates
	}
	return result
}
