package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/dsp-go/dsp/models/data/conllu/conll18"
	"github.com/dsp-go/dsp/models/review"
	"github.com/dsp-go/dsp/models/review/intervals"
	"github.com/dsp-go/dsp/structured"
)

// ofParts returns what is to be added to the scores of a pipeline, as text and as members of an object. Parts of the
// text stand in for examples: what a pipeline takes for a sentence need not be one.
func (r *reviews) ofParts(parts []conll18.Part, path string, all *review.Extended) (string, error) {
	var text strings.Builder
	if r.intervals {
		if len(parts) < 2 {
			return "", structured.BadInput("%s: one stretch of text shows no spread; intervals compare sentences", path)
		}
		estimates := estimatesOf(parts)
		text.WriteByte('\n')
		for _, e := range estimates {
			fmt.Fprintln(&text, e)
		}
		fmt.Fprintln(&text, intervals.Explain(estimates))
		all.Members = append(all.Members, review.Member{Name: "intervals", Value: estimates})
	}
	if r.count > 0 {
		wrong := conll18.Wrong(parts)
		worst := wrong[:min(r.count, len(wrong))]
		fmt.Fprintf(&text, "\nsentences with mistakes: %d of %d; those with most:\n", len(wrong), len(parts))
		for _, p := range worst {
			if err := writePart(&text, p, path); err != nil {
				return "", err
			}
		}
		all.Members = append(all.Members, review.Member{Name: "errors", Value: worst})
	}
	return text.String(), nil
}

// estimatesOf returns the F1 of each measure that the parts have, with its interval.
func estimatesOf(parts []conll18.Part) []intervals.Estimate {
	var list []intervals.Estimate
	for k, name := range conll18.Names[:len(parts[0].Scores)] {
		counts := make(intervals.Counts, len(parts))
		for i, p := range parts {
			counts[i] = []float64{float64(2 * p.Scores[k].Correct), float64(p.Scores[k].Gold + p.Scores[k].System)}
		}
		list = append(list, intervals.Estimate{Metric: name, Label: conll18.Title(k), Value: counts.Value(), Interval: counts.Interval()})
	}
	return list
}

// writePart writes what is wrong in a part of the text.
func writePart(to *strings.Builder, p conll18.Part, path string) error {
	fmt.Fprintf(to, "\n%s:%d: %d mistakes, %d words: %s\n", path, p.Line, len(p.Mistakes), p.Words, p.Text)
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, m := range p.Mistakes {
		fmt.Fprintf(table, "  %s\t%s\tgold %s\tpredicted %s\n", orNothing(m.Word), m.Field, orNothing(m.Gold), orNothing(m.System))
	}
	return table.Flush()
}

// orNothing stands in for what is not there.
func orNothing(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
