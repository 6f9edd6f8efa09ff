package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/calibration"
	"github.com/dsp-go/dsp/models/exchange"
	"github.com/dsp-go/dsp/models/predictions"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/review/intervals"
	"github.com/dsp-go/dsp/structured"
)

// spreads are what eval says of how far metrics depend on the examples: of a model, and of its difference to another
// one.
type spreads struct {
	intervals bool
	against   string
	kl, nll   bool
	counts    string // file
}

func (s *spreads) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&s.intervals, "intervals", false, "add 95 % intervals of the main metrics, from their spread over the examples")
	flags.BoolVar(&s.intervals, "bootstrap", false, "the same as --intervals")
	if err := flags.MarkDeprecated("bootstrap", "it is --intervals now, which draws no resamples"); err != nil {
		panic(err) // the flag does not exist
	}
	flags.StringVar(&s.against, "against", "", "compare with another `MODEL` on the same examples: the difference, its 95 % interval, and a paired test of whether there is one, corrected for the number of metrics")
	flags.BoolVar(&s.nll, "nll", false, "add how probable the gold outputs are: the mean of -log p(gold) over examples, and over their parts by marginal probabilities, in nats")
	flags.StringVar(&s.counts, "expected-counts", "", "for linear models: write to `FILE` (.tsv) how often each attribute has each label in the gold outputs, and in expectation over the model's outputs, the largest differences first")
	flags.BoolVar(&s.kl, "kl", false, "with --against: add how far the other model's distribution of outputs is from that of --model: entropy, cross-entropy and their difference KL(p|q), means over examples in nats")
}

func (s *spreads) wanted() bool {
	return s.intervals || s.nll || s.counts != "" || s.against != ""
}

// check refuses flags that do not go with each other.
func (s *spreads) check() error {
	switch {
	case s.kl && s.against == "":
		return structured.BadInput("--kl compares the distributions of two models: add --against MODEL")
	case s.counts != "" && filepath.Ext(s.counts) != exchange.CountsEnding:
		return structured.BadInput("--expected-counts %s: expected a name that ends in %s", s.counts, exchange.CountsEnding)
	}
	return nil
}

// add adds what is wanted to a report, as text and as members of an object. The sample has the outputs of m.
func (s *spreads) add(ctx context.Context, u *modelFlags, m *models.Model, sample *intervals.Sample, strict bool, outputs predictions.Options, text *strings.Builder, all *review.Extended) error {
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
	if s.nll {
		l, err := m.NLL(ctx, sample.Data(), u.Threads)
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "\n-log p(gold): %.6g nats per example, %.6g per %s, of %d examples\n", l.NLL, l.Per, l.Unit, l.Examples)
		if l.Impossible > 0 {
			fmt.Fprintf(text, "left out: %d examples with gold outputs that the model cannot have\n", l.Impossible)
		}
		object := l.Object()
		for _, by := range []calibration.By{calibration.Tokens, calibration.Entities} {
			if !calibration.Has(m, sample.Data(), by) {
				continue
			}
			measured, err := calibration.Measure(ctx, m, sample.Data(), by, u.Threads)
			if err != nil && !structured.IsBadInput(err) { // there may be none to measure
				return err
			}
			if measured.Count > 0 {
				fmt.Fprintf(text, "-log p of %s: %.6g nats, mean of %d\n", map[calibration.By]string{calibration.Tokens: "gold parts", calibration.Entities: "whether predicted entities are right"}[by], measured.NLL, measured.Count)
				object["nll_"+by.String()], object[by.String()] = measured.NLL, measured.Count
			}
		}
		all.Members = append(all.Members, review.Member{Name: "likelihood", Value: object})
	}
	if s.counts != "" {
		c, err := m.Counts(ctx, sample.Data(), u.Threads)
		if err != nil {
			return err
		}
		if u.leads() {
			if err := exchange.WriteCounts(m, c, s.counts); err != nil {
				return err
			}
		}
		worst := c.Largest()
		fmt.Fprintf(text, "\ncounts of %d examples: %s; observed and expected differ by at most %.6g\n", c.Examples, s.counts, worst)
		if c.Impossible > 0 {
			fmt.Fprintf(text, "left out: %d examples with gold outputs that the model cannot have\n", c.Impossible)
		}
		all.Members = append(all.Members, review.Member{Name: "expected_counts", Value: map[string]any{
			"file": s.counts, "largest_difference": worst, "examples": c.Examples, "impossible": c.Impossible}})
	}
	if s.against == "" {
		return nil
	}
	other, divergence, err := s.other(ctx, u, m, sample.Data(), strict, outputs)
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
	about := map[string]any{"model": s.against, "differences": differences}
	if v := divergence; v != nil {
		fmt.Fprintf(text, "distributions of outputs, p of %s and q of %s: entropy of p %.6g, cross-entropy %.6g, KL(p|q) %.6g nats per example, of %d examples\n", u.model, s.against, v.Entropy, v.CrossEntropy, v.KL, v.Examples)
		if v.Impossible > 0 {
			fmt.Fprintf(text, "left out: %d examples in which q forbids what p does not\n", v.Impossible)
		}
		about["divergence"] = v
	}
	all.Members = append(all.Members, review.Member{Name: "against", Value: about})
	return nil
}

// other returns the outputs of the model of --against, which reads the data d its own way, and with --kl the
// divergence.
func (s *spreads) other(ctx context.Context, u *modelFlags, m *models.Model, d *structured.Dataset, strict bool, outputs predictions.Options) (*intervals.Sample, *models.Divergence, error) {
	v := *u
	v.model, v.stop = s.against, nil
	v.encoder.others = false
	if _, err := models.FileOf(s.against); err != nil {
		return nil, nil, structured.BadInput("--against: %w", err)
	}
	defer v.close()
	other, err := v.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	if other.Config.Task != m.Config.Task {
		return nil, nil, structured.BadInput("--against %s: its --task is %s, and that of --model %s is %s; only models of the same task are compared",
			s.against, other.Config.Task, u.model, m.Config.Task)
	}
	e, err := v.readFor(ctx, other, "--data", true)
	if err != nil {
		return nil, nil, err
	}
	sample := intervals.New(&other.Config, other.Labels, e, strict)
	if _, err = other.Compare(ctx, e, strict, outputs, sample.Keep); err != nil || !s.kl {
		return sample, nil, err
	}
	divergence, err := m.Divergence(ctx, d, other, e, u.Threads)
	if err != nil {
		err = fmt.Errorf("--kl: %w", err)
	}
	return sample, &divergence, err
}
