package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/matchings/alignments/synthetic"
)

func pairsCommand() *cobra.Command {
	o, out := synthetic.DefaultOptions(), ""
	sizes := settings.Sizes{o.Train, o.Dev, o.Test}
	cmd := &cobra.Command{
		Use:   "pairs --out DIR",
		Short: "Draw sentence pairs in two made-up languages, with the links of their words",
		Long: `pairs draws sentence pairs from a small grammar and writes them to train.pairs, dev.pairs and test.pairs, one pair per line:
source ||| target ||| links. Words are ambiguous and take endings, and translate to one word, to two or to none; adjectives and verbs
move. With --bitext it also writes pairs without links to bitext.pairs, for dsp train --bitext.`,
		Example: `  dsp data pairs --out pairs
  dsp data pairs --out pairs --examples 5000,500,500 --bitext 20000 --difficulty 1`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case out == "":
				return structured.BadInput("no folder to write to: give --out DIR")
			case len(sizes) != 3:
				return structured.BadInput("--examples %v: expected three numbers, for training, development and test", sizes)
			}
			o.Train, o.Dev, o.Test = sizes[0], sizes[1], sizes[2]
			if err := synthetic.Write(out, o); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]any{"out": out, "train": o.Train, "dev": o.Dev, "test": o.Test, "bitext": o.Bitext})
			}
			_, err := fmt.Printf("%s: %d sentence pairs to train, %d dev, %d test, %d without links\n", out, o.Train, o.Dev, o.Test, o.Bitext)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`DIR` to write to; created if missing")
	flags.Var(&sizes, "examples", "how many sentence pairs to draw for training, development and test")
	flags.Lookup("examples").Annotations = map[string][]string{unitKey: {"TRAIN,DEV,TEST"}}
	flags.IntVar(&o.Bitext, "bitext", o.Bitext, "how many `pairs` without links to draw")
	flags.Float64Var(&o.Difficulty, "difficulty", o.Difficulty, "`share` from 0 to 1: more makes more words ambiguous, more words move, and more translations free")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed draws the same sentence pairs")
	return cmd
}
