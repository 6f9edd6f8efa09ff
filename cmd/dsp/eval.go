package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func evalCommand() *cobra.Command {
	var u use
	var strict bool
	cmd := &cobra.Command{
		Use:   "eval --model MODEL --data FILE",
		Short: "Compare a model's labels with the gold ones",
		Long: `eval prints the share of tokens and sequences that a model labels right and, where the labels are entity tags,
precision, recall and F1 of entities as conlleval.pl counts them.`,
		Example: `  dsp eval --model runs/ner --data test.conll
  dsp eval --model runs/first --data builtin`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, d, err := u.read("--data", true)
			if err != nil {
				return err
			}
			metrics, err := m.Evaluate(cmd.Context(), d, strict, u.threads)
			if err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, metrics)
			}
			_, err = fmt.Print(metrics.Table())
			return err
		},
	}
	u.addFlags(cmd)
	cmd.Flags().StringVar(&u.data, "data", "", "`FILE` with gold labels; builtin for the drawn words")
	cmd.Flags().BoolVar(&strict, "strict", false, "count only entities whose tags are spelt right, as seqeval's strict mode does")
	return cmd
}
