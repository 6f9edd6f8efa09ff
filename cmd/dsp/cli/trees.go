package cli

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
		Long: `trees draws sentences with their dependency trees. It writes them to train.conllu, dev.conllu and test.conllu, in CoNLL-U with
the relations of Universal Dependencies. Where a phrase or clause attaches depends mostly, but not only, on the words. Some words
are both nouns and verbs, and some of those carry the wrong tag. Phrases that move away from their noun, at the rate given by
--extraposition, make trees non-projective.`,
		Example: `  dsp data trees --out trees
  dsp data trees --out trees --examples 20000,1000,1000 --extraposition 0.3`,
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
				return printJSON(os.Stdout, map[string]any{"out": out, "train": o.Train, "dev": o.Dev, "test": o.Test})
			}
			_, err := fmt.Printf("%s: %d sentences to train, %d dev, %d test\n", out, o.Train, o.Dev, o.Test)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&out, "out", "", "`DIR` to write to; created if missing")
	flags.Var(&sizes, "examples", "how many sentences to draw for training, development and test")
	flags.Lookup("examples").Annotations = map[string][]string{unitKey: {"TRAIN,DEV,TEST"}}
	flags.Float64Var(&o.Extraposition, "extraposition", o.Extraposition, "`share` of the movable phrases that move away from their noun, from 0 to 1")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed draws the same sentences")
	return cmd
}
