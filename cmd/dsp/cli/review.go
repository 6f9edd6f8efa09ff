package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/review/intervals"
	"github.com/dsp-go/dsp/models/tasks"
	"github.com/dsp-go/dsp/structured"
)

// defaultErrors is how many wrong examples --errors without a number shows.
const defaultErrors = 20

// reviews are what eval says beyond the report: about single examples and probabilities.
type reviews struct {
	errors             string // how many examples
	count              int
	curve, calibration string // files
	spreads
}

func (r *reviews) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.errors, "errors", "", fmt.Sprintf("add the `N` worst examples with gold and predicted outputs and how sure the model was, worst first: by the probability of what is wrong, or, for graphs, masks, boxes and links, by how bad the output is; without a number %d", defaultErrors))
	flags.Lookup("errors").NoOptDefVal = strconv.Itoa(defaultErrors)
	flags.StringVar(&r.curve, "pr-curve", "", "write precision and recall against a threshold of probability to `FILE`, a picture (.png, .svg, .pdf) or a table (.csv): of entities, of links (by margin), else of labels, arcs or boxes")
	flags.StringVar(&r.calibration, "calibration", "", "write how often what has a probability is right to `FILE`, a picture (.png, .svg, .pdf) or a table (.csv), and add the expected calibration error")
	r.spreads.addFlags(cmd)
}

// arguments accepts the number of --errors as an argument of its own: --errors 5.
func (r *reviews) arguments(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && cmd.Flags().Changed("errors") && r.errors == strconv.Itoa(defaultErrors) {
		if _, err := strconv.Atoi(args[0]); err == nil {
			r.errors, args = args[0], nil
		}
	}
	return noArgs(cmd, args)
}

// wanted reports whether there is anything to add, and refuses what cannot be.
func (r *reviews) wanted(strict bool) (bool, error) {
	if r.errors != "" {
		n, err := strconv.Atoi(r.errors)
		if err != nil || n < 1 {
			return false, structured.BadInput("--errors %s: expected how many examples to show, 1 or more", r.errors)
		}
		r.count = n
	}
	for flag, path := range map[string]string{"--pr-curve": r.curve, "--calibration": r.calibration} {
		if path != "" {
			if err := review.CheckFile(flag, path); err != nil {
				return false, err
			}
		}
	}
	if err := r.spreads.check(); err != nil {
		return false, err
	}
	if r.looks() && strict {
		return false, structured.BadInput("--strict is for the counts of the report; --errors, --pr-curve and --calibration read entities as predict does")
	}
	return r.looks() || r.spreads.wanted(), nil
}

// looks reports whether single examples and probabilities are looked at.
func (r *reviews) looks() bool { return r.count > 0 || r.curve != "" || r.calibration != "" }

// check refuses what needs probabilities of a model that has none. Links have margins.
func (r *reviews) check(m *models.Model) error {
	flag := ""
	switch {
	case m.Sums() != nil:
	case r.calibration != "":
		flag = "--calibration"
	case r.curve != "" && tasks.Of(&m.Config).Request != tasks.Pairs:
		flag = "--pr-curve"
	}
	if flag == "" {
		return nil
	}
	return structured.BadInput("%s needs probabilities, and so sums over all outputs, which a %s does not have", flag, m.Net.Form().Structure.Name())
}

// run reports with what is to be added, and writes the files.
func (r *reviews) run(ctx context.Context, u *modelFlags, m *models.Model, d *structured.Dataset, o tasks.ReportOptions, strict bool, outputs predictions.Options, asJSON bool) error {
	if err := r.check(m); err != nil {
		return err
	}
	sample := intervals.New(&m.Config, m.Labels, d, strict)
	var report tasks.Report
	var found *review.Review
	var err error
	if r.looks() {
		warnUncalibrated(m, predictions.Options{Probability: true})
		report, found, err = m.Review(ctx, d, false, u.Threads, sample.Keep)
	} else {
		report, err = m.Compare(ctx, d, strict, outputs, sample.Keep)
	}
	if err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString(report.Text(o))
	all := review.Extended{Object: report}
	if err := r.spreads.add(ctx, u, m, sample, strict, outputs, &text, &all); err != nil {
		return err
	}
	if r.calibration != "" {
		c := found.Calibration(m.Temper(), !m.Uncalibrated())
		if u.leads() {
			if err := c.Write(r.calibration); err != nil {
				return err
			}
		}
		text.WriteString("\n" + c.String() + "\n")
		all.Members = append(all.Members, review.Member{Name: "calibration", Value: c})
	}
	if r.curve != "" {
		c := found.Curve()
		if u.leads() {
			if err := c.Write(r.curve); err != nil {
				return err
			}
		}
		text.WriteString("\n" + c.String() + "\n")
		all.Members = append(all.Members, review.Member{Name: "pr_curve", Value: c})
	}
	if r.count > 0 {
		found.Worst(r.count)
		text.WriteString("\n" + found.ErrorTable())
		all.Members = append(all.Members, review.Member{Name: "errors", Value: found.Examples})
	}
	if asJSON {
		return printJSON(os.Stdout, all)
	}
	_, err = fmt.Print(text.String())
	return err
}
