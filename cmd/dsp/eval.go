package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models"
)

// shownConfusions is how many confusions a person is shown; --json has them all.
const shownConfusions = 20

func evalCommand() *cobra.Command {
	var u use
	var strict, labels, confusion bool
	cmd := &cobra.Command{
		Use:   "eval --model MODEL --data FILE",
		Short: "Compare a model's outputs with the gold ones",
		Long: `eval prints the share of tokens and sequences that a model labels right. Where the labels are entity tags, precision,
recall and F1 of entities follow, as conlleval.pl counts and prints them; else those of every label, as scikit-learn's
classification report has them. Of trees, it prints attachment scores as the evaluation of CoNLL 2018 computes them, and a table
by relation. With --json one object has all of it, the confusions too.`,
		Example: `  dsp eval --model runs/ner --data test.conll
  dsp eval --model runs/pos --data test.conllu --confusion
  dsp eval --model runs/first --data builtin`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			defer u.close()
			m, d, err := u.read("--data", true)
			if err != nil {
				return err
			}
			report, err := m.Report(cmd.Context(), d, strict, u.threads)
			if err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, report)
			}
			o := models.ReportOptions{Labels: labels}
			if confusion {
				o.Confusions = shownConfusions
			}
			_, err = fmt.Print(report.Text(o))
			return err
		},
	}
	u.addFlags(cmd)
	cmd.Flags().StringVar(&u.data, "data", "", "`FILE` with gold labels; builtin for the drawn words or trees")
	cmd.Flags().BoolVar(&u.partial, "partial", false, "gold labels may be ? (or _) for any, or A|B for one of these: such tokens and the entities of their sequences are not counted")
	cmd.Flags().BoolVar(&strict, "strict", false, "count only entities whose tags are spelt right, as seqeval's strict mode does")
	cmd.Flags().BoolVar(&labels, "labels", false, "also precision, recall and F1 of every label, where the labels are entity tags; others have them anyway")
	cmd.Flags().BoolVar(&confusion, "confusion", false, "also which label was taken for which, the most frequent confusions first")
	return cmd
}
