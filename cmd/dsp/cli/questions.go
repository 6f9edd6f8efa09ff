package cli

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
)

// questions are what predict is asked about the distribution of outputs, beside the best of them.
type questions struct {
	selected int    // examples to choose; 0: all are predicted
	by       string // their measure
}

func (q *questions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&q.selected, "select", 0, "instead of predictions, write the `N` examples that are most worth labelling, as they stand in the input, the least sure first; with --json: where they are")
	flags.StringVar(&q.by, "by", models.SelectBy[0], "with --select: least sure by `entropy|margin|probability`: the largest entropy, the smallest margin between the best two outputs, or the smallest probability of the best")
	complete(cmd, "by", models.SelectBy...)
}

// check refuses flags that do not go with each other.
func (q *questions) check(cmd *cobra.Command, o *predictions.Options) error {
	given := cmd.Flags().Changed
	switch {
	case o.Samples > 0 && !isSet(cmd, "json"):
		return structured.BadInput("--samples %d: samples are written as JSON; add --json", o.Samples)
	case q.selected < 0 || given("select") && q.selected == 0:
		return structured.BadInput("--select %d: expected how many examples to choose, 1 or more", q.selected)
	case given("by") && q.selected == 0:
		return structured.BadInput("--by %s is for --select, which chooses examples", q.by)
	}
	if q.selected == 0 {
		return nil
	}
	for _, name := range []string{"nbest", "beam", "confidence", "score", "marginals", "samples", "spans", "min-probability", "into", "scheme", "force", "decode", "threshold", "text", "presegmented", "pretokenised", "picture", "to"} {
		if given(name) {
			return structured.BadInput("--%s has no effect with --select, which prints no predictions", name)
		}
	}
	if o.Entropy && !isSet(cmd, "json") {
		return structured.BadInput("--entropy with --select: examples are written as they stand in the input; add --json for their entropies")
	}
	return settings.OneOf("--by", q.by, models.SelectBy)
}

// selection is what is said of an example that was chosen.
type selection struct {
	ID      string  `json:"id"`
	Example int     `json:"example"`
	Line    int     `json:"line,omitempty"`
	By      string  `json:"by"`
	Measure float64 `json:"measure"`

	Entropy *float64 `json:"entropy,omitempty"`
}

// run chooses examples of the input and prints them.
func (q *questions) run(ctx context.Context, u *modelFlags, m *models.Model, o predictions.Options, asJSON bool) error {
	d, err := u.readFor(ctx, m, "--input", false)
	if err != nil {
		return err
	}
	chosen, err := m.Select(ctx, d, q.selected, q.by, predictions.Options{Threads: u.Threads, Exact: o.Exact, Entropy: o.Entropy})
	if err != nil {
		return err
	}
	if !asJSON {
		return m.CopyExamples(os.Stdout, u.Request, d, chosen)
	}
	for _, c := range chosen {
		s := selection{ID: d.ID(c.Example), Example: c.Example, By: q.by, Measure: c.Measure}
		if o.Entropy {
			s.Entropy = &c.Entropy
		}
		if d.Lines != nil {
			s.Line = d.Lines[c.Example]
		}
		if err := printJSON(os.Stdout, s); err != nil {
			return err
		}
	}
	return nil
}
