package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/trees/synthetic"
)

func treesCommand() *cobra.Command {
	o, out := synthetic.DefaultOptions(), ""
	sizes := settings.Sizes{o.Train, o.Dev, o.Test}
	cmd := &cobra.Command{
		Use:   "trees --out DIR",
		Short: "Draw sentences with dependency trees: treebanks in CoNLL-U",
		Long: `trees draws sentences with their dependency trees and writes them as train.conllu, dev.conllu and test.conllu, in the ten
columns of CoNLL-U with the relations of Universal Dependencies. Where phrases and clauses attach depends on the words, and not
always on them alone; some words are nouns as well as verbs, and some of those have the wrong tag. Phrases that stand away
from their noun, at the rate of --extraposition, make trees that are not projective.`,
		Example: `  dsp data trees --out trees
  dsp data trees --out trees --examples 20000,1000,1000 --extraposition 0.3`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case out == "":
				return structured.BadInput("where to? give --out DIR")
			case len(sizes) != 3:
				return structured.BadInput("--examples %v: expected three numbers, for training, development and test", sizes)
			}
			o.Train, o.Dev, o.Test = sizes[0], sizes[1], sizes[2]
			if err := synthetic.Write(out, o); err != nil {
				return err
			}
			if isSet(cmd, "json") {
				return printJSON(os.Stdout, map[string]any{"out": out, "train": o.Train, "dev": o.Dev, "test": o.Test})
			}
			_, err := fmt.Printf("%s: %d sentences to train, %d dev, %d test\n", out, o.Train, o.Dev, o.Test)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`DIR` to write to, made if it is not there")
	flags.Var(&sizes, "examples", "how many sentences are drawn for training, development and test")
	flags.Lookup("examples").Annotations = map[string][]string{unitKey: {"TRAIN,DEV,TEST"}}
	flags.Float64Var(&o.Extraposition, "extraposition", o.Extraposition, "`share` of the phrases that could stand away from their noun that do, from 0 to 1")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed draws the same sentences")
	return cmd
}
