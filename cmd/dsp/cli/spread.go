package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/review/intervals"
	"github.com/dsp-go/dsp/structured"
)

// spreads are what eval says of how far metrics depend on the examples: of a model, and of its difference to another one.
type spreads struct {
	intervals bool
	against   string
}

func (s *spreads) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&s.intervals, "intervals", false, "add 95 % intervals of the main metrics, from their spread over the examples")
	flags.BoolVar(&s.intervals, "bootstrap", false, "the same as --intervals")
	if err := flags.MarkDeprecated("bootstrap", "it is --intervals now, which draws no resamples"); err != nil {
		panic(err) // the flag does not exist
	}
	flags.StringVar(&s.against, "against", "", "compare with another `MODEL` on the same examples: the difference, its 95 % interval, and a paired test of whether there is one, corrected for the number of metrics")
}

func (s *spreads) wanted() bool { return s.intervals || s.against != "" }

// add adds what is wanted to a report, as text and as members of an object. The sample has the outputs of m.
func (s *spreads) add(ctx context.Context, u *use, m *models.Model, sample *intervals.Sample, strict bool, outputs predictions.Options, text *strings.Builder, all *review.Extended) error {
	if s.intervals {
		estimates, err := sample.Estimates()
		if err != nil {
			return err
		}
		text.WriteByte('\n')
		for _, e := range estimates {
			fmt.Fprintln(text, e)
		}
		fmt.Fprintln(text, intervals.Explain(estimates))
		all.Members = append(all.Members, review.Member{Name: "intervals", Value: estimates})
	}
	if s.against == "" {
		return nil
	}
	other, err := s.other(ctx, u, m, strict, outputs)
	if err != nil {
		return err
	}
	differences, err := intervals.Differences(sample, other)
	if err != nil {
		return err
	}
	fmt.Fprintf(text, "\n%s against %s:\n", u.model, s.against)
	for _, d := range differences {
		fmt.Fprintln(text, d)
	}
	fmt.Fprintln(text, intervals.ExplainDifferences(len(differences)))
	all.Members = append(all.Members, review.Member{Name: "against", Value: map[string]any{"model": s.against, "differences": differences}})
	return nil
}

// other returns the outputs of the model of --against, which reads the data its own way.
func (s *spreads) other(ctx context.Context, u *use, m *models.Model, strict bool, outputs predictions.Options) (*intervals.Sample, error) {
	v := *u
	v.model, v.stop = s.against, nil
	if _, err := models.FileOf(s.against); err != nil {
		return nil, structured.BadInput("--against: %w", err)
	}
	defer v.close()
	other, err := v.load()
	if err != nil {
		return nil, err
	}
	if other.Config.Task != m.Config.Task {
		return nil, structured.BadInput("--against %s: its --task is %s, and that of --model %s is %s; only models of the same task are compared",
			s.against, other.Config.Task, u.model, m.Config.Task)
	}
	d, err := v.readFor(ctx, other, "--data", true)
	if err != nil {
		return nil, err
	}
	sample := intervals.New(&other.Config, other.Labels, d, strict)
	_, err = other.Compare(ctx, d, strict, outputs, sample.Keep)
	return sample, err
}
